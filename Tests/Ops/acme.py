#!/usr/bin/env python3
"""Tests certificates of an ACME server with pebble, from which davit gets them over both kinds of challenges.

    Tests/Ops/acme.py [--davit PATH] [PART...]

DAVIT is a davit with the trait ACME. Prints a line for each failed check; the last line is `acme: N passed, M failed`.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Deployment"))
from deployment import Report  # noqa: E402

LIMIT_SECONDS = 60
DOMAINS = ["files.example.test", "www.example.test"]
ISSUED = r"certificate issued"
FAILED = r"certificate request failed; keeping the current certificate"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Process:
    """A process whose output is read line by line, and which is ended at the end of the block."""

    def __init__(self, command, environment=None):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("DAVIT_", "PEBBLE_"))}
        clean.update(environment or {})
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=clean, text=True, errors="replace")
        self.lines, self.changed, self.has_ended = [], threading.Condition(), False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip())
                self.changed.notify_all()
        with self.changed:
            self.has_ended = True
            self.changed.notify_all()

    @property
    def text(self):
        with self.changed:
            return "\n".join(self.lines)

    def wait_for(self, pattern, count=1):
        """Returns the line in which a pattern occurs for the given time."""
        def found():
            return [line for line in self.lines if re.search(pattern, line)]
        with self.changed:
            self.changed.wait_for(lambda: len(found()) >= count or self.has_ended, LIMIT_SECONDS)
            if len(found()) < count:
                raise RuntimeError(f"no line with '{pattern}' in: " + " | ".join(self.lines[-8:]))
            return found()[count - 1]

    def stop(self, limit=LIMIT_SECONDS):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(limit)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Authority:
    """pebble and its DNS server, with a certificate of their own for connections to the directory."""

    def __init__(self, work, validity=None, environment=None, tls_port=None, http_port=None, bound_accounts=None):
        self.work = work
        names = ["acme", "management", "dns", "dns_management", "tls", "http"]
        self.ports = dict(zip(names, free_ports(len(names))))
        if tls_port:
            self.ports["tls"] = tls_port
        if http_port:
            self.ports["http"] = http_port
        self.environment = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0", "PEBBLE_AUTHZREUSE": "0",
                            **(environment or {})}
        settings = {
            "listenAddress": f"127.0.0.1:{self.ports['acme']}",
            "managementListenAddress": f"127.0.0.1:{self.ports['management']}",
            "certificate": str(work / "pebble.pem"), "privateKey": str(work / "pebble-key.pem"),
            "httpPort": self.ports["http"], "tlsPort": self.ports["tls"], "ocspResponderURL": "",
            "externalAccountBindingRequired": bool(bound_accounts), "externalAccountMACKeys": bound_accounts or {},
        }
        if validity:
            settings["certificateValidityPeriod"] = validity
        (work / "pebble.json").write_text(json.dumps({"pebble": settings}))
        if not (work / "pebble.pem").exists():
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                 "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                 "-keyout", str(work / "pebble-key.pem"), "-out", str(work / "pebble.pem")],
                check=True, capture_output=True)

    @property
    def directory(self):
        return f"https://localhost:{self.ports['acme']}/dir"

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        dns, management = self.ports["dns"], self.ports["dns_management"]
        names = self.stack.enter_context(Process(
            ["pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "",
             "-tlsalpn01", "", "-dns01", f"127.0.0.1:{dns}", "-management", f"127.0.0.1:{management}"]))
        names.wait_for("Starting management server")
        self.pebble = self.stack.enter_context(Process(
            ["pebble", "-strict", "-config", str(self.work / "pebble.json"), "-dnsserver", f"127.0.0.1:{dns}"],
            self.environment))
        self.pebble.wait_for("ACME directory available")
        return self

    def __exit__(self, *details):
        self.stack.close()

    def resolve(self, name, address):
        """Sets the address of a name."""
        body = json.dumps({"host": name, "addresses": [address]}).encode()
        urllib.request.urlopen(f"http://127.0.0.1:{self.ports['dns_management']}/add-a", body, LIMIT_SECONDS).read()

    def root(self):
        """Returns the certificate of the authority that signs, in PEM."""
        context = ssl.create_default_context(cafile=str(self.work / "pebble.pem"))
        url = f"https://localhost:{self.ports['management']}/roots/0"
        return urllib.request.urlopen(url, timeout=LIMIT_SECONDS, context=context).read().decode()


def davit(work, authority, *options, domains=DOMAINS, environment=None):
    """Starts davit, which listens on the port that the authority connects to."""
    share = work / "share"
    share.mkdir(exist_ok=True)
    command = [DAVIT, "serve", str(share), "--state-dir", str(work / "state"), "--grace", "5", "--host", "127.0.0.1",
               "--port", str(authority.ports["tls"]), "--acme-agree", "--acme-directory", authority.directory,
               "--acme-ca", str(work / "pebble.pem"), *options]
    for domain in domains:
        command += ["--acme", domain]
    return Process(command, environment)


def served(port, name, trusted=None):
    """Returns the certificate that a client gets, in DER; with trusted authorities, it must be valid for the name."""
    if trusted:
        context = ssl.create_default_context(cadata=trusted)
    else:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), LIMIT_SECONDS) as connection:
        with context.wrap_socket(connection, server_hostname=name) as secure:
            return secure.getpeercert(binary_form=True)


def mode(path):
    return path.stat().st_mode & 0o777


def readiness(work):
    done = subprocess.run([DAVIT, "status", "--state-dir", str(work / "state"), str(work / "share")], capture_output=True,
                          text=True, timeout=LIMIT_SECONDS)
    return done.returncode, done.stdout + done.stderr


def tls_challenge(work, report):
    """Certificates are issued over tls-alpn-01, stored with private modes, and served."""
    with Authority(work) as authority, davit(work, authority) as server:
        server.wait_for(ISSUED)
        root = authority.root()
        port = authority.ports["tls"]
        for name in DOMAINS:
            report.check(f"{name} is served", len(served(port, name, root)) > 0)
        folder = work / "state" / "acme"
        for name in ["account-key.pem", "certificate.pem"]:
            report.check(f"mode of {name}", mode(folder / name) == 0o600, oct(mode(folder / name)))
        report.check("mode of the folder", mode(folder) == 0o700, oct(mode(folder)))
        code, text = readiness(work)
        report.check("the server is healthy", code == 0, text)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["acme-tls/1"])
        try:
            with socket.create_connection(("127.0.0.1", port), LIMIT_SECONDS) as connection:
                context.wrap_socket(connection, server_hostname=DOMAINS[0])
            report.check("acme-tls/1 is refused without a challenge", False)
        except ssl.SSLError as error:
            report.check("acme-tls/1 is refused without a challenge", "no application protocol" in str(error), error)
        report.check("the server stops", server.stop() == 0)


def client_certificates(work, report):
    """A challenge is answered although clients need certificates."""
    with Authority(work) as authority:
        with davit(work, authority, "--tls-client-ca", str(work / "pebble.pem")) as server:
            server.wait_for(ISSUED)
            report.check("issued", True)


def http_challenge(work, report):
    """Certificates are issued over http-01, and other plain requests are redirected."""
    [plain, unused] = free_ports(2)
    with Authority(work, http_port=plain) as authority:
        # The port for tls-alpn-01 is not that of the server.
        tls = authority.ports["tls"]
        authority.ports["tls"] = unused
        with davit(work, authority, "--acme-http", str(plain)) as server:
            server.wait_for(ISSUED)
            report.check("served", len(served(unused, DOMAINS[0], authority.root())) > 0)
            connection = http.client.HTTPConnection("127.0.0.1", plain, timeout=LIMIT_SECONDS)
            connection.request("GET", "/a/b?c", headers={"Host": DOMAINS[0]})
            response = connection.getresponse()
            found = (response.status, response.getheader("Location"))
            report.check("redirect", found == (301, f"https://{DOMAINS[0]}:{unused}/a/b?c"), found)
            connection.close()
            connection.request("GET", "/.well-known/acme-challenge/unknown", headers={"Host": DOMAINS[0]})
            report.check("unknown token", connection.getresponse().status == 404)
            connection.close()
        authority.ports["tls"] = tls


def nonces(work, report):
    """Requests whose nonces are refused are repeated."""
    with Authority(work, environment={"PEBBLE_WFE_NONCEREJECT": "30"}) as authority, davit(work, authority) as server:
        server.wait_for(ISSUED)
        report.check("issued", FAILED not in server.text, server.text)


def renewal(work, report):
    """A certificate is renewed while the server runs; the key of the account stays."""
    with Authority(work, validity=12) as authority, davit(work, authority) as server:
        server.wait_for(ISSUED)
        port, root = authority.ports["tls"], authority.root()
        first = served(port, DOMAINS[0], root)
        account = (work / "state/acme/account-key.pem").read_bytes()
        server.wait_for(ISSUED, 2)
        second = served(port, DOMAINS[0], root)
        report.check("another certificate is served", first != second)
        report.check("the account stays", account == (work / "state/acme/account-key.pem").read_bytes())
        report.check("no attempt failed", FAILED not in server.text, server.text)


def failure(work, report):
    """If a domain cannot be validated, the current certificate remains in use, and the reason is logged."""
    with Authority(work) as authority:
        with davit(work, authority) as server:
            server.wait_for(ISSUED)
            before = served(authority.ports["tls"], DOMAINS[0])
            server.stop()
        stored = (work / "state/acme/certificate.pem").read_bytes()
        # Nothing listens there.
        authority.resolve("other.example.test", "127.0.0.9")
        with davit(work, authority, domains=DOMAINS + ["other.example.test"]) as server:
            line = server.wait_for(FAILED)
            report.check("the reason", "other.example.test could not be validated" in line and "Failed to connect" in line, line)
            report.check("another attempt", re.search(r"retry-seconds[=\" ]*\"?3[0-3]\d", line) is not None, line)
            report.check("same certificate", served(authority.ports["tls"], DOMAINS[0]) == before)
            report.check("same file", (work / "state/acme/certificate.pem").read_bytes() == stored)
            report.check("the server stops", server.stop() == 0)


def restart(work, report):
    """A stored certificate is used without contact to the ACME server."""
    with Authority(work) as authority:
        with davit(work, authority) as server:
            server.wait_for(ISSUED)
            before = served(authority.ports["tls"], DOMAINS[0])
            server.stop()
    with socket.create_server(("127.0.0.1", authority.ports["acme"])) as silent, davit(work, authority) as server:
        server.wait_for("davit is ready")
        report.check("same certificate", served(authority.ports["tls"], DOMAINS[0]) == before)
        code, text = readiness(work)
        report.check("the server is healthy", code == 0, text)
        report.check("the server stops", server.stop() == 0)
        silent.setblocking(False)
        try:
            silent.accept()
            report.check("no connection to the ACME server", False)
        except BlockingIOError:
            report.check("no connection to the ACME server", FAILED not in server.text, server.text)


def silence(work, report):
    """A server whose ACME server does not respond serves a temporary certificate, is not ready, and stops soon."""
    authority = Authority(work)
    with socket.create_server(("127.0.0.1", authority.ports["acme"])) as silent, davit(work, authority) as server:
        server.wait_for("davit is ready")
        silent.settimeout(LIMIT_SECONDS)
        with silent.accept()[0]:
            report.check("temporary certificate", len(served(authority.ports["tls"], DOMAINS[0])) > 0)
            code, text = readiness(work)
            report.check("the server is not ready", code != 0 and "certificate" in text, text)
            report.check("the server stops", server.stop(20) == 0)


def external_account(work, report):
    """A new account is bound to an external one."""
    key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
    file = work / "account-key"
    file.write_text(key + "\n")
    file.chmod(0o600)
    with Authority(work, bound_accounts={"kid-1": key}) as authority:
        with davit(work, authority) as server:
            line = server.wait_for(FAILED)
            report.check("the reason without one", "external account" in line, line)
            server.stop()
        with davit(work, authority, "--acme-account", "kid-1", "--acme-account-key-file", str(file),
                   "--acme-email", "admin@example.test") as server:
            server.wait_for(ISSUED)
            report.check("issued", True)


def sandbox(work, report):
    """Certificates are issued and renewed in a sandbox."""
    [plain] = free_ports(1)
    with Authority(work, validity=12, http_port=plain) as authority:
        with davit(work, authority, "--sandbox", "--acme-http", str(plain)) as server:
            server.wait_for(ISSUED, 2)
            report.check("issued", FAILED not in server.text, server.text)
            report.check("the server stops", server.stop() == 0)


def wrong_authority(work, report):
    """A directory whose certificate is not trusted is refused."""
    other = work / "other"
    other.mkdir()
    with Authority(work) as authority:
        Authority(other)
        with davit(work, authority, "--acme-ca", str(other / "pebble.pem")) as server:
            line = server.wait_for(FAILED)
            report.check("the reason", "certificate" in line.split("reason", 1)[1], line)


PARTS = [tls_challenge, client_certificates, http_challenge, nonces, renewal, failure, restart, silence, external_account,
         sandbox, wrong_authority]


def main(wanted):
    report = Report()
    if not shutil.which("pebble") or not shutil.which("pebble-challtestsrv"):
        print("SKIPPED: acme: pebble is not installed", flush=True)
    else:
        for part in PARTS:
            if wanted and part.__name__ not in wanted:
                continue
            with tempfile.TemporaryDirectory(prefix="davit-acme.") as folder:
                try:
                    part(pathlib.Path(folder), report)
                except (RuntimeError, OSError, subprocess.SubprocessError, ValueError) as error:
                    report.check(part.__name__, False, f"{type(error).__name__}: {error}")
    print(f"acme: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


parser = argparse.ArgumentParser()
parser.add_argument("--davit", default=os.environ.get("DAVIT"), required="DAVIT" not in os.environ)
parser.add_argument("parts", nargs="*", metavar="PART")
given = parser.parse_args()
DAVIT = given.davit
sys.exit(main(given.parts))
