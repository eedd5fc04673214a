#!/usr/bin/env python3
"""Tests what davit gives up on Linux: `--run-as`, `--sandbox`, and the units in deploy/systemd.

    Tests/Ops/sandbox.py [--davit PATH] [--attempts PATH] [PART...]

Prints a line for each failed check; the last line is `sandbox: N passed, M failed`. Changing users can only be tested as root.
"""
import argparse
import base64
import http.client
import os
import pathlib
import platform
import pwd
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import sandbox_attempts  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Deployment"))
from deployment import Report  # noqa: E402

LIMIT_SECONDS = 120
ORDINARY = "daemon"  # a user that every system has


class Server:
    """`davit serve` of the folder share in a folder, which is stopped at the end of the block."""

    def __init__(self, work, *options, state="state", prefix=(), **process):
        self.share = work / "share"
        self.share.mkdir(exist_ok=True)
        command = [*prefix, DAVIT, "serve", str(self.share), "--grace", "5", *options]
        if state:
            command += ["--state-dir", str(work / state)]
        self.log = work / "server.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, **process)
        self.ready = b""
        while not self.ready.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], LIMIT_SECONDS)[0]:
                raise RuntimeError("davit did not become ready")
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                raise RuntimeError(f"davit exited with status {self.process.wait()}: {self.log.read_text()}")
            self.ready += data
        port = re.search(rb"https?://[^ ]*:(\d+)/", self.ready)
        self.port = int(port.group(1)) if port else None

    def ask(self, method, path, body=None, fields=None, tls=None):
        """Returns the status and the content of a response."""
        if tls:
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS, context=tls)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS)
        try:
            connection.request(method, path, body, fields or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def reload(self, is_done):
        """Reloads the settings and waits for the result."""
        self.process.send_signal(signal.SIGHUP)
        for _ in range(2400):
            if is_done():
                return True
            select.select([], [], [], 0.05)
        return False

    def statuses(self):
        """Returns the lines of the status of each thread."""
        found = []
        for status in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/status"):
            found.append(dict(line.split(":", 1) for line in status.read_text().splitlines()))
        return found

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def refused(work, *options, **process):
    """Returns the exit status and the errors of a server that cannot start."""
    (work / "share").mkdir(exist_ok=True)
    result = subprocess.run(
        [DAVIT, "serve", str(work / "share"), *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=LIMIT_SECONDS, **process)
    return result.returncode, result.stderr


def attempts(work, report):
    sandbox_attempts.attempts(ATTEMPTS, work, report)


def certificate(folder, name):
    """Creates a certificate for a name, as a file with the key, and returns its path."""
    path, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", str(key), "-out", str(path)],
        check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + key.read_bytes())
    return path


def presented_name(port):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), LIMIT_SECONDS) as plain, context.wrap_socket(plain) as secure:
        der = secure.getpeercert(binary_form=True)
    return "new" if b"new.example" in der else "old" if b"old.example" in der else "other"


