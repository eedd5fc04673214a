"""Uploads: chosen, dropped, pasted, many files, trees, conflicts and failures."""

import json
import os
import zlib

from harness import expect, test
from upload_support import NO_PICKERS, QUEUE, behind_proxy, choose, drop, expect_same, local, queue, ready, states, wait_for_uploads


def page_for_uploads(lab, **options):
    context = lab.context(**options)
    context.add_init_script(NO_PICKERS)
    page = lab.page(context=context)
    ready(lab, page)
    return page


@test
def files_are_uploaded(lab):
    page = page_for_uploads(lab)
    first = local(lab, "one.bin", 300_000)
    choose(page, first)
    wait_for_uploads(lab, page, 1)
    expect_same(first, lab.share / "one.bin")
    lab.wait_for_names(page, ["one.bin"])
    others = [local(lab, name, size) for name, size in [("a & b<c>.txt", 10), ("empty", 0), ("ü 日本.txt", 5_000_000)]]
    choose(page, *others)
    page.get_by_role("button", name="Keep original names").click()
    wait_for_uploads(lab, page, 3)
    for one in others:
        expect_same(one, lab.share / one.name)
    lab.axe(page, "the panel of uploads")


@test
def tree_with_empty_folders_is_uploaded(lab):
    page = page_for_uploads(lab)
    files = [local(lab, f"tree/{name}", 2000) for name in ("a.txt", "deep/er/b.txt", "ü/c d.txt")]
    (lab.work / "mine/tree/nothing/in here").mkdir(parents=True)
    drop(page, lab.work / "mine/tree")
    lab.until(page, "document.querySelector('.uploads') !== null")
    wait_for_uploads(lab, page, 9)
    for file in files:
        expect_same(file, lab.share / file.relative_to(lab.work / "mine"))
    assert (lab.share / "tree/nothing/in here").is_dir(), "an empty folder is missing"
    lab.wait_for_names(page, ["tree"])


@test(is_long=True)
def two_thousand_small_files_are_uploaded(lab):
    """The page stays responsive: no task takes longer than 200 ms on an idle machine."""
    folder = lab.work / "mine/many"
    folder.mkdir(parents=True)
    for number in range(2000):
        (folder / f"{number:04}.txt").write_bytes(b"%d" % number)
    with behind_proxy(lab) as (_, page):
        page.evaluate("""() => {
            window.longest = 0
            new PerformanceObserver(list => {
                for (const task of list.getEntries()) longest = Math.max(longest, task.duration)
            }).observe({ type: "longtask" })
        }""")
        drop(page, folder)
        wait_for_uploads(lab, page, 2001, limit_ms=600_000)
        expect(len(list((lab.share / "many").iterdir())), 2000, "files")
        expect((lab.share / "many/1234.txt").read_bytes(), b"1234")
        longest = page.evaluate("longest")
        rows = page.locator(".upload").count()
        assert rows < 40, f"{rows} rows are rendered for the visible area"
        # On a shared machine, a task can be preempted.
        share = max(1, os.getloadavg()[0] / os.cpu_count())
        lab.note(f"longest task {longest:.0f} ms, load for each processor {share:.1f}")
        assert longest < 200 * share, f"a task took {longest} ms"


STUB = """export const askAboutConflicts = async (conflicts) => {
    window.asked = conflicts
    return window.choice && new Map(conflicts.map(({ href }) => [href, window.choice]))
}"""


def page_with_choice(lab, choice):
    """Opens a page on which conflict dialogs are answered with this choice."""
    page = page_for_uploads(lab)
    page.context.route("**/change/conflict.js", lambda route: route.fulfill(
        body=STUB, headers={"Content-Type": "text/javascript"}))
    page.evaluate("choice => { window.choice = choice }", choice)
    return page


