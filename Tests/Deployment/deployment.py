#!/usr/bin/env python3
"""Tests the deployment of davit: Unix domain sockets, sockets and notifications of a service manager, reverse proxies, logs.

    Tests/Deployment/deployment.py [--davit PATH]

Prints a line for each failed check; the last line is `deployment: N passed, M failed`.
"""

import argparse
import fcntl
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 120


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what} {detail}".rstrip(), flush=True)


class Server:
    """A davit process, which is stopped at the end of the block."""

    def __init__(self, work, *options, environment=None, sockets=(), log=None):
        self.ready = b""
        self.share = work / "share"
        self.share.mkdir(exist_ok=True)
        clean = {name: value for name, value in os.environ.items()
                 if not re.match("DAVIT_|LISTEN_|NOTIFY_|WATCHDOG_|JOURNAL_", name)}
        clean.update(environment or {})
        command = [DAVIT, "serve", str(self.share), "--state-dir", str(work / "state"), "--grace", "5", *options]

        def hand_over():
            # Passes descriptors from 3 on, like a service manager. The process ID, which the environment must contain, is known
            # only after fork.
            numbers = [fcntl.fcntl(number, fcntl.F_DUPFD, 100) for number in sockets]
            for place, number in enumerate(numbers):
                os.dup2(number, 3 + place)
            os.environ.clear()
            os.environ.update(clean, LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(numbers)))

        if sockets:
            self.process = fork_and_execute(command, hand_over, log)
        else:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log or subprocess.PIPE, env=clean)

    def wait_until_ready(self):
        descriptor = self.process.stdout.fileno()
        while not self.ready.endswith(b"\n"):
            if not select.select([descriptor], [], [], LIMIT_SECONDS)[0]:
                raise RuntimeError("davit did not become ready")
            data = os.read(descriptor, 4096)
            if not data:
                raise RuntimeError(f"davit exited with status {self.process.wait()} before it was ready")
            self.ready += data
        return self

    @property
    def port(self):
        return int(re.search(rb"http://[^ ]*:(\d+)/", self.ready).group(1))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Forked:
    """The subset of the interface of subprocess.Popen that the tests use."""

    def __init__(self, pid, output):
        self.pid, self.stdout, self.status = pid, os.fdopen(output, "rb", buffering=0), None

    def poll(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def wait(self, _limit=None):
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


def fork_and_execute(command, prepare, log):
    """Starts a command that inherits descriptors from 3 on. The subprocess module would close or move these descriptors."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            # Use descriptors outside the range of those that are passed.
            high = os.dup2(writer, 200)
            error = os.dup2(log.fileno() if log else 2, 201)
            prepare()
            os.dup2(high, 1)
            os.dup2(error, 2)
            os.closerange(200, 202)
            os.execv(command[0], command)
        finally:
            os._exit(127)
    os.close(writer)
    return Forked(pid, reader)


def exchange(connection, request):
    """Sends bytes, and returns everything received until the end."""
    connection.settimeout(LIMIT_SECONDS)
    connection.sendall(request)
    answer = b""
    while True:
        piece = connection.recv(65536)
        if not piece:
            return answer
        answer += piece


def ask(address, method="OPTIONS", target="/", fields=(), source=None):
    """Returns the status of one request over a Unix domain socket (a path) or an Internet address (a pair)."""
    lines = [f"{method} {target} HTTP/1.1", "Connection: close", *fields]
    if not any(field.lower().startswith("host:") for field in fields):
        lines.append("Host: localhost")
    request = "\r\n".join(lines + ["", ""]).encode()
    if isinstance(address, tuple):
        with socket.create_connection(address, LIMIT_SECONDS, source) as connection:
            answer = exchange(connection, request)
    else:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(address))
            answer = exchange(connection, request)
    return int(answer.split(b" ", 2)[1]) if answer else 0


def local_sockets(work, report):
    path = work / "davit.sock"
    with Server(work, "--unix-socket", str(path), "--unix-socket-mode", "660").wait_until_ready() as server:
        wanted = "davit is ready at http+unix://" + str(path).replace("/", "%2F") + "/\n"
        report.check("the ready line of a local socket", server.ready == wanted.encode(), str(server.ready))
        report.check("a local socket is served", ask(path) == 200)
        report.check("a local socket has the configured mode", path.stat().st_mode & 0o777 == 0o660)
        second = work / "second"
        second.mkdir(exist_ok=True)
        with Server(second, "--unix-socket", str(path)) as other:
            _, text = other.process.communicate(timeout=LIMIT_SECONDS)
            report.check("a socket in use is reported", other.process.returncode == 1 and b"is in use" in text, str(text))
        report.check("a socket in use is still served", ask(path) == 200)
        report.check("the exit status is 0", server.stop() == 0)
    report.check("a local socket is removed on exit", not path.exists())

    with Server(work, "--unix-socket", str(path)).wait_until_ready() as server:
        server.process.kill()
        server.process.wait()
    report.check("a killed server leaves its socket", path.exists())
    with Server(work, "--unix-socket", str(path), "--port", "0").wait_until_ready() as server:
        report.check("the next server replaces the socket", ask(path) == 200)
        report.check("a local socket is served in addition to a port", ask(("127.0.0.1", server.port)) == 200)
        report.check("Internet addresses come first", server.ready.startswith(b"davit is ready at http://127."))
        server.stop()


def service_manager(work, report):
    internet = socket.create_server(("127.0.0.1", 0))
    path = work / "activated.sock"
    local = socket.socket(socket.AF_UNIX)
    local.bind(str(path))
    local.listen()
    messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    messages.bind(str(work / "notify"))
    messages.settimeout(LIMIT_SECONDS)
    # A client that connects before the server has started is answered afterwards.
    early = socket.create_connection(internet.getsockname(), LIMIT_SECONDS)
    environment = {"NOTIFY_SOCKET": str(work / "notify"), "WATCHDOG_USEC": "200000"}
    with Server(work, environment=environment, sockets=[internet.fileno(), local.fileno()]) as server:
        answer = exchange(early, b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        report.check("a connection made before the start is answered", answer.startswith(b"HTTP/1.1 200 "))
        server.wait_until_ready()
        port = internet.getsockname()[1]
        wanted = f"davit is ready at http://127.0.0.1:{port}/ and http+unix://{str(path).replace('/', '%2F')}/\n"
        report.check("only passed sockets are used", server.ready == wanted.encode(), str(server.ready))
        report.check("the manager receives READY=1", messages.recv(100) == b"READY=1")
        report.check("an Internet socket is served", ask(("127.0.0.1", port)) == 200)
        report.check("a local socket is served", ask(path) == 200)
        report.check("the watchdog is notified", messages.recv(100) == b"WATCHDOG=1")
        server.process.send_signal(signal.SIGHUP)
        told = []
        while len(told) < 2:
            message = messages.recv(100)
            if message != b"WATCHDOG=1":
                told.append(message)
        holds = told[0].startswith(b"RELOADING=1\nMONOTONIC_USEC=") and told[1] == b"READY=1"
        report.check("the manager receives RELOADING=1 and READY=1", holds, str(told))
        server.process.send_signal(signal.SIGTERM)
        last = b"WATCHDOG=1"
        while last == b"WATCHDOG=1":
            last = messages.recv(100)
        report.check("the manager receives STOPPING=1", last == b"STOPPING=1", str(last))
        report.check("the exit status is 0", server.process.wait(LIMIT_SECONDS) == 0)
    report.check("the path of a passed socket is kept", path.exists())
    local.close()
    internet.close()

    exposed = socket.create_server(("0.0.0.0", 0))
    with open(work / "exposed.log", "w+b") as log, Server(work, sockets=[exposed.fileno()], log=log) as server:
        status = server.process.wait(LIMIT_SECONDS)
        log.seek(0)
        text = log.read()
        report.check("a socket that all users can access requires accounts", status == 1 and b"anyone who can reach 0.0.0.0" in text, str(text))
    exposed.close()
    with open(os.devnull) as file, open(work / "file.log", "w+b") as log:
        with Server(work, sockets=[file.fileno()], log=log) as server:
            status = server.process.wait(LIMIT_SECONDS)
            log.seek(0)
            report.check("a descriptor that is not a socket is refused", status == 1 and b"descriptor 3" in log.read())


def journal(work, report):
    reader, writer = os.pipe()
    status = os.fstat(writer)
    log = os.fdopen(writer, "wb", buffering=0)
    for stream, pattern in [
        (f"{status.st_dev}:{status.st_ino}", rb'<6>127\.0\.0\.1 - "OPTIONS / HTTP/1\.1" 200 '),
        (f"{status.st_dev}:{status.st_ino + 1}", rb'20\d\d-.*Z access 127\.0\.0\.1 - "OPTIONS / HTTP/1\.1" 200 '),
    ]:
        options = ["--port", "0", "--log-level", "access"]
        with Server(work, *options, environment={"JOURNAL_STREAM": stream}, log=log).wait_until_ready() as server:
            ask(("127.0.0.1", server.port))
            server.stop()
        text = os.read(reader, 65536)
        report.check(f"lines for the stream {stream}", re.match(pattern, text) is not None, str(text))
    log.close()
    os.close(reader)


NGINX = """
{user}daemon off; pid {work}/nginx.pid; error_log {work}/nginx-error.log; events {{ }}
http {{
    access_log off; client_body_temp_path {work}/body; proxy_temp_path {work}/proxy;
    fastcgi_temp_path {work}/f; uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass {upstream};
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto https;
            proxy_set_header X-Forwarded-Host $http_host;
            proxy_set_header Forwarded "";
        }}
    }}
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Nginx:
    def __init__(self, work, upstream):
        self.port = free_port()
        configuration = work / "nginx.conf"
        # Without this, the workers of nginx would drop the privileges of root and could not access the folder of the test.
        user = "user root; " if os.geteuid() == 0 else ""
        configuration.write_text(NGINX.format(work=work, port=self.port, upstream=upstream, user=user))
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([nginx, "-p", str(work), "-c", str(configuration)], stderr=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(2400):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                select.select([], [], [], 0.05)
        raise RuntimeError("nginx did not start")

    def __exit__(self, kind, error, trace):
        self.process.terminate()
        self.process.wait(LIMIT_SECONDS)


def behind_nginx(work, report):
    path = work / "upstream.sock"
    access = work / "access.json"
    for name, options, upstream in [
        ("a port", ["--port", "0", "--trusted-proxy", "127.0.0.1"], "http://127.0.0.1:{port}"),
        ("a local socket", ["--unix-socket", str(path), "--trusted-proxy", "unix"], f"http://unix:{path}:"),
    ]:
        access.unlink(missing_ok=True)
        options += ["--access-log", str(access), "--access-log-format", "json",
                    "--public-url", "https://ours.example"]
        with Server(work, *options).wait_until_ready() as server:
            port = server.port if "{port}" in upstream else 0
            with Nginx(work, upstream.format(port=port)) as nginx:
                address = ("127.0.0.1", nginx.port)
                source = ("127.0.0.9", 0)
                (server.share / "a.txt").write_text("a")
                host = "Host: localhost:8443"
                spoof = "X-Forwarded-For: 192.0.2.66"
                status = ask(address, "GET", "/a.txt", [host, spoof, 'Forwarded: for=192.0.2.67;host="x'], source)
                report.check(f"GET through nginx to {name}", status == 200, str(status))
                moved = ask(
                    address, "MOVE", "/a.txt", [host, "Destination: https://localhost:8443/b.txt"], source)
                report.check(f"the Destination of a client is accepted behind {name}", moved == 201, str(moved))
                foreign = ask(
                    address, "MOVE", "/b.txt", [host, "Destination: https://other.example/c.txt"], source)
                report.check(f"a Destination on another host is refused behind {name}", foreign == 502, str(foreign))
                rebound = ask(address, "GET", "/b.txt", ["Host: evil.example"], source)
                report.check(f"an unknown host is refused behind {name}", rebound == 421, str(rebound))
                unlocked = ask(
                    address, "PUT", "/d.txt", [host, "X-Forwarded-For: \x01\x02", "Content-Length: 0"], source)
                report.check(f"a malformed field causes no failure behind {name}", unlocked in (201, 400), str(unlocked))
            report.check("davit exits cleanly", server.stop() == 0)
        records = [json.loads(line) for line in access.read_text().splitlines()]
        gets = [record for record in records if record.get("target") == "/a.txt" and record["method"] == "GET"]
        seen = [(record["peer"], record["tls"]) for record in gets]
        report.check(f"the log contains the client's address behind {name}", seen == [("127.0.0.9", True)], str(records))
        for file in server.share.iterdir():
            file.unlink()


# The files that each recipe requires, and the name of its configuration file.
PROXIES = {
    "nginx": (["/usr/sbin/nginx"], "nginx.conf"),
    "caddyfile": (["/usr/bin/caddy"], "Caddyfile"),
    "apache": (["/usr/sbin/apache2", "/usr/lib/apache2/modules/mod_proxy_http.so"], "apache.conf"),
}
# docs/proxies.md, "Below a path": the changes to the recipe, and the options of davit.
PLACES = {
    "a whole host": ("", {}, ["--public-url", "https://files.example.org"]),
    "a path that is passed on": ("/dav", {
        "nginx": [("location / {", "location /dav/ {")],
        "caddyfile": [("handle /* {", "handle /dav/* {")],
        "apache": [("ProxyPass / http://127.0.0.1:8080/ nocanon",
                    "ProxyPass /dav/ http://127.0.0.1:8080/dav/ nocanon")],
    }, ["--prefix", "/dav", "--public-url", "https://files.example.org"]),
    "a path that is removed": ("/dav", {
        "nginx": [("location / {", "location /dav/ {"),
                  ("proxy_pass http://127.0.0.1:8080;", "proxy_pass http://127.0.0.1:8080/;")],
        "caddyfile": [("handle /* {", "handle_path /dav/* {")],
        "apache": [("ProxyPass / http://127.0.0.1:8080/ nocanon",
                    "ProxyPass /dav/ http://127.0.0.1:8080/ nocanon")],
    }, ["--public-url", "https://files.example.org/dav"]),
}
APACHE = """
ServerRoot {work}
PidFile {work}/apache.pid
ErrorLog {work}/apache-error.log
Listen 127.0.0.1:{port}
ServerName files.example.org
{modules}
"""
APACHE_MODULES = ["mpm_event", "authz_core", "ssl", "headers", "proxy", "proxy_http", "env", "socache_shmcb"]


def recipe(kind, place, work, port, upstream):
    """Returns the command for a proxy with the documented configuration, adapted to the ports and files of this test."""
    text = (HERE.parent.parent / "docs" / "proxies.md").read_text()
    block = re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL).group(1)
    for old, new in PLACES[place][1].get(kind, []):
        if block.count(old) != 1 or f"`{new}`" not in text:
            raise ValueError(f"the recipe for {kind} in docs/proxies.md cannot be adapted to {place}")
        block = block.replace(old, new)
    block = block.replace("/etc/ssl/", f"{work}/").replace("127.0.0.1:8080", f"127.0.0.1:{upstream}")
    name = work / PROXIES[kind][1]
    if kind == "nginx":
        user = "user root; " if os.geteuid() == 0 else ""
        block = block.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
        temporary = " ".join(f"{module}_temp_path {work}/{module};" for module in
                             ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        block = (f"{user}daemon off; pid {work}/nginx.pid; error_log {work}/nginx-error.log; events {{ }}\n"
                 f"http {{ access_log off; {temporary}\n{block}\n}}\n")
        command = ["/usr/sbin/nginx", "-p", str(work), "-c", str(name)]
    elif kind == "caddyfile":
        block = block.replace("files.example.org {", f"https://files.example.org:{port} {{\nbind 127.0.0.1")
        block = f"{{\nadmin off\nauto_https disable_redirects\nstorage file_system {work}/caddy\n}}\n{block}"
        command = ["/usr/bin/caddy", "run", "--config", str(name), "--adapter", "caddyfile"]
    else:
        modules = "".join(f"LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n"
                          for module in APACHE_MODULES)
        head = APACHE.format(work=work, port=port, modules=modules)
        block = head + block.replace("*:443", f"127.0.0.1:{port}")
        command = ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", str(name)]
    name.write_text(block)
    return command


class Proxy:
    """A reverse proxy with TLS in front of davit."""

    def __init__(self, kind, place, work, upstream):
        self.work, self.port = work, free_port()
        self.log = open(work / "proxy.log", "wb")
        command = recipe(kind, place, work, self.port, upstream)
        environment = dict(os.environ, HOME=str(work), XDG_DATA_HOME=str(work), XDG_CONFIG_HOME=str(work))
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, env=environment, start_new_session=True)

    def __enter__(self):
        for _ in range(2400):
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                select.select([], [], [], 0.05)
        self.__exit__(None, None, None)
        raise RuntimeError("the proxy did not start: " + (self.work / "proxy.log").read_text()[-2000:])

    def __exit__(self, kind, error, trace):
        # All processes of the proxy, and without SIGTERM, on which it would wait for its connections.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(LIMIT_SECONDS)
        self.log.close()

    @property
    def authority(self):
        return f"files.example.org:{self.port}"

    def connect(self):
        # Without the authorities of the system, which take tens of milliseconds to read.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", self.port), LIMIT_SECONDS)
        return context.wrap_socket(plain, server_hostname="files.example.org")

    def ask(self, method, target, fields=(), content=b""):
        """Returns the status and the whole response."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.authority}", "Connection: close", *fields]
        if content:
            lines.append(f"Content-Length: {len(content)}")
        with self.connect() as connection:
            answer = exchange(connection, "\r\n".join(lines + ["", ""]).encode() + content)
        return int(answer.split(b" ", 2)[1]) if answer else 0, answer.decode(errors="replace")

    def begin(self, connection, target, fields=()):
        """Returns the response to GET after reading the head; the caller reads the content."""
        lines = [f"GET {target} HTTP/1.1", f"Host: {self.authority}", "Connection: close", *fields, "", ""]
        connection.sendall("\r\n".join(lines).encode())
        response = http.client.HTTPResponse(connection, method="GET")
        response.begin()
        return response

    def read(self, target, fields=()):
        """Returns the status, the fields and the content."""
        with self.connect() as connection:
            response = self.begin(connection, target, fields)
            return response.status, response.headers, response.read()


LOCK = b"""<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>\
<D:locktype><D:write/></D:locktype></D:lockinfo>"""


def through(proxy, prefix, server, report, name):
    """Checks the URLs that clients send and receive."""
    url = f"https://{proxy.authority}{prefix}"

    def check(what, holds, detail=""):
        report.check(f"{name}: {what}", holds, detail)

    status, answer = proxy.ask("MKCOL", f"{prefix}/d%20%C3%A9/")
    check("MKCOL", status == 201, answer)
    for file in ["a", "b%23", "c%252F"]:
        status, answer = proxy.ask("PUT", f"{prefix}/d%20%C3%A9/{file}", content=b"1")
        check(f"PUT of {file}", status == 201, answer)
    status, answer = proxy.ask("PROPFIND", f"{prefix}/d%20%C3%A9/", ["Depth: 1"])
    hrefs = sorted(re.findall(r"<D:href>(.*?)</D:href>", answer))
    wanted = [f"{prefix}/d%20%C3%A9/{file}" for file in ["", "a", "b%23", "c%252F"]]
    check("hrefs are those of the client", status == 207 and hrefs == wanted, answer)
    moved = proxy.ask("MOVE", f"{prefix}/d%20%C3%A9/a", [f"Destination: {url}/e"])
    check("MOVE with the URL of the client", moved[0] == 201, str(moved))
    copied = proxy.ask("COPY", f"{prefix}/e", [f"Destination: {prefix}/f%20g"])
    check("COPY with a path", copied[0] == 201, str(copied))
    foreign = proxy.ask("MOVE", f"{prefix}/e", ["Destination: https://other.example/e2"])
    check("a Destination elsewhere", foreign[0] == 502, str(foreign))
    status, answer = proxy.ask("LOCK", f"{prefix}/e", content=LOCK)
    token = re.search(r"\r\nlock-token: (<.*?>)", answer, re.IGNORECASE)
    check("LOCK", status == 200 and f"<D:lockroot><D:href>{prefix}/e</D:href>" in answer, answer)
    if token:
        token = token.group(1)
        locked = proxy.ask("PUT", f"{prefix}/e", content=b"2")
        check("a locked resource", locked[0] == 423 and f"<D:href>{prefix}/e</D:href>" in locked[1], str(locked))
        held = proxy.ask("PUT", f"{prefix}/e", [f"If: <{url}/e> ({token})"], b"2")
        check("a tagged If", held[0] == 204, str(held))
        freed = proxy.ask("UNLOCK", f"{prefix}/e", [f"Lock-Token: {token}"])
        check("UNLOCK", freed[0] == 204, str(freed))
    options = proxy.ask("OPTIONS", f"{prefix}/")
    check("OPTIONS", options[0] == 200 and "\r\ndav: 1, 2, 3" in options[1].lower(), str(options))
    page(proxy, prefix, check)
    events(proxy, prefix, check)
    upload(proxy, prefix, server, check)


def page(proxy, prefix, check):
    """Checks the page, and the files that it refers to."""
    status, _, content = proxy.read(f"{prefix}/d%20%C3%A9/", ["Accept: text/html"])
    text = content.decode()
    check("the page for browsers", status == 200 and "<html" in text, text[:200])
    data = re.search(r'<script[^>]* id="davit">(.*?)</script>', text, re.DOTALL)
    if not data:
        check("the page contains its data", False, text[:2000])
        return
    data = json.loads(data.group(1))
    places = (data["root"], data["path"])
    check("the page data contain the URL of the page", places == (f"{prefix}/", f"{prefix}/d%20%C3%A9/"), str(places))
    wanted = set(re.findall(r'(?:src|href)="([^"]*\.(?:js|css))"', text))
    of_page = data["files"].startswith(f"{prefix}/.davit-") and all(file.startswith(data["files"]) for file in wanted)
    check("the URLs of the page's files have the prefix", wanted and of_page, f"{data['files']} {sorted(wanted)}")
    for file in sorted(wanted):
        status, fields, content = proxy.read(file)
        check(f"{file.rsplit('/', 1)[1]} of the page", status == 200 and content and "immutable" in fields["Cache-Control"],
              f"{status} {fields}")


def events(proxy, prefix, check):
    """Checks that events arrive while the stream is open, so that no program on the path buffers the stream."""
    with proxy.connect() as connection:
        connection.settimeout(LIMIT_SECONDS)
        stream = proxy.begin(connection, f"{prefix}/d%20%C3%A9/?events")
        kind = stream.headers.get("Content-Type", "")
        check("the event stream opens", stream.status == 200 and kind.startswith("text/event-stream"), f"{stream.status} {kind}")
        if stream.status != 200:
            return
        made = proxy.ask("PUT", f"{prefix}/d%20%C3%A9/told", content=b"1")
        check("a change is sent while the stream is open", made[0] == 201, str(made))
        line = stream.readline()
        while line and not line.startswith(b"data: "):
            line = stream.readline()
        check("the event contains the URL of the client", line == f"data: + {prefix}/d%20%C3%A9/told\n".encode(), str(line))


def upload(proxy, prefix, server, check):
    """Sends the second half of a large upload only after the first one is on davit's disk."""
    half = 16 << 20

    def written():
        text = pathlib.Path(f"/proc/{server.process.pid}/io").read_text()
        return int(re.search(r"wchar: (\d+)", text).group(1))

    if not pathlib.Path("/proc/self/io").exists():
        return
    before = written()
    with proxy.connect() as connection:
        connection.settimeout(LIMIT_SECONDS)
        head = [f"PUT {prefix}/large HTTP/1.1", f"Host: {proxy.authority}", "Connection: close",
                f"Content-Length: {2 * half}", "", ""]
        connection.sendall("\r\n".join(head).encode() + bytes(half))
        for _ in range(2400):
            if written() - before >= half // 2:
                break
            select.select([], [], [], 0.05)
        check("a large upload is streamed", written() - before >= half // 2, str(written() - before))
        answer = exchange(connection, bytes(half))
    size = (server.share / "large").stat().st_size if (server.share / "large").exists() else -1
    check("a large upload is complete", answer.startswith(b"HTTP/1.1 201") and size == 2 * half, f"{answer[:100]} {size}")


def recipes(work, report):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=files.example.org", "-addext", "subjectAltName=DNS:files.example.org",
         "-keyout", str(work / "files.key"), "-out", str(work / "files.pem")], check=True, stderr=subprocess.DEVNULL)
    for kind, (needed, _) in PROXIES.items():
        missing = [path for path in needed if not pathlib.Path(path).exists()]
        if missing:
            print(f"skipped: the recipe for {kind}: {missing[0]} is not installed", flush=True)
            continue
        for place, (prefix, _, options) in PLACES.items():
            folder = work / f"{kind}-{list(PLACES).index(place)}"
            folder.mkdir()
            for file in ["files.key", "files.pem"]:
                shutil.copy(work / file, folder)
            name = f"{kind}, {place}"
            with Server(folder, "--port", "0", "--trusted-proxy", "127.0.0.1", *options) as server:
                server.wait_until_ready()
                try:
                    with Proxy(kind, place, folder, server.port) as proxy:
                        through(proxy, prefix, server, report, name)
                except (RuntimeError, OSError, ValueError, IndexError) as error:
                    report.check(name, False, f"{type(error).__name__}: {error}")
                report.check(f"{name}: the exit status is 0", server.stop() == 0)


