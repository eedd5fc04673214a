"""Steps that the page must not wait for. bench/browser-page.py measures the times."""

import http.client
import http.server
import threading
import urllib.parse

from harness import LIMIT_MS, expect, test


class SlowEnd:
    """A proxy that holds back the end of a page until it is released, as for a large folder."""

    def __init__(self, lab):
        self.released = threading.Event()
        parts = urllib.parse.urlsplit(lab.url)
        held = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def relay(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LIMIT_MS / 1000)
                fields = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "accept-encoding")}
                server.request(self.command, self.path, body, fields)
                answer = server.getresponse()
                content = answer.read()
                server.close()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                at = content.find(b"<tbody>") if self.command == "GET" and self.path == parts.path else -1
                if at >= 0:
                    self.wfile.write(content[:at])
                    held.released.wait(LIMIT_MS / 1000)
                    content = content[at:]
                self.wfile.write(content)

            do_GET = do_PROPFIND = do_OPTIONS = relay

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@test
def listing_is_requested_before_the_page_has_loaded(lab):
    """The end of the server's listing is held back, as for a large folder. Before the listing ends, the page requests and shows
    the folder itself, and ignores the rest of the server's listing."""
    for name in ("b.txt", "a10.txt", "a9.txt"):
        lab.write(name)
    lab.start("--no-sync-collection", "--footer", "The last line")
    front = SlowEnd(lab)
    try:
        page = lab.context().new_page()
        page.goto(front.url, wait_until="commit")
        lab.ready(page)
        lab.wait_for_names(page, ["a9.txt", "a10.txt", "b.txt"])
        expect(page.evaluate("document.readyState"), "loading")
        front.released.set()
        lab.until(page, "document.readyState === 'complete'")
        expect(page.evaluate("document.querySelectorAll('.simple').length"), 0, "elements of the plain page")
        expect(page.get_by_text("The last line").count(), 1)
    finally:
        front.close()


@test
def names_are_sorted_by_language(lab):
    """The fast sort gives the same order as Intl.Collator."""
    names = ["a2", "a10", "A1", "a02", "a002", "ä3", "b", "_x", "-y", "file (2)", "file (10)", "é", "e1", "E", "z", "Z", "10", "9",
             "09", "1" * 40, "2" * 39, "0" * 50, "ß", "ss", "st", "a b", "ab", "名前", "名", "٣", "x1.5", "x1.25", ".dot", "#", "~"]
    for name in names:
        lab.write(name + ".txt")
    page = lab.page()
    found = page.evaluate("""async () => {
        const { app } = await import(document.querySelector("script[type=module]").src)
        return app.folder.view.map(one => one.name)
    }""")
    wanted = page.evaluate("""async names => {
        const { locale } = await import(JSON.parse(document.getElementById("davit").textContent).files + "page.js")
        const collator = new Intl.Collator(locale, { numeric: true })
        return names.sort((a, b) => collator.compare(a, b) || (a < b ? -1 : 1))
    }""", [name + ".txt" for name in names])
    expect(found, wanted)


@test
def usual_responses_are_parsed_in_one_step(lab):
    """The scanner's fast path matches the usual output of the server."""
    lab.write("a & b.txt", b"123")
    lab.write("folder/inside.txt")
    page = lab.page()
    found = page.evaluate("""async () => {
        const files = JSON.parse(document.getElementById("davit").textContent).files
        const { propfind } = await import(files + "dav.js")
        const { MultistatusScanner } = await import(files + "scan.js")
        let body
        const own = Worker.prototype.postMessage
        Worker.prototype.postMessage = function (message) {
            body ??= message
            return own.call(this, message)
        }
        await propfind("/")
        Worker.prototype.postMessage = own
        const { href, method, headers } = body
        const text = await (await fetch(href, { method, headers, body: body.body })).text()
        const read = (change) => {
            const found = []
            const scanner = new MultistatusScanner(one => found.push(one))
            scanner.add(change(text))
            scanner.finish()
            return JSON.stringify(found)
        }
        let quick = 0
        const exec = RegExp.prototype.exec
        RegExp.prototype.exec = function (all) {
            const found = exec.call(this, all)
            if (found && this.sticky) quick++
            return found
        }
        const once = read(text => text)
        RegExp.prototype.exec = exec
        return [quick, once === read(text => text.replaceAll("<D:response>", "<D:response >")), once.includes("a%20%26%20b.txt")]
    }""")
    expect(found, [3, True, True], "responses parsed in one step; whether the results are equal; the name")