@test
def conflicts_are_resolved_before_uploads(lab):
    for choice, kept, others in (("replace", False, []), ("keep", True, ["name (1).tar.gz"]), ("skip", True, [])):
        for path in lab.share.iterdir():
            path.unlink()
        there = lab.write("name.tar.gz", b"old", mtime=1_400_000_000)
        page = page_with_choice(lab, choice)
        mine = local(lab, "name.tar.gz", 50)
        other = local(lab, f"other-{choice}", 50)
        choose(page, mine, other)
        wait_for_uploads(lab, page, 1 if choice == "skip" else 2)
        asked = page.evaluate("asked")
        expect([(one["name"], one["old"]["size"], one["new"]["size"]) for one in asked], [("name.tar.gz", 3, 50)])
        expect((asked[0]["old"]["modified"], asked[0]["new"]["modified"]), (1_400_000_000_000, 1_500_000_000_000))
        expect(there.read_bytes() == b"old", kept, choice)
        expect(sorted(path.name for path in lab.share.iterdir()), sorted(["name.tar.gz", other.name, *others]))
        for name in others or ([] if kept else ["name.tar.gz"]):
            expect_same(mine, lab.share / name)
        page.context.close()


@test
def file_created_meanwhile_is_not_lost(lab):
    """A file that is created or changed between the check and the upload is not overwritten."""
    page = page_with_choice(lab, "replace")
    lab.allow("412")
    lab.write("there", b"old")
    requests = []

    def meanwhile(route):
        if not requests:
            lab.write("new", b"somebody else's")
            lab.write("there", b"changed by somebody else")
        requests.append(route.request.method)
        route.continue_()

    page.context.route(lambda url: url.endswith(("/new", "/there")), lambda route: meanwhile(route)
                       if route.request.method == "PUT" else route.continue_())
    mine = [local(lab, "new", 50), local(lab, "there", 60)]
    choose(page, *mine)
    wait_for_uploads(lab, page, 0, failed=2)
    expect((lab.share / "new").read_bytes(), b"somebody else's")
    expect((lab.share / "there").read_bytes(), b"changed by somebody else")
    page.get_by_role("button", name="Retry failed uploads").click()
    wait_for_uploads(lab, page, 2)
    for one in mine:
        expect_same(one, lab.share / one.name)


def taken_meanwhile(lab, page, *names):
    """Uploads files that another client creates during the upload."""
    lab.allow("412")
    page.context.route(lambda url: url.endswith(names), lambda route: (
        route.request.method == "PUT" and not (lab.share / route.request.url.rsplit("/", 1)[1]).exists()
        and lab.write(route.request.url.rsplit("/", 1)[1], b"somebody else's"), route.continue_()))
    mine = [local(lab, name, 50) for name in names]
    choose(page, *mine)
    wait_for_uploads(lab, page, 0, failed=len(names))
    return mine


@test
def conflict_question_is_asked_once(lab):
    """A double click asks only once: a second choice would affect the uploads that the first has started."""
    page = page_for_uploads(lab)
    page.context.route("**/change/conflict.js", lambda route: route.fulfill(headers={"Content-Type": "text/javascript"}, body="""
        window.questions = []
        export const askAboutConflicts = (conflicts) => new Promise((resolve) => {
            questions.push(() => resolve(new Map(conflicts.map(({ href }) => [href, "replace"]))))
        })"""))
    mine = taken_meanwhile(lab, page, "one", "two")
    page.get_by_role("button", name="Retry failed uploads").dblclick()
    lab.until(page, "window.questions?.length > 0")
    # An upload cancelled while the dialog is open stays cancelled.
    page.get_by_role("button", name="Cancel two").click()
    page.evaluate("questions[0]()")
    wait_for_uploads(lab, page, 1)
    expect(page.evaluate("questions.length"), 1, "questions")
    expect_same(mine[0], lab.share / "one")
    expect((lab.share / "two").read_bytes(), b"somebody else's")
    # The next conflict causes another question.
    theirs = local(lab, "two", 70)
    choose(page, theirs)
    lab.until(page, "questions.length === 2")
    page.evaluate("questions[1]()")
    # Wait for this upload itself: the number of completed uploads still includes the first attempt.
    lab.until(page, QUEUE.replace("{expression}", "queue.find((one) => one.name === 'two' && one.state === 'done') !== undefined"))
    expect_same(theirs, lab.share / "two")


