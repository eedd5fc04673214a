#!/usr/bin/env python3
"""Follows the guides in docs/deploy and docs/operations.md as a new user does: runs the commands of their `sh` blocks, in order,
and then stores and reads a file with the password that the user has chosen with the link of `davit setup`.

    Tests/Ops/pages.py [--davit PATH]

Requires root. Each guide runs in a network of its own, with empty folders in place of /srv, /etc/davit, /var/lib/davit and the
units. systemd cannot run there, so `systemctl enable --now` starts the command of the unit with the sockets of the unit, as the
user of the service. Prints a line for each failed check; the last line is `pages: N passed, M failed`.
"""
import argparse
import base64
import fcntl
import http.client
import os
import pathlib
import pwd
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Deployment"))
from deployment import Report  # noqa: E402

LIMIT_SECONDS = 60
# Guides that other tests follow: image.py.
NOT_FOLLOWED = {"docker.md"}
UNITS = pathlib.Path("/etc/systemd/system")


def commands(page):
    """Returns the commands of a guide, in order."""
    lines = []
    for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.M | re.S):
        lines += block.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip()]


def stub(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def setting(path, key):
    """Returns the last value of a setting that is not empty, of all its lines after the last empty one."""
    values = []
    for line in path.read_text().splitlines():
        if line.startswith(f"{key}="):
            value = line.partition("=")[2]
            values = values + [value] if value else []
    return values


def systemctl(words):
    """Does what `systemctl` does in the guides."""
    if words[0] == "daemon-reload":
        return 0
    assert words[:2] == ["enable", "--now"], words
    instances = {word.rpartition(".")[0] for word in words[2:]}
    assert len(instances) == 1 and {word.rpartition(".")[2] for word in words[2:]} == {"socket", "service"}, words
    unit = UNITS / instances.pop()
    instance = unit.name.partition("@")[2]
    service, sockets = (pathlib.Path(f"{unit}.{kind}.d/setup.conf") for kind in ("service", "socket"))
    state = pathlib.Path("/var/lib/davit") / instance
    user = pwd.getpwnam("davit")
    environment = {"PATH": os.environ["PATH"], "STATE_DIRECTORY": str(state), "LISTEN_FDS": "0", "HOME": "/"}
    words = {key: shlex.split(setting(service, key)[-1].replace("${STATE_DIRECTORY}", str(state)))
             for key in ("ExecStartPre", "ExecStart")}
    # systemd gives the state folder to the user of the service.
    state.mkdir(parents=True, exist_ok=True)
    for path in [state, *state.rglob("*")]:
        os.chown(path, user.pw_uid, user.pw_gid)
    listeners = []
    for address in setting(sockets, "ListenStream"):
        host, _, port = address.rpartition(":")
        family = socket.AF_INET6 if not host or host.startswith("[") else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1 if host else 0)
        listener.bind((host.strip("[]") or "::", int(port)))
        listener.listen()
        listeners.append(listener)

    def become():
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)

    subprocess.run(words["ExecStartPre"], check=True, preexec_fn=become, env=environment, stdout=subprocess.DEVNULL)
    process = os.fork()
    if process:
        pathlib.Path(os.environ["PAGES_WORK"], "service").write_text(f"{process}")
        return 0
    log = os.open(pathlib.Path(os.environ["PAGES_WORK"], "service.log"), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.setsid()
    # The sockets are the descriptors from 3 on.
    high = [fcntl.fcntl(listener.fileno(), fcntl.F_DUPFD_CLOEXEC, 100) for listener in listeners]
    for index, number in enumerate(high):
        os.dup2(number, 3 + index, inheritable=True)
    environment["LISTEN_FDS"] = str(len(high))
    environment["LISTEN_PID"] = str(os.getpid())
    become()
    os.execvpe(words["ExecStart"][0], words["ExecStart"], environment)
    return 1


def follow(page, davit, work):
    """Runs the commands of a guide, in this namespace. Returns a list of problems."""
    programs = work / "bin"
    programs.mkdir()
    stub(programs, "davit", f'exec {shlex.quote(str(davit))} "$@"')
    # The program of the service.
    stub(programs, "sudo", 'if [ "$1" = -u ]; then user=$2; shift 2; set -- setpriv --reuid "$user" --regid "$user" '
         '--clear-groups "$@"; fi\nexec "$@"')
    stub(programs, "apt", "exit 0")
    stub(programs, "systemctl", f'exec python3 {shlex.quote(__file__)} --systemctl "$@"')
    for name in ("davit@.service", "davit@.socket"):
        shutil.copy(ROOT / "deploy/systemd" / name, UNITS / name)
    home = work / "home"
    home.mkdir()
    (home / "password").write_text("a good password\n")
    work.chmod(0o755)
    home.chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "PAGES_WORK": str(work), "LC_ALL": "C.UTF-8"}
    # A guide without sudo is for users without its rights.
    user = None
    if not any("sudo " in command for command in commands(page)):
        user = pwd.getpwnam("davit")
        os.chown(home, user.pw_uid, user.pw_gid)
    options = {"cwd": home, "env": environment, "stdin": subprocess.DEVNULL}
    if user:
        options |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    problems, output, servers = [], "", []
    try:
        for command in commands(page):
            if command.rstrip().endswith("&"):
                log = open(work / "service.log", "ab")
                words = ["sh", "-c", "exec " + command.rstrip().rstrip("&")]
                servers.append(subprocess.Popen(words, stdout=log, stderr=log, **options))
                wait_until_ready(work)
                continue
            if "doctor" in command:
                wait_until_ready(work)
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=LIMIT_SECONDS, **options)
            output += done.stdout
            if done.returncode:
                problems.append(f"{command}: status {done.returncode}: {done.stdout}{done.stderr}")
                break
        if not problems and any("davit setup" in command for command in commands(page)):
            problems += use(output, work)
    finally:
        log = work / "service.log"
        if problems and log.exists():
            problems.append(log.read_text())
        service = work / "service"
        if service.exists():
            os.kill(int(service.read_text()), signal.SIGTERM)
        for server in servers:
            server.terminate()
            server.wait(LIMIT_SECONDS)
    return problems