def access_log(work, report):
    access = work / "combined.log"
    with Server(work, "--port", "0", "--access-log", str(access)).wait_until_ready() as server:
        agent = 'User-Agent: a"b\\c\u00e9'
        ask(("127.0.0.1", server.port), "OPTIONS", "/", [agent, "Referer: http://r/"])
        # Rename the file, as logrotate does.
        old = access.rename(work / "combined.log.1")
        server.process.send_signal(signal.SIGHUP)
        for _ in range(2400):
            if access.exists():
                break
            select.select([], [], [], 0.05)
        ask(("127.0.0.1", server.port), "GET", "/none")
        server.stop()
    report.check("SIGHUP opens a new file", '"GET /none HTTP/1.1" 404 ' in access.read_text())
    access = old
    line = access.read_text()
    pattern = r'127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:[\d:]{8} \+0000\] "OPTIONS / HTTP/1\.1" 200 0 '
    pattern += r'"http://r/" "a\\x22b\\x5cc\\xc3\\xa9"\n'
    report.check("the combined format is written", re.fullmatch(pattern, line) is not None, line)
    bad = work / "missing" / "log"
    with Server(work, "--port", "0", "--access-log", str(bad)) as server:
        _, text = server.process.communicate(timeout=LIMIT_SECONDS)
        told = server.process.returncode == 1 and b"access log" in text and b"No such file" in text
        report.check("an unwritable access log is reported", told, str(text))


def main():
    report = Report()
    for part in [local_sockets, service_manager, journal, access_log, behind_nginx, recipes]:
        with tempfile.TemporaryDirectory(prefix="davit-deployment.") as folder:
            try:
                part(pathlib.Path(folder), report)
            except (RuntimeError, OSError, subprocess.TimeoutExpired, AttributeError, ValueError) as error:
                report.check(part.__name__, False, f"{type(error).__name__}: {error}")
    print(f"deployment: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(HERE.parent.parent / ".build/release/davit")))
    DAVIT = parser.parse_args().davit
    sys.exit(main())