@test
def upload_row_shows_the_resulting_name(lab):
    page = page_with_choice(lab, "keep")
    taken_meanwhile(lab, page, "note.txt")
    page.get_by_role("button", name="Retry note.txt").click()
    wait_for_uploads(lab, page, 1)
    lab.until(page, "document.querySelector('.upload[data-state=done] .upload-name')?.textContent === 'note (1).txt'")
    expect_same(lab.work / "mine/note.txt", lab.share / "note (1).txt")


@test
def changed_file_must_be_chosen_again(lab):
    """If the browser cannot reopen a file, Retry asks for its current version and uploads it to the same place."""
    lab.allow("Failed to load resource")
    page = page_for_uploads(lab)
    page.evaluate("delete DataTransferItem.prototype.getAsFileSystemHandle")
    mine = local(lab, "tree/in/changing.txt", 100)

    def change(route):
        if route.request.method != "PUT" or mine.stat().st_size > 100:
            return route.continue_()
        mine.write_bytes(b"x" * 200)
        os.utime(mine, (1_600_000_000, 1_600_000_000))
        route.abort()

    page.context.route("**/changing.txt", change)
    drop(page, lab.work / "mine/tree")
    wait_for_uploads(lab, page, 2, failed=1)
    lab.until(page, "document.querySelector('.upload[data-state=failed]')?.textContent.includes('The file has changed')")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Retry changing.txt").click()
    chooser.value.set_files(str(mine))
    lab.until(page, "document.querySelector('.upload[data-state=done]')?.textContent.includes('changing.txt')")
    expect_same(mine, lab.share / "tree/in/changing.txt")


@test
def changed_file_is_read_again(lab):
    """If the browser can reopen a file, Retry uploads the current version, and the row shows its size."""
    lab.allow("Failed to load resource")
    page = page_for_uploads(lab)
    held = []
    page.context.route("**/changing.txt", lambda route: held.append(route) if route.request.method == "PUT" else route.continue_())
    write = """async (text) => {
        const folder = await navigator.storage.getDirectory()
        window.handle = await folder.getFileHandle("changing.txt", { create: true })
        const writer = await handle.createWritable()
        await writer.write(text)
        await writer.close()
    }"""
    page.evaluate(write, "short")
    in_page(page, "upload/start", "({ startUpload }) => { startUpload({ folder: location.pathname, items: [handle] }) }")
    lab.wait_until(page, lambda: held)
    page.evaluate(write, "longer than before")
    held.pop().abort()
    wait_for_uploads(lab, page, 0, failed=1)
    page.get_by_role("button", name="Retry changing.txt").click()
    lab.wait_until(page, lambda: held)
    lab.until(page, "document.querySelector('.upload-status').textContent.includes('18 bytes')")
    page.route("**/changing.txt", lambda route: route.continue_())
    held.pop().continue_()
    # All bytes of the longer file are sent, but the progress does not exceed 100 %.
    lab.until(page, "document.querySelector('.upload progress').position === 1")
    wait_for_uploads(lab, page, 1)
    expect((lab.share / "changing.txt").read_bytes(), b"longer than before")