def metrics(path):
    """Returns the text of the metrics of an admin listener."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(LIMIT_SECONDS)
        connection.connect(str(path))
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        with connection.makefile(encoding="utf-8") as answer:
            return answer.read()


def restrictions(work, report):
    """A server with many kinds of files, each of which it must be able to use and to reload."""
    for folder in ["team", "homes", "settings", "archive", "log", "run", "recorded"]:
        (work / folder).mkdir()
    for name in ["old", "new"]:
        certificate(work / "archive", f"{name}.example")
    live = work / "settings" / "server.pem"
    live.symlink_to("../archive/old.example.pem")
    users = work / "settings" / "users"
    users.write_text("anna:first\n")
    users.chmod(0o600)
    log, local, admin = work / "log" / "access", work / "run" / "davit.sock", work / "run" / "admin.sock"
    begun = time.time()
    with Server(work, "--sandbox", "--port", "0", "--host", "127.0.0.1", "--tls-cert", str(live), "--tls-key", str(live),
                "--user-file", str(users), "--auth", "basic", "--mount", f"/team={work / 'team'}", "--trash",
                "--access-log", str(log), "--unix-socket", str(local), "--record", str(work / "recorded"), "--sync", "full",
                "--admin-listen", str(admin)) as server:
        statuses = server.statuses()
        report.check("all threads are restricted", len(statuses) > 2 and all(
            status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2" for status in statuses), str(statuses))
        report.check("nothing is missing", "not restricted" not in server.log.read_text(), server.log.read_text())
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE

        def ask(method, path, body=None, password="first", **fields):
            login = base64.b64encode(f"anna:{password}".encode()).decode()
            return server.ask(method, path, body, {"Authorization": f"Basic {login}", **fields}, tls)

        large = os.urandom(3 << 20)
        rows = [
            ("PUT", "/a", large, {}, 201), ("PUT", "/team/b", b"b", {}, 201), ("MKCOL", "/folder/", None, {}, 201),
            ("MOVE", "/a", None, {"Destination": "/folder/a"}, 201),
            ("COPY", "/folder/", None, {"Destination": "/team/copied/"}, 201),
            ("MOVE", "/team/copied/", None, {"Destination": "/moved/"}, 201),
            ("PUT", "/moved/a", b"shorter", {}, 204), ("DELETE", "/moved/", None, {}, 204),
            ("GET", "/?archive=zip", None, {}, 200), ("GET", "/", None, {"Accept": "text/html"}, 200),
            ("PROPFIND", "/", b'<?xml version="1.0" encoding="ISO-8859-1"?><propfind xmlns="DAV:"><allprop/></propfind>',
             {"Depth": "1"}, 207),
            ("PROPPATCH", "/folder/a", b'<propertyupdate xmlns="DAV:"><set><prop><x xmlns="y:">z</x></prop></set>'
             b'</propertyupdate>', {}, 207),
            ("LOCK", "/locked", b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
             b'</lockinfo>', {}, 201),
        ]
        for method, path, body, fields, wanted in rows:
            status, _ = ask(method, path, body, **fields)
            report.check(f"{method} {path}", status == wanted, f"{status}")
        report.check("GET", ask("GET", "/folder/a") == (200, large))
        listed = subprocess.run(
            [DAVIT, "trash", "list", str(server.share), "--state-dir", str(work / "state")], capture_output=True, text=True)
        report.check("the control socket is served", "/moved" in listed.stdout, str(listed))

        # The start is computed from values that are rounded to hundredths of a second.
        started = re.search(r"^process_start_time_seconds (\S+)$", metrics(admin), re.MULTILINE)
        report.check("the start of the process is a metric",
                     started and begun - 1 < float(started.group(1)) < time.time() + 1, str(started))

        # Replace the settings as editors and ACME clients do.
        renewed = users.with_name("users.new")
        renewed.write_text("anna:second\n")
        renewed.chmod(0o600)
        renewed.rename(users)
        report.check("a replaced user file is read", server.reload(lambda: ask("GET", "/folder/a", password="second")[0] == 200))
        live.unlink()
        live.symlink_to("../archive/new.example.pem")
        report.check("a replaced certificate is read", server.reload(lambda: presented_name(server.port) == "new"))
        log.rename(log.with_name("access.1"))
        report.check("the access log is created again", server.reload(log.exists))
        report.check("the socket exists", local.exists())
        report.check("the exit status is 0", server.stop() == 0, server.log.read_text())
        report.check("the socket is removed", not local.exists())
    report.check("the recording is written", any((work / "recorded").iterdir()))


def read_only(work, report):
    share = work / "share"
    share.mkdir()
    (share / "file").write_text("text")
    with Server(work, "--sandbox", "--read-only", "--port", "0") as server:
        report.check("a file of a read-only share is served", server.ask("GET", "/file") == (200, b"text"))
        report.check("a read-only share is not changed", server.ask("PUT", "/file", b"new")[0] == 403)
        report.check("the exit status is 0", server.stop() == 0)


def several_folders(work, report):
    """Without --state-dir, a server also locks the state folders of servers of only a mounted folder."""
    for name in ["share", "team", "homes", "states"]:
        (work / name).mkdir()
    environment = {**os.environ, "XDG_STATE_HOME": str(work / "states")}
    added = subprocess.run([DAVIT, "account", "add", str(work / "share"), "anna", "--rights", "all"],
                           input="first\n", capture_output=True, text=True, env=environment, timeout=LIMIT_SECONDS)
    report.check("an account is added", added.returncode == 0, added.stderr)
    mounted = ["--mount", f"/team={work / 'team'}", "--home", f"{work / 'homes'}/{{user}}"]
    for options in [mounted, ["--read-only", *mounted[:2]]]:
        with Server(work, "--sandbox", "--port", "0", "--auth", "basic", *options, state=None, env=environment) as server:
            login = {"Authorization": f"Basic {base64.b64encode(b'anna:first').decode()}"}
            wanted = 403 if "--read-only" in options else 201
            report.check("a mounted folder is served", server.ask("PUT", "/team/file", b"text", login)[0] == wanted)
            if "--home" in options:
                report.check("a home folder is served", server.ask("PUT", "/home/anna/file", b"text", login)[0] == 201)
            report.check("the exit status is 0", server.stop() == 0, server.log.read_text())
        (work / "team" / "file").unlink(missing_ok=True)


def gaps(work, report):
    """On a kernel without the calls of the sandbox, davit says so, and serves."""
    hide = sandbox_attempts.hiding("landlock_create_ruleset", "seccomp")
    if not hide:
        print("SKIPPED: gaps: libseccomp is not installed", flush=True)
        return
    with Server(work, "--sandbox", "--port", "0", preexec_fn=hide) as server:
        text = server.log.read_text()
        report.check("missing Landlock is reported", "davit: files and connections are not restricted: " in text, text)
        report.check("missing filters are reported", "davit: system calls are not restricted: " in text, text)
        report.check("each in one line", len(text.splitlines()) == 2, text)
        report.check("the server works", server.ask("PUT", "/file", b"text")[0] == 201)
        report.check("the exit status is 0", server.stop() == 0)


def suites(work, report):
    """The tests of WebDAV and of some clients, with every server in the sandbox."""
    wrapper = work / "davit"
    wrapper.write_text(f'#!/bin/sh\nif [ "$1" = serve ]; then exec "{DAVIT}" "$@" --sandbox; fi\nexec "{DAVIT}" "$@"\n')
    wrapper.chmod(0o755)
    environment = {**os.environ, "DAVIT": str(wrapper), "TREE_FILES": "200"}
    commands = [("litmus", ["litmus/run.sh"]), ("uploads", ["Tests/Clients/uploads.sh"]), ("cadaver", ["Tests/Clients/cadaver.sh"])]
    running = [(name, subprocess.Popen(
        [str(ROOT / command[0]), *command[1:]], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)) for name, command in commands]
    for name, process in running:
        output, _ = process.communicate(timeout=20 * LIMIT_SECONDS)
        result = re.search(r": (\d+) passed, (\d+) failed$", output, re.MULTILINE)
        passes = process.returncode == 0 and result and int(result.group(1)) > 20 and result.group(2) == "0"
        report.check(f"{name} in the sandbox", passes, output[-2000:])


def low_port():
    """Returns a free port that only root can use."""
    for port in range(700, 1023):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise RuntimeError("no free port below 1024")


def has_no_capabilities(statuses):
    return all(int(status[kind], 16) == 0 for status in statuses for kind in ["CapInh", "CapPrm", "CapEff", "CapAmb"])


def users(work, report):
    status, text = refused(work, "--run-as", "a:b:c")
    report.check("a malformed user is refused", status == 64 and "--run-as must be USER or USER:GROUP" in text, text)
    status, text = refused(work, "--run-as", "nobody-has-this-name")
    report.check("an unknown user is refused", status == 1 and "--run-as: unknown user 'nobody-has-this-name'" in text, text)
    own = pwd.getpwuid(os.geteuid())
    with Server(work, "--port", "0", "--run-as", own.pw_name) as server:
        report.check("the current user needs no privilege", server.ask("OPTIONS", "/")[0] == 200)
        statuses = server.statuses()
        report.check("the current user keeps no capabilities", len(statuses) > 2 and has_no_capabilities(statuses), str(statuses))
        server.stop()
    if os.geteuid() != 0:
        print("SKIPPED: --run-as: requires root", flush=True)
        return
    wanted = pwd.getpwnam(ORDINARY)
    status, text = refused(work, "--run-as", f"{ORDINARY}:nobody-has-this-name")
    report.check("an unknown group is refused", status == 1 and "--run-as: unknown group" in text, text)
    work.chmod(0o755)
    for path in work.parents:
        if not path.stat().st_mode & 0o001:
            print(f"SKIPPED: --run-as: other users cannot access {path}", flush=True)
            return

    def become():
        os.setgroups([])
        os.setgid(wanted.pw_gid)
        os.setuid(wanted.pw_uid)

    status, text = refused(work, "--run-as", "bin", preexec_fn=become)
    report.check("only root changes users", status == 1 and "--run-as bin requires root" in text, text)
    status, text = refused(work, "--run-as", ORDINARY, "--state-dir", "/davit-cannot-create-this")
    report.check("a state folder that the user cannot create is reported",
                 status == 1 and "/davit-cannot-create-this" in text and "Permission denied" in text, text)

    folder = work / "owned"
    folder.mkdir()
    os.chown(folder, wanted.pw_uid, wanted.pw_gid)
    (folder / "share").mkdir()
    os.chown(folder / "share", wanted.pw_uid, wanted.pw_gid)
    port = low_port()
    local = folder / "davit.sock"
    for options in [(), ("--sandbox",)]:
        name = "with --sandbox" if options else "alone"
        with Server(folder, "--run-as", f"{ORDINARY}:{ORDINARY}", "--host", "127.0.0.1", "--port", str(port),
                    "--unix-socket", str(local), *options, env={**os.environ, "XDG_STATE_HOME": "/root"}) as server:
            statuses = server.statuses()
            numbers = [str(wanted.pw_uid)] * 4
            report.check(f"{name}: all threads have the user", len(statuses) > 2 and all(
                status["Uid"].split() == numbers and status["Gid"].split() == numbers for status in statuses), str(statuses))
            report.check(f"{name}: no thread has capabilities", has_no_capabilities(statuses), str(statuses))
            report.check(f"{name}: the groups of root are gone", all(
                "0" not in status["Groups"].split() for status in statuses), str(statuses))
            report.check(f"{name}: the ready line has the port",
                         f"http://127.0.0.1:{port}/".encode() in server.ready, str(server.ready))
            report.check(f"{name}: PUT", server.ask("PUT", f"/{name[:4]}", b"text")[0] == 201)
            report.check(f"{name}: GET", server.ask("GET", f"/{name[:4]}") == (200, b"text"))
            owners = {path: path.lstat().st_uid for place in ["state", "share"] for path in (folder / place).rglob("*")}
            report.check(f"{name}: all files belong to the user",
                         len(owners) > 3 and set(owners.values()) == {wanted.pw_uid}, str(owners))
            report.check(f"{name}: the exit status is 0", server.stop() == 0, server.log.read_text())
            report.check(f"{name}: the socket is removed", not local.exists())

    secret, settings = folder / "secret", folder / "davit.yaml"
    secret.write_text("first\n")
    secret.chmod(0o600)
    settings.write_text(f"users:\n- {{name: anna, password-file: {secret}}}\n")
    settings.chmod(0o600)
    for unreadable in [settings, secret]:
        status, text = refused(folder, "--run-as", ORDINARY, "--config", str(settings), "--state-dir", str(folder / "state"))
        report.check(f"{unreadable.name} must be readable for the user",
                     status == 1 and f"cannot read {unreadable} as user {ORDINARY}: access: Permission denied" in text, text)
        os.chown(unreadable, wanted.pw_uid, wanted.pw_gid)
    with Server(folder, "--run-as", ORDINARY, "--config", str(settings), "--port", "0") as server:
        done = subprocess.run([DAVIT, "reload", str(folder / "share"), "--state-dir", str(folder / "state")], capture_output=True,
                              text=True, timeout=LIMIT_SECONDS)
        report.check("the user reads the configuration file again", done.returncode == 0, done.stdout + done.stderr)
        server.stop()

    # The user that a service manager has set, with the capabilities that it has added.
    kept = ["setpriv", f"--reuid={wanted.pw_uid}", f"--regid={wanted.pw_gid}"]
    for capabilities, keeps_groups in [("+net_bind_service", True), ("+net_bind_service,+setgid", False)]:
        prefix = [*kept, "--groups=0", f"--inh-caps={capabilities}", f"--ambient-caps={capabilities}"]
        with Server(folder, "--run-as", ORDINARY, "--host", "127.0.0.1", "--port", str(port), prefix=prefix) as server:
            statuses = server.statuses()
            report.check(f"{capabilities} opens the port", server.ask("OPTIONS", "/")[0] == 200)
            report.check(f"{capabilities} is removed", len(statuses) > 2 and has_no_capabilities(statuses), str(statuses))
            report.check(f"{capabilities} decides whether groups are replaced",
                         all(("0" in status["Groups"].split()) == keeps_groups for status in statuses), str(statuses))
            report.check(f"{capabilities}: the exit status is 0", server.stop() == 0, server.log.read_text())


def units(work, report):
    """The units are correct, and as strict as they claim."""
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        print("SKIPPED: units: systemd-analyze is not installed", flush=True)
        return
    for suffix in ["service", "socket"]:
        unit = (ROOT / "deploy" / "systemd" / f"davit@.{suffix}").read_text()
        # systemd only checks that the program exists, so use one that is installed everywhere.
        for name in [f"davit@.{suffix}", f"davit@srv-files.{suffix}"]:
            (work / name).write_text(unit.replace("/usr/local/bin/davit", "/bin/true"))
    names = [str(work / f"davit@srv-files.{suffix}") for suffix in ["service", "socket"]]
    result = subprocess.run([analyze, "verify", "--man=no", *names], capture_output=True, text=True, timeout=LIMIT_SECONDS)
    complaints = [line for line in result.stderr.splitlines() if "davit" in line]
    report.check("systemd reports no errors", result.returncode == 0 and not complaints, result.stderr)
    result = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=15", "--no-pager", str(work / "davit@.service")],
        capture_output=True, text=True, timeout=LIMIT_SECONDS)
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", result.stdout)
    report.check("the exposure is at most 1.5", result.returncode == 0 and level and float(level.group(1)) <= 1.5,
                 result.stdout[-300:] + result.stderr)


PARTS = [attempts, restrictions, read_only, several_folders, gaps, users, units, suites]


def main(wanted):
    report = Report()
    if platform.system() != "Linux":
        print("SKIPPED: sandbox: only Linux has these restrictions", flush=True)
    else:
        for part in PARTS:
            if wanted and part.__name__ not in wanted:
                continue
            with tempfile.TemporaryDirectory(prefix="davit-sandbox.") as folder:
                try:
                    part(pathlib.Path(folder), report)
                except (RuntimeError, OSError, subprocess.SubprocessError, AttributeError, ValueError) as error:
                    report.check(part.__name__, False, f"{type(error).__name__}: {error}")
    print(f"sandbox: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


parser = argparse.ArgumentParser()
parser.add_argument("--davit", default=os.environ.get("DAVIT", str(ROOT / ".build/release/davit")))
parser.add_argument("--attempts", default=str(ROOT / ".build/debug/SandboxAttempts"))
parser.add_argument("parts", nargs="*", metavar="PART")
given = parser.parse_args()
DAVIT, ATTEMPTS = given.davit, given.attempts
sys.exit(main(given.parts))
