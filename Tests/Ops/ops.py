#!/usr/bin/env python3
"""Tests the admin listener, `davit status`, the alert rules and the Grafana board, with promtool.

    Tests/Ops/ops.py [--davit PATH]

Prints a line for each failed check; the last line is `ops: N passed, M failed`.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEPLOY = ROOT / "deploy"
sys.path.insert(0, str(HERE.parent / "Deployment"))
import deployment  # noqa: E402
from deployment import LIMIT_SECONDS, Report, Server, ask  # noqa: E402

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
# Metrics of features that are not in every build; their own tests read them.
OF_TRAITS = {"davit_port_mapped"}
# Text of the requests that must not occur in the metrics.
PRIVATE = ["secret-name", "anna", "127.0.0.1", "BREW"]


class LocalHTTP(http.client.HTTPConnection):
    """HTTP over a Unix domain socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT_SECONDS)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def get(path, target, accept="*/*", method="GET"):
    connection = LocalHTTP(path)
    connection.request(method, target, headers={"Accept": accept, "Connection": "close"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("Content-Type"), text


def promtool(*words, text=None):
    """Returns the exit status and the output of promtool."""
    done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    return done.returncode, (done.stdout + done.stderr).strip()


def status(work, *words):
    """Returns the exit status and the output of `davit status`."""
    done = subprocess.run([deployment.DAVIT, "status", *words], capture_output=True, text=True, timeout=LIMIT_SECONDS)
    return done.returncode, done.stdout + done.stderr


def families(text):
    """Returns the names of all samples."""
    return set(re.findall(r"^([a-z_]+)(?:\{| )", re.sub(r"^#.*\n", "", text, flags=re.M), re.M))


def send_requests(port):
    credentials = "Authorization: Basic YW5uYTpzZWNyZXQ="
    for method, target in [("GET", "/"), ("PROPFIND", "/"), ("MKCOL", "/secret-name"), ("GET", "/secret-name/missing"),
                           ("BREW", "/secret-name"), ("OPTIONS", "/")]:
        ask(("127.0.0.1", port), method, target, [credentials])
    ask(("127.0.0.1", port), "GET", "/")


def check_metrics(admin, port, report):
    send_requests(port)
    kind, text = get(admin, "/metrics")[1:]
    report.check("the older format has its type", kind == "text/plain; version=0.0.4; charset=utf-8", kind)
    code, output = promtool("check", "metrics", text=text)
    report.check("promtool accepts the metrics", code == 0 and output == "", output)
    for line in ['davit_requests_total{method="other",status="', 'davit_requests_total{method="PROPFIND",status="2xx"} ',
                 'davit_request_duration_seconds_bucket{method="GET",le="+Inf"} ', "davit_connections_accepted_total ",
                 "davit_trash_entries 0", "davit_passwords_waiting 0", 'davit_check_passing{check="state-database"} 1',
                 "davit_locks 0",
                 'davit_build_info{version="', "process_resident_memory_bytes ", "process_open_fds "]:
        report.check(f"the metrics contain {line}", line in text)
    for word in PRIVATE:
        report.check(f"the metrics do not contain {word}", word not in text)

    kind, text = get(admin, "/metrics", OPEN_METRICS)[1:]
    report.check("OpenMetrics has its type", kind == "application/openmetrics-text; version=1.0.0; charset=utf-8", kind)
    # To parse OpenMetrics, promtool imports it; this requires a time for each sample.
    timed = "".join(line if line.startswith("#") else line.rstrip("\n") + " 1700000000\n" for line in text.splitlines(True))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "metrics"
        file.write_text(timed)
        code, output = promtool("tsdb", "create-blocks-from", "openmetrics", str(file), folder + "/blocks")
        report.check("promtool accepts OpenMetrics", code == 0, output)
        file.write_text(timed.replace("# EOF\n", ""))
        report.check("promtool rejects truncated OpenMetrics",
                     promtool("tsdb", "create-blocks-from", "openmetrics", str(file), folder + "/others")[0] != 0)
    return families(text)


def check_health(work, admin, report):
    state = ["--state-dir", str(work / "state")]
    report.check("/livez is 200", get(admin, "/livez")[0] == 200)
    code, _, text = get(admin, "/readyz")
    wanted = {"ok listening", "ok state-database", "ok share-folder", "ok free-space", "ok audit-log"}
    report.check("/readyz names each check", code == 200 and set(text.splitlines()) == wanted, text)
    checks = json.loads(get(admin, "/readyz", "application/json")[2])
    report.check("/readyz is JSON on request",
                 checks["status"] == "ok" and {"ok " + check["name"] for check in checks["checks"]} == wanted, str(checks))
    report.check("davit status counts events", re.search(r"^events: \d+ waiting", status(work, *state)[1], re.M))
    code, text = status(work, str(work / "share"), *state)
    report.check("davit status reports a ready server", code == 0 and text.startswith("ready\n  event-loops: ok\n"), text)
    report.check("davit status needs only the state folder", status(work, *state)[0] == 0)
    report.check("only GET and HEAD are allowed", get(admin, "/metrics", method="POST")[0] == 405)
    report.check("other hosts are refused", ask(admin, "GET", "/metrics", ["Host: evil.example"]) == 421)

    (work / "share").rename(work / "moved")
    (work / "share").mkdir()
    code, _, text = get(admin, "/readyz")
    report.check("a replaced folder is not ready", code == 503 and "failed share-folder: another folder is at" in text, text)
    report.check("the metrics report the failed check",
                 'davit_check_passing{check="share-folder"} 0' in get(admin, "/metrics")[2])
    report.check("a replaced folder is alive", get(admin, "/livez")[0] == 200)
    code, text = status(work, *state)
    report.check("davit status fails if the server is not ready", code == 1 and text.startswith("not ready\n"), text)
    (work / "share").rmdir()
    report.check("a missing folder is not ready", get(admin, "/readyz")[0] == 503)
    (work / "moved").rename(work / "share")
    report.check("the folder is ready again", get(admin, "/readyz")[0] == 200)


def listener(work, report):
    admin = work / "admin.sock"
    options = ["--port", "0", "--admin-listen", str(admin), "--user", "anna:secret", "--auth", "basic",
               "--max-requests-per-account", "1000", "--audit-log", str(work / "audit"), "--event-command", "/bin/true"]
    with Server(work, *options).wait_until_ready() as server:
        report.check("only the user of the server can connect", admin.stat().st_mode & 0o777 == 0o600)
        names = check_metrics(admin, server.port, report)
        check_health(work, admin, report)
        # More connections than the listener allows wait until others are closed.
        idle = [LocalHTTP(admin) for _ in range(32)]
        for connection in idle:
            connection.request("GET", "/livez")
            report.check("a connection is answered", connection.getresponse().read() != b"")
        excess = LocalHTTP(admin)
        excess.request("GET", "/livez")
        for connection in idle:
            connection.close()
        report.check("a waiting connection is answered later", excess.getresponse().status == 200)
        excess.close()
        report.check("the exit status is 0", server.stop() == 0)
    report.check("the socket is removed", not admin.exists())
    code, text = status(work, "--state-dir", str(work / "state"))
    report.check("davit status fails without a server", code == 1 and "no server uses state folder" in text, text)
    return names


def media(work, report):
    """Shares in which nothing can be written need no free space."""
    admin, full = work / "admin.sock", ["--port", "0", "--admin-listen", str(work / "admin.sock"), "--keep-free", "1000T"]

    def check(what, code, *options):
        with Server(work, *full, *options).wait_until_ready() as server:
            answer = get(admin, "/readyz")
            report.check(f"/readyz of {what} is {code}", answer[0] == code, answer[2])
            report.check(f"davit status of {what}", status(work, "--state-dir", str(work / "state"))[0] == (0 if code == 200 else 1))
            report.check(f"the free space of {what} is a metric only if it counts",
                         ("davit_free_space_bytes" in families(get(admin, "/metrics")[2])) == (code != 200))
            server.stop()

    check("a full volume", 503)
    check("a read-only share", 200, "--read-only")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", str(work / "share")], capture_output=True, text=True)
    if mounted.returncode != 0:
        print(f"SKIPPED: read-only volume: {mounted.stderr.strip()}", flush=True)
        return
    try:
        check("a read-only volume", 200)
    finally:
        subprocess.run(["umount", str(work / "share")], check=True)


def tls(work, report):
    admin = work / "admin.sock"
    with Server(work, "--port", "0", "--admin-listen", str(admin), "--tls-self-signed").wait_until_ready() as server:
        report.check("the certificate is checked", "ok certificate\n" in get(admin, "/readyz")[2])
        names = families(get(admin, "/metrics")[2])
        report.check("the expiry of the certificate is a metric", "davit_certificate_expiry_timestamp_seconds" in names)
        server.stop()
    return names


def addresses(work, report):
    for address in ["0.0.0.0:9100", "192.0.2.1:9100", "example.com:9100", "[::]:9100", "9100", "127.0.0.1", "127.0.0.1:x",
                    "127.0.0.1:65536"]:
        with Server(work, "--port", "0", "--admin-listen", address) as server:
            _, text = server.process.communicate(timeout=LIMIT_SECONDS)
            report.check(f"{address} is refused", server.process.returncode == 64 and b"loopback" in text, str(text))
    with open(work / "log", "w+b") as log:
        with Server(work, "--port", "0", "--admin-listen", "127.0.0.1:0", log=log).wait_until_ready() as server:
            log.seek(0)
            port = int(re.search(rb"admin listener started address=\"?http://127.0.0.1:(\d+)/", log.read()).group(1))
            report.check("a loopback address is served", ask(("127.0.0.1", port), "GET", "/livez") == 200)
            report.check("the files are not", ask(("127.0.0.1", port), "PROPFIND", "/") == 405)
            report.check("the port of the files has no metrics", ask(("127.0.0.1", server.port), "GET", "/metrics") == 404)
            second = work / "second"
            second.mkdir(exist_ok=True)
            with Server(second, "--port", "0", "--admin-listen", f"127.0.0.1:{port}") as other:
                _, text = other.process.communicate(timeout=LIMIT_SECONDS)
                report.check("an address in use is reported", other.process.returncode == 1 and b"in use" in text, str(text))
            server.stop()


def ignored_children(work, report):
    """A program's exit status counts also if the server was started by a process that ignores SIGCHLD."""
    former = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        for program, wanted in (("/bin/false", 403), ("/bin/true", 201)):
            with Server(work, "--port", "0", "--check-uploads", program).wait_until_ready() as server:
                status = ask(("127.0.0.1", server.port), "PUT", "/a", ["Content-Length: 0"])
                report.check(f"with SIGCHLD ignored, {program} leads to {wanted}", status == wanted, str(status))
    finally:
        signal.signal(signal.SIGCHLD, former)


def exit_handlers(_, report):
    """Exit handlers of libraries do not run, because threads of the server may still be ending."""
    run = subprocess.run([deployment.DAVIT, "--version"], env={**os.environ, "LD_DEBUG": "files"}, capture_output=True, text=True,
                         timeout=LIMIT_SECONDS)
    report.check("the loader reports the libraries", run.returncode == 0 and "calling init" in run.stderr, run.stderr[-300:])
    report.check("no exit handler of a library runs", "calling fini" not in run.stderr)


def rules(names, report):
    """Checks the files in deploy/, also that they use no metric that davit does not have, and that all are documented."""
    code, output = promtool("check", "rules", str(DEPLOY / "prometheus-alerts.yml"))
    report.check("promtool accepts the alert rules", code == 0, output)
    board = json.loads((DEPLOY / "grafana-davit.json").read_text())
    used = re.findall(r"\b((?:davit|process)_[a-z_]+)", (DEPLOY / "prometheus-alerts.yml").read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            used += re.findall(r"\b((?:davit|process)_[a-z_]+)", target["expr"])
    report.check("the board has panels", len(board["panels"]) > 10)
    documented = set(re.findall(r"`((?:davit|process)_[a-z_]+)", (ROOT / "docs/operations.md").read_text()))
    for name in sorted({re.sub(r"_(?:bucket|sum|count)$", "", name) for name in names} ^ (documented - OF_TRAITS)):
        report.check(f"{name} exists and is in docs/operations.md", False)
    for name in sorted(set(used)):
        report.check(f"{name} exists", name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(ROOT / ".build/release/davit")))
    deployment.DAVIT = parser.parse_args().davit
    report = Report()
    if shutil.which("promtool") is None:
        report.check("promtool is installed (Debian package prometheus)", False)
    else:
        with tempfile.TemporaryDirectory(prefix="davit-ops.") as folder:
            names = set()
            for number, test in enumerate([listener, media, tls, addresses, ignored_children, exit_handlers]):
                work = pathlib.Path(folder) / str(number)
                work.mkdir()
                names |= test(work, report) or set()
            rules(names, report)
    print(f"ops: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