@test
def unreadable_file_does_not_block_others(lab):
    """If some of several items cannot be read, the others are uploaded and the unreadable ones are listed."""
    page = page_for_uploads(lab)
    gather = """async ({ gather }) => {
        const item = (name) => ({ kind: "file", webkitGetAsEntry: () => ({ name, isDirectory: true, createReader: () => ({
            readEntries: (_, no) => no(new DOMException("", "NotReadableError")) }) }) })
        window.given = gather([new File(["a"], "open.txt"), item("closed"), item("shut")])
    }"""
    in_page(page, "upload/gather", gather)
    in_page(page, "upload/main", "({ upload }) => upload(location.pathname, given)")
    wait_for_uploads(lab, page, 3, failed=2)
    expect(sorted(path.name for path in lab.share.iterdir()), ["closed", "open.txt", "shut"])
    lab.until(page, "document.querySelectorAll('.upload[data-state=failed]').length === 2")
    expect(sorted((name, said) for name, state, said in states(page) if state == "failed"),
           [("closed", "The browser cannot read this file."), ("shut", "The browser cannot read this file.")])
    # A folder is requested with the folder picker.
    inside = local(lab, "closed/inside.txt", 10)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Retry closed").click()
    chooser.value.set_files(str(inside.parent))
    lab.until(page, "[...document.querySelectorAll('.upload[data-state=done]')].some(one => one.textContent.includes('inside.txt'))")
    expect_same(inside, lab.share / "closed/inside.txt")


@test
def failed_start_names_the_folder(lab):
    lab.allow("Failed to load resource")
    page = page_for_uploads(lab)
    page.context.route(lambda url: url == lab.url, lambda route: route.fulfill(status=500)
                       if route.request.method == "PROPFIND" else route.continue_())
    choose(page, local(lab, "a.txt", 10))
    page.locator(".toast", has_text="The upload to “share” could not be started. ").wait_for()


@test
def unsupported_names_are_reported_before_uploads(lab):
    page = page_for_uploads(lab)
    long = "ü" * 120 + ".txt"
    choose(page, *(local(lab, name, 20) for name in ("CON.txt", "end. ", long)))
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    lab.axe(page, "the dialog about names")
    expect(dialog.locator("li > bdi").all_text_contents(), ["CON.txt", "end. "])
    page.get_by_role("button", name="Use suggested names").click()
    wait_for_uploads(lab, page, 3)
    expect(sorted(path.name for path in lab.share.iterdir()), sorted(["_CON.txt", "end", long]))


@test
def refusals_are_described(lab):
    lab.start("--max-file-size", "1000")
    page = page_for_uploads(lab)
    lab.allow("Failed to load resource")
    refused = {"locked": 423, "full": 507, "forbidden": 403, "large": None}
    lab.write("locked", b"")
    page.context.route(lambda url: url.rsplit("/", 1)[-1] in refused, lambda route: route.fulfill(
        status=refused[route.request.url.rsplit("/", 1)[-1]]) if route.request.method == "PUT" else route.continue_())
    (lab.share / "locked").unlink()
    choose(page, *(local(lab, name, 2000 if name == "large" else 10) for name in refused))
    wait_for_uploads(lab, page, 0, failed=4)
    lab.until(page, "document.querySelectorAll('.upload[data-state=failed]').length === 4")
    said = {name: text for name, _, text in states(page)}
    assert "1.0 kB" in said["large"] and "too large" in said["large"].lower(), said
    assert "lock" in said["locked"].lower(), said
    assert "room" in said["full"].lower() or "space" in said["full"].lower() or "full" in said["full"].lower(), said
    assert "allowed" in said["forbidden"].lower() or "may" in said["forbidden"].lower(), said
    lab.axe(page, "failures")


@test
def leaving_during_an_upload_warns(lab):
    page = page_for_uploads(lab)
    held = []
    page.context.route("**/slow", lambda route: held.append(route) if route.request.method == "PUT" else route.continue_())
    choose(page, local(lab, "slow", 10))
    lab.wait_until(page, lambda: held)
    page.mouse.click(5, 5)
    warned = []
    page.on("dialog", lambda dialog: (warned.append(dialog.type), dialog.dismiss()))
    page.evaluate("setTimeout(() => location.reload())")
    lab.wait_until(page, lambda: warned)
    expect(warned, ["beforeunload"])
    held[0].continue_()
    wait_for_uploads(lab, page, 1)


