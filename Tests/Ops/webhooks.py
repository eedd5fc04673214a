#!/usr/bin/env python3
"""Tests events that are sent over HTTPS to a service that fails at times, and checks their signatures.

    Tests/Ops/webhooks.py [--davit PATH]

DAVIT is a davit with the trait Webhooks. Prints a line for each failed check; the last line is `webhooks: N passed, M failed`.
"""

import argparse
import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Deployment"))
import deployment  # noqa: E402
from deployment import Report, Server, ask  # noqa: E402

KEY = os.urandom(32)


class Service(http.server.ThreadingHTTPServer):
    """Keeps requests, and answers the next ones with the statuses in `answers`, then with 204."""

    daemon_threads = True

    def __init__(self, folder, port=0):
        self.requests, self.answers, self.changed = [], [], threading.Condition()
        super().__init__(("127.0.0.1", port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait(self, count):
        """Returns the received requests, as soon as there are `count`."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.requests) >= count)
            return list(self.requests)

    def stop(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.changed:
            status = self.server.answers.pop(0) if self.server.answers else 204
            self.server.requests.append((self.path, dict(self.headers), content, status))
            self.server.changed.notify_all()
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def is_signed(fields, content):
    text = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + content
    code = base64.b64encode(hmac.digest(KEY, text, hashlib.sha256)).decode()
    return fields["webhook-signature"] == f"v1,{code}"


def events(requests):
    return [(json.loads(content)["op"], json.loads(content)["path"], status) for _, _, content, status in requests]


def run(work, report):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", work / "key.pem",
                    "-out", work / "cert.pem"], check=True, capture_output=True)
    secret = work / "secret"
    secret.touch(mode=0o600)
    secret.write_text("whsec_" + base64.b64encode(KEY).decode() + "\n")
    service = Service(work)
    port = service.server_address[1]
    options = ["--port", "0", "--event-url", f"https://localhost:{port}/hook?a=1", "--event-secret-file", str(secret)]

    with Server(work, *options, "--event-ca", str(work / "cert.pem")).wait_until_ready() as server:
        def change(method, path):
            return ask(("127.0.0.1", server.port), method, path)

        service.answers = [503, 429, 308]
        report.check("a change succeeds", change("MKCOL", "/a") == 201)
        requests = service.wait(4)
        report.check("a failed delivery is repeated",
                     events(requests) == [("create-folder", "/a", status) for status in (503, 429, 308, 204)], str(requests))
        report.check("all attempts have one ID", len({fields["webhook-id"] for _, fields, _, _ in requests}) == 1)
        report.check("attempts are signed", all(is_signed(fields, content) for _, fields, content, _ in requests))
        path, fields, content, _ = requests[0]
        report.check("the URL and the type are those of the event",
                     (path, fields["Content-Type"]) == ("/hook?a=1", "application/json"), str(requests[0]))
        report.check("the ID is in the event", json.loads(content)["id"] == fields["webhook-id"])

        service.answers = [400] * 5
        change("MKCOL", "/refused")
        change("MKCOL", "/b")
        requests = service.wait(10)[4:]
        report.check("a refused event is given up, and the next one follows",
                     events(requests) == [("create-folder", "/refused", 400)] * 5 + [("create-folder", "/b", 204)], str(requests))

        # Now the service does not run.
        service.stop()
        change("MKCOL", "/c")
        report.check("the server stops while a service cannot be used", server.stop() == 0)

    service = Service(work, port)
    with Server(work, *options, "--event-ca", str(work / "cert.pem")).wait_until_ready() as server:
        requests = service.wait(1)
        report.check("the event is delivered after a restart", events(requests) == [("create-folder", "/c", 204)], str(requests))
        server.stop()

    # An authority that is not trusted.
    with Server(work, *options).wait_until_ready() as server:
        ask(("127.0.0.1", server.port), "MKCOL", "/d")
        report.check("the server stops while a service is not trusted", server.stop() == 0)
    report.check("nothing is sent to a service that is not trusted", len(service.wait(0)) == 1)
    service.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT"))
    deployment.DAVIT = parser.parse_args().davit
    report = Report()
    with tempfile.TemporaryDirectory(prefix="davit-webhooks.") as folder:
        run(pathlib.Path(folder), report)
    print(f"webhooks: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