def wait_until_ready(work):
    log = work / "service.log"
    for _ in range(LIMIT_SECONDS * 10):
        if log.exists() and "davit is ready" in log.read_text():
            return
        time.sleep(0.1)
    raise RuntimeError("the server is not ready: " + (log.read_text() if log.exists() else ""))


def use(output, work):
    """Stores and reads a file as the output of `davit setup` says."""
    wait_until_ready(work)
    link = re.search(r"https?://\S+/(\?account&name=anna&link=(\S+))", output)
    url = re.search(r"browser +(https?)://([^:/]+)(?::(\d+))?/", output)
    if not link or not url:
        return [f"no link or URL in the output: {output}"]
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    behind_proxy = url[1] == "https" and not url[3]
    if behind_proxy or url[1] == "http":
        connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=LIMIT_SECONDS)
    else:
        connection = http.client.HTTPSConnection("localhost", int(url[3]), timeout=LIMIT_SECONDS, context=context)
    password = "a good password"
    fields = {"Host": url[2]}
    if behind_proxy:
        fields |= {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
    problems = choose_password(connection, link[1], link[2], password, fields)
    fields |= {"Authorization": "Basic " + base64.b64encode(f"anna:{password}".encode()).decode()}
    for method, content, expected in (("PUT", b"hello", 201), ("GET", None, 200), ("DELETE", None, 204)):
        connection.request(method, "/hello.txt", content, fields)
        response = connection.getresponse()
        text = response.read()
        if response.status != expected or method == "GET" and text != b"hello":
            problems.append(f"{method}: {response.status} {text[:200]}")
    return problems


def choose_password(connection, query, token, password, fields):
    """Chooses a password with a link, as a browser does."""
    problems = []
    form = urllib.parse.urlencode({"do": "choose-password", "name": "anna", "link": token, "password": password,
                                   "repeat": password})
    sent = fields | {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    for method, target, content, expected in (("GET", f"/{query}", None, 200), ("POST", "/?account", form, 303),
                                              ("GET", f"/{query}", None, 403)):
        connection.request(method, target, content, sent if content else fields)
        response = connection.getresponse()
        text = response.read()
        if response.status != expected:
            problems.append(f"{method} of the link: {response.status} {text[:200]}")
    return problems


def in_namespace(page, davit):
    """Follows a guide with empty folders in place of those that it changes."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory(prefix="davit-pages-") as work:
        for folder in ("/srv", "/etc/davit", "/var/lib/davit", str(UNITS)):
            os.makedirs(folder, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder], check=True)
        for problem in follow(pathlib.Path(page), pathlib.Path(davit), pathlib.Path(work)):
            print(problem)
            return 1
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", default=os.environ.get("DAVIT", ROOT / ".build/release/davit"), type=pathlib.Path)
    parser.add_argument("--page")
    parser.add_argument("--systemctl", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.systemctl:
        return systemctl(options.systemctl)
    if options.page:
        return in_namespace(options.page, options.davit)
    report = Report()
    try:
        pwd.getpwnam("davit")
    except KeyError:
        subprocess.run(["useradd", "--system", "--no-create-home", "davit"], check=True)
    pages = [*sorted((ROOT / "docs/deploy").glob("*.md")), ROOT / "docs/operations.md"]
    report.check("there are guides", len(pages) >= 5)
    for page in pages:
        if page.name in NOT_FOLLOWED:
            continue
        report.check(f"{page.name} has commands", len(commands(page)) > 1)
        words = [sys.executable, __file__, "--davit", pathlib.Path(options.davit).resolve(), "--page", page]
        done = subprocess.run(["unshare", "--mount", "--net", "--propagation", "private", *words],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        report.check(f"{page.name} works", done.returncode == 0, done.stdout + done.stderr)
    print(f"pages: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