@test
def pasted_files_are_uploaded(lab):
    page = page_for_uploads(lab)
    page.evaluate("""() => {
        const data = new DataTransfer()
        data.items.add(new File(["from the clipboard"], "image.png", { type: "image/png", lastModified: 1.5e12 }))
        document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
    }""")
    wait_for_uploads(lab, page, 1)
    expect((lab.share / "image.png").read_bytes(), b"from the clipboard")


@test
def files_dropped_on_a_folder_are_uploaded_there(lab):
    (lab.share / "Into here").mkdir()
    page = page_for_uploads(lab)
    lab.wait_for_names(page, ["Into here"])
    mine = local(lab, "a.txt", 100)
    drop(page, mine, on="[data-drop-href$='Into%20here/']")
    wait_for_uploads(lab, page, 1)
    expect_same(mine, lab.share / "Into here/a.txt")


QUOTA = """<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:"><D:response><D:href>/</D:href><D:propstat><D:prop>
<D:resourcetype><D:collection/></D:resourcetype><D:quota-available-bytes>1000</D:quota-available-bytes>
<D:quota-used-bytes>5</D:quota-used-bytes></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"""


@test
def missing_space_is_reported_before_uploads(lab):
    page = page_for_uploads(lab)
    page.context.route(lambda url: url == lab.url, lambda route: route.fulfill(
        status=207, body=QUOTA, headers={"Content-Type": "application/xml; charset=utf-8"})
        if route.request.method == "PROPFIND" and route.request.headers.get("depth") == "0" else route.continue_())
    choose(page, local(lab, "a.bin", 2000))
    dialog = page.get_by_role("dialog", name="Not enough space")
    dialog.wait_for()
    assert "2.0 kB" in dialog.inner_text() and "1.0 kB" in dialog.inner_text(), dialog.inner_text()
    dialog.get_by_role("button", name="Cancel").click()
    lab.until(page, "document.querySelector('.uploads') === null")
    expect(list(lab.share.iterdir()), [])
    choose(page, local(lab, "a.bin", 2000))
    page.get_by_role("button", name="Upload anyway").click()
    wait_for_uploads(lab, page, 1)


@test
def skipped_files_are_excluded_from_totals(lab):
    """A file above the limit is excluded from the totals, from which the required space and the remaining time are computed."""
    lab.start("--max-file-size", "1500")
    page = page_for_uploads(lab)
    lab.write("large.bin", b"of that name")
    page.context.route(lambda url: url == lab.url, lambda route: route.fulfill(
        status=207, body=QUOTA, headers={"Content-Type": "application/xml; charset=utf-8"})
        if route.request.method == "PROPFIND" and route.request.headers.get("depth") == "0" else route.continue_())
    choose(page, local(lab, "large.bin", 2000), local(lab, "small.bin", 10))
    wait_for_uploads(lab, page, 1, failed=1)
    totals = queue(page, "queue.totals")
    expect((totals["total"], totals["bytes"], totals["loaded"]), (1, 10, 10), "the totals without the skipped file")
    lab.until(page, "document.querySelector('.uploads-total').value === 1")
    expect((lab.share / "large.bin").read_bytes(), b"of that name")


@test
def upload_panel_is_usable_on_a_phone_and_in_the_dark(lab):
    page = page_for_uploads(lab, phone=True, dark=True)
    lab.allow("Failed to load resource")
    page.context.route("**/refused.txt", lambda route: route.fulfill(status=423) if route.request.method == "PUT" else route.continue_())
    choose(page, local(lab, "holiday.jpg", 4000), local(lab, "refused.txt", 10), local(lab, "a long name " * 10 + ".txt", 10))
    wait_for_uploads(lab, page, 2, failed=1)
    page.locator(".uploads-toggle").click()
    page.locator(".upload").first.wait_for()
    lab.axe(page, "the panel on a phone")
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"the page is {width[0]} pixels wide in a viewport of {width[1]}"


FAILURES = """async () => {
    const from = (name) => import(document.querySelector("script[type=module]").src.replace("main.js", `${name}.js`))
    const [{ queue }, { Upload }, { DavError }] = await Promise.all(["upload/main", "upload/upload", "dav"].map(from))
    const read = Object.assign(new Error(), { name: "FileUnreadable" })
    const damaged = new DavError(400, { condition: "digest-mismatch" })
    const statuses = [0, 400, 401, 403, 404, 405, 408, 409, 412, 413, 414, 423, 429, 431, 500, 501, 502, 503, 504, 507, 599]
    const problems = [read, damaged, new DOMException(), new DavError(503, { retryAfter: 90 }), ...statuses.map((status) => new DavError(status))]
    const cut = []
    // Tall enough for all rows.
    document.querySelector(".uploads").style.maxHeight = "none"
    queue.clearDone()
    queue.add(problems.map((problem, index) => new Upload({ path: [`${index}`], href: "/a", state: "failed", problem })))
    await new Promise((resolve) => { queue.addEventListener("change", resolve, { once: true }) })
    const rows = [...document.querySelectorAll(".upload")]
    if (rows.length !== problems.length) throw new Error(`${rows.length} rows`)
    for (const row of rows) {
        const problem = problems[row.querySelector(".upload-name").textContent]
        const text = row.querySelector(".upload-status")
        const around = row.querySelector(".upload-text")
        const [inner, outer] = [around, row].map((one) => one.getBoundingClientRect())
        const isWhole = text.scrollHeight <= text.clientHeight && inner.top >= outer.top && inner.bottom <= outer.bottom
        // The longest message can be scrolled.
        const isSeen = around.scrollHeight <= around.clientHeight || problem.retryAfter > 0
        if (!isWhole || !isSeen) cut.push(text.textContent)
    }
    return cut
}"""


@test(is_long=True)
def error_messages_are_completely_visible(lab):
    """Checks the messages on a phone, in every language."""
    for language in ("en-GB", "de-DE", "fr-FR", "es-ES", "zh-CN"):
        page = page_for_uploads(lab, phone=True, language=language)
        page.context.route("**/small.bin", lambda route: route.fulfill(status=201) if route.request.method == "PUT" else route.continue_())
        choose(page, local(lab, "small.bin", 10))
        wait_for_uploads(lab, page, 1)
        page.locator(".uploads-toggle").click()
        expect(page.evaluate(FAILURES), [], language)
        page.context.close()


@test
def messages_do_not_cover_the_upload_panel(lab):
    page = page_for_uploads(lab)
    choose(page, *(local(lab, f"{number}.bin", 10) for number in range(9)))
    wait_for_uploads(lab, page, 9)
    in_page(page, "messages", """({ toast }) => {
        toast("“a name.txt” does not match an interrupted upload: its name, size or date is different.", { kind: "error" })
        toast("Deleted", { timeout: 0, action: { label: "Undo" } })
    }""")
    for width, height in ((1280, 800), (1000, 700), (700, 800), (390, 844), (320, 640)):
        page.set_viewport_size({"width": width, "height": height})
        lab.screenshot(page, f"toasts-{width}")
        for toast in page.locator(".toast").all():
            one, other = toast.bounding_box(), page.locator(".uploads").bounding_box()
            assert (one["x"] + one["width"] <= other["x"] or one["y"] + one["height"] <= other["y"]), (width, one, other)
            assert one["x"] >= 0 and one["y"] >= 0 and one["x"] + one["width"] <= width, (width, one)
            assert one["width"] >= 200, (width, one)


def in_page(page, name, expression):
    """Imports a module of the page, calls the function in `expression` with it, and returns the result."""
    return page.evaluate(f"import(document.querySelector('script[type=module]').src.replace('main.js', '{name}.js')).then({expression})")


@test
def digests_do_not_depend_on_the_pieces(lab):
    """The page's SHA-256 equals that of the browser, for every remainder of a block, in pieces of whole blocks."""
    found = in_page(page_for_uploads(lab), "upload/sha256", """async ({ SHA256 }) => {
        const wrong = []
        const lengths = [...Array(200).keys(), 1000, 100003]
        for (const length of lengths) {
            const bytes = new Uint8Array(length).map((_, index) => index * 31 + (index >> 8))
            const wanted = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).join()
            for (const step of [64, 192, 4096]) {
                const made = new SHA256()
                for (let from = 0; from < length; from += step) made.update(bytes.subarray(from, from + step))
                if (made.digest().join() !== wanted) wrong.push([length, step])
            }
        }
        return wrong
    }""")
    expect(found, [])


@test
def checksums_do_not_depend_on_the_pieces(lab):
    """The page's Adler-32 equals that of zlib, for bytes at any offset, in pieces of any size, extended or combined."""
    lengths = [*range(200), 352, 1000, 8191, 100003]
    found = in_page(page_for_uploads(lab), "upload/adler32", """({ extended, combined, nothing, adlerBytes }) => {
        const found = {}
        for (const fill of [0, 255]) for (const length of LENGTHS) {
            const all = new Uint8Array(length + 3).map((_, index) => fill || index * 31 + (index >> 8))
            for (const start of [0, 1, 2, 3]) for (const step of [1, 7, 87, 88, 89, 4096, length + 1]) {
                if (length > 1000 && step < 87) continue
                const bytes = all.subarray(start, start + length)
                let whole = nothing, pieces = nothing
                for (let from = 0; from < length; from += step) {
                    const piece = bytes.subarray(from, from + step)
                    whole = extended(whole, piece)
                    pieces = combined(pieces, extended(nothing, piece))
                }
                const made = [whole, pieces].map((one) => `${one.length} ${adlerBytes(one)}`)
                const known = found[`${fill} ${start} ${length}`] ??= []
                for (const one of made) if (!known.includes(one)) known.push(one)
            }
        }
        return found
    }""".replace("LENGTHS", str(lengths)))
    wanted = {}
    for fill in (0, 255):
        for length in lengths:
            content = bytes(fill or (index * 31 + (index >> 8)) & 255 for index in range(length + 3))
            for start in range(4):
                made = zlib.adler32(content[start:start + length]).to_bytes(4, "big")
                wanted[f"{fill} {start} {length}"] = [f"{length} {','.join(map(str, made))}"]
    expect(found, wanted)


NAMES = {
    "a.txt": None, ".profile": None, "COM.txt": None, "console": None, "ü": None, "com10": None,
    "a:b?.txt": (False, "a_b_.txt"), "back\\slash": (False, "back_slash"), "tab\there": (False, "tab_here"),
    "con": (False, "_con"), "LPT1.tar.gz": (False, "_LPT1.tar.gz"), "end.": (False, "end"), "end ": (False, "end"),
    "...": (False, "_"), ".davit-abcdefghijklmn23": (True, "_.davit-abcdefghijklmn23"),
    "x" * 255: None, "x" * 256: (True, "x" * 255), "é" * 126 + ".tar.gz": (True, "é" * 124 + ".tar.gz"),
    "a/b": (True, "a_b"), "\ud800.txt": (True, "\ufffd.txt"),
}


@test
def alternative_names_are_proposed(lab):
    page = page_for_uploads(lab)
    for name, wanted in NAMES.items():
        literal = json.dumps(name)
        found = in_page(page, "names", f"({{ checkName }}) => {{ const found = checkName({literal})"
                                       "; return found ? [found.isRefused, found.suggestion] : null }")
        expect(found, wanted and list(wanted), name.encode("utf-8", "replace"))
