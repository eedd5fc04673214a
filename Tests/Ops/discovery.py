#!/usr/bin/env python3
"""Tests how davit is found in the local network, with two machines in network namespaces of their own, each with a message bus
and an avahi-daemon.

    Tests/Ops/discovery.py [--davit PATH]

Requires root. Prints a line for each failed check; the last line is `discovery: N passed, M failed`.
"""

import argparse
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "Deployment"))
import deployment  # noqa: E402
from deployment import LIMIT_SECONDS, Report, Server, ask  # noqa: E402

INSIDE = "DAVIT_TEST_DISCOVERY"
TOOLS = ["avahi-daemon", "avahi-browse", "avahi-publish", "dbus-daemon", "ip", "nsenter", "unshare"]
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy>
</busconfig>
"""


class Lines:
    """The lines that a process writes to a pipe."""

    def __init__(self, descriptor=None):
        self.writer = None
        if descriptor is None:
            descriptor, number = os.pipe()
            self.writer = os.fdopen(number, "wb", buffering=0)
        self.descriptor, self.rest, self.seen = descriptor, b"", []

    def until(self, pattern, seconds=LIMIT_SECONDS):
        """Returns the first new line that contains a match of the pattern, or None if none arrives in time."""
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                self.seen.append(line.decode(errors="replace"))
                if re.search(pattern, self.seen[-1]):
                    return self.seen[-1]
            if not select.select([self.descriptor], [], [], seconds)[0]:
                return None
            data = os.read(self.descriptor, 4096)
            if not data:
                return None
            self.rest += data


class Machine:
    """A network namespace with a bus and an avahi-daemon, which has a folder /run/avahi-daemon of its own."""

    def __init__(self, work, name, holder=None):
        self.work, self.name = work / name, name
        self.work.mkdir()
        self.inside = ["nsenter", "-t", str(holder.pid), "-n", "-m", "--"] if holder else []
        self.environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.work}/bus"}
        self.run("mkdir", "-p", "/run/avahi-daemon")
        self.run("mount", "-t", "tmpfs", "none", "/run/avahi-daemon")
        (self.work / "bus.conf").write_text(BUS.format(path=self.work / "bus"))
        (self.work / "avahi.conf").write_text(f"[server]\nhost-name={name}\n[publish]\npublish-hinfo=no\npublish-workstation=no\n")
        self.processes = []
        self.bus = self.avahi = None

    def run(self, *words):
        subprocess.run([*self.inside, *words], check=True, env=self.environment)

    def cable(self, name, peer, address):
        """Adds an interface with an address, and the other end of its cable."""
        self.run("ip", "link", "add", name, "type", "veth", "peer", "name", peer)
        self.run("ip", "link", "set", peer, "up")
        self.run("ip", "link", "set", name, "up")
        self.run("ip", "addr", "add", address, "dev", name)

    def start(self, *words, **options):
        process = subprocess.Popen([*self.inside, *words], stdin=subprocess.DEVNULL, env=self.environment, **options)
        self.processes.append(process)
        return process

    def start_bus(self):
        self.bus = self.start("dbus-daemon", f"--config-file={self.work}/bus.conf", "--nofork", "--print-address",
                              stdout=subprocess.PIPE)
        Lines(self.bus.stdout.fileno()).until("unix:")

    def start_avahi(self):
        self.avahi = self.start("avahi-daemon", "-f", str(self.work / "avahi.conf"), "--no-drop-root", "--no-rlimits",
                                stderr=subprocess.PIPE)
        return Lines(self.avahi.stderr.fileno()).until("Server startup complete")

    def stop(self, process):
        process.terminate()
        process.wait(LIMIT_SECONDS)

    def browse(self, kind):
        """Returns the lines of avahi-browse: `+` for a name, `=` for its address, `-` if it has been withdrawn."""
        return Lines(self.start("avahi-browse", "-rpk", kind, stdout=subprocess.PIPE, bufsize=0).stdout.fileno())

    def end(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
                process.wait()


def found(name, kind, interface="lan1", host="one.local", port=r"\d+", properties=""):
    """A pattern of avahi-browse for a resolved service. Spaces and parentheses are decimal escapes there."""
    shown = "".join(c if c.isalnum() else f"\\{ord(c):03}" for c in name)
    return re.escape(f"=;{interface};IPv4;{shown};{kind};local;{host};") + rf"[0-9.]+;{port};{properties}"


def withdrawn(name, kind):
    return "^" + found(name, kind).split(";local")[0].replace("=", "-", 1)


def serve(one, work, log, *options, name="Office files"):
    return Server(work, "--host", "*", "--port", "0", "--announce", name, *options, log=log.writer,
                  environment={"DBUS_SYSTEM_BUS_ADDRESS": one.environment["DBUS_SYSTEM_BUS_ADDRESS"]})


def announcing(one, two, work, report):
    log, webdav, web = Lines(), two.browse("_webdav._tcp"), two.browse("_http._tcp")
    with serve(one, work, log, "--user", "anna:secret").wait_until_ready() as server:
        port = re.search(rb"http://0.0.0.0:(\d+)/", server.ready).group(1).decode()
        line = log.until("server announced in the local network")
        report.check("the log contains the name and the interfaces, without bridges",
                     line and 'name="Office files" interfaces=lan0' in line, str(log.seen))
        line = webdav.until(found("Office files", "_webdav._tcp", port=port))
        report.check("the other machine resolves the share", line and line.endswith('"u=anna" "path=/"'), str(webdav.seen))
        line = web.until(found("Office files", "_http._tcp", port=port))
        report.check("the other machine resolves the website", line and line.endswith(';"path=/"'), str(web.seen))

        # An interface that appears later.
        one.cable("late0", "veth1", "10.78.0.1/24")
        report.check("a new interface is used", log.until("interfaces=(lan0,late0|late0,lan0)"), str(log.seen))
        one.run("ip", "link", "del", "late0")
        report.check("a removed interface is not", log.until("interfaces=lan0$"), str(log.seen))

        one.stop(one.avahi)
        report.check("the log reports that avahi-daemon has ended", log.until("avahi-daemon is not running"), str(log.seen))
        report.check("the service disappears with avahi-daemon", webdav.until(withdrawn("Office files", "_webdav._tcp")),
                     str(webdav.seen))
        one.start_avahi()
        report.check("a restarted avahi-daemon announces it again", webdav.until(found("Office files", "_webdav._tcp", port=port)),
                     str(webdav.seen))
        log.until("server announced in the local network")

        report.check("the exit status is 0", server.stop() == 0)
        report.check("the service is withdrawn when the server stops", webdav.until(withdrawn("Office files", "_webdav._tcp")),
                     str(webdav.seen))


def clash(one, two, work, report):
    published = Lines(two.start("avahi-publish", "-s", "Office", "_webdav._tcp", "9", stderr=subprocess.PIPE,
                                bufsize=0).stderr.fileno())
    published.until("Established")
    log, second, names = Lines(), Lines(), two.browse("_webdav._tcp")
    with serve(one, work, log, "--user", "a:b", name="Office").wait_until_ready() as server:
        line = log.until("server announced in the local network")
        report.check("a name of another machine gets a number", line and 'name="Office (2)"' in line, str(log.seen))
        report.check("the other machine sees the number", names.until(found("Office (2)", "_webdav._tcp")), str(names.seen))
        other = work / "other"
        other.mkdir()
        with serve(one, other, second, "--user", "a:b", name="Office").wait_until_ready() as next_server:
            line = second.until("server announced in the local network")
            report.check("the names of two servers on this machine differ", line and 'name="Office (3)"' in line, str(second.seen))
            next_server.stop()
        server.stop()


def late_daemon(one, two, work, report):
    """A server that starts before the bus and avahi-daemon."""
    one.stop(one.avahi)
    one.stop(one.bus)
    log = Lines()
    with serve(one, work, log, "--user", "anna:secret", "--tls-self-signed", "--prefix", "/dav").wait_until_ready() as server:
        report.check("the log reports that there is no bus", log.until("no connection to the system's message bus"), str(log.seen))
        one.start_bus()
        report.check("the log reports that avahi-daemon is missing", log.until("avahi-daemon is not running"), str(log.seen))
        names = two.browse("_webdavs._tcp")
        one.start_avahi()
        line = names.until(found("Office files", "_webdavs._tcp"))
        report.check("the server is announced later, with TLS and a prefix", line and '"path=/dav/"' in line, str(names.seen))
        server.process.kill()
        report.check("the service of a killed server is withdrawn", names.until(withdrawn("Office files", "_webdavs._tcp")),
                     str(names.seen))


def restricted(one, two, work, report):
    """A server in the sandbox, and one that only this machine can reach."""
    log = Lines()
    with serve(one, work, log, "--user", "a:b", "--sandbox", "--announce-on", "docker0").wait_until_ready() as server:
        line = log.until("server announced in the local network|not announced")
        report.check("a sandboxed server is announced on a named interface", line and "interfaces=docker0" in line, str(log.seen))
        server.stop()
    log = Lines()
    with Server(work, "--port", "0", "--announce", "Mine", log=log.writer).wait_until_ready() as server:
        report.check("a server on loopback addresses is not announced", log.until("server not announced: it listens only"),
                     str(log.seen))
        report.check("it serves nevertheless", ask(("127.0.0.1", server.port), "OPTIONS", "/") == 200)
        server.stop()


def windows(one, two, work, report):
    """A server that Windows lists: Hello, Probe, Resolve, Get and Bye, over IPv4 and IPv6."""
    client = [sys.executable, str(HERE / "wsd_client.py")]
    heard, log = Lines(two.start(*client, "listen", "lan1", stdout=subprocess.PIPE).stdout.fileno()), Lines()
    heard.until("listening")
    with serve(one, work, log, "--user", "a:b", "--announce-windows").wait_until_ready() as server:
        port = re.search(rb"http://0.0.0.0:(\d+)/", server.ready).group(1).decode()
        line = log.until("server announced to Windows")
        report.check("the log contains the name and the interfaces", line and 'name="Office files" interfaces=lan0' in line,
                     str(log.seen))
        addresses = {}
        for family, pattern in [("4", r"^4 Hello http://10\.77\.0\.1:5357/[-0-9a-f]{36}$"),
                                ("6", r"^6 Hello http://\[fe80::[0-9a-f:]+\]:5357/[-0-9a-f]{36}$")]:
            line = next((line for line in heard.seen if re.search(pattern, line)), None) or heard.until(pattern) or ""
            report.check(f"the server says Hello over IPv{family}", line, str(heard.seen))
            addresses[family] = line.rsplit(" ", 1)[-1]
        for attempt in "before", "after":
            for family, address in addresses.items():
                done = subprocess.run([*two.inside, *client, "ask", "lan1", family], capture_output=True, text=True,
                                      timeout=LIMIT_SECONDS)
                answer = json.loads(done.stdout or "{}")
                host = address.split("/")[2].rsplit(":", 1)[0]
                wanted = {"action": "ProbeMatches", "types": "wsdp:Device", "addresses": address, "resolved": address,
                          "status": 200, "name": "Office files", "category": "Storage.NAS",
                          "presentation": f"http://{host}:{port}/", "malformed": 400, "other-type": 415}
                report.check(f"the server answers over IPv{family} {attempt} malformed datagrams", answer == wanted,
                             f"{answer} {done.stderr}")
                if attempt == "before":
                    two.run(*client, "noise", "lan1", family)
        report.check("the exit status is 0", server.stop() == 0)
        report.check("the server says Bye", heard.until("^[46] Bye"), str(heard.seen))


def inside(report):
    holder = subprocess.Popen(["unshare", "-n", "-m", "sh", "-c", "echo; exec sleep 100000"], stdout=subprocess.PIPE)
    holder.stdout.readline()
    with tempfile.TemporaryDirectory(prefix="davit-discovery.") as folder:
        folder = pathlib.Path(folder)
        one, two = Machine(folder, "one"), Machine(folder, "two", holder)
        try:
            one.run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan1", "netns", str(holder.pid))
            one.cable("docker0", "veth0", "172.17.0.1/16")
            for machine, device, address in [(one, "lan0", "10.77.0.1/24"), (two, "lan1", "10.77.0.2/24")]:
                machine.run("ip", "link", "set", "lo", "up")
                machine.run("ip", "link", "set", device, "up")
                machine.run("ip", "addr", "add", address, "dev", device)
            for machine in one, two:
                machine.start_bus()
                report.check(f"avahi-daemon runs on machine {machine.name}", machine.start_avahi())
            for number, test in enumerate([announcing, clash, late_daemon, restricted, windows]):
                work = folder / str(number)
                work.mkdir()
                test(one, two, work, report)
        finally:
            two.end()
            one.end()
            holder.kill()
            holder.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(ROOT / ".build/release/davit")))
    deployment.DAVIT = os.path.abspath(parser.parse_args().davit)
    report = Report()
    if INSIDE not in os.environ:
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        if missing:
            report.check(f"these programs are installed: {', '.join(missing)}", False)
        elif subprocess.run(["unshare", "-n", "-m", "true"], capture_output=True).returncode != 0:
            print("SKIPPED: discovery: network namespaces need root", flush=True)
        else:
            words = [sys.executable, str(HERE / "discovery.py"), "--davit", deployment.DAVIT]
            os.execvpe("unshare", ["unshare", "-n", "-m", *words], {**os.environ, INSIDE: "1"})
    else:
        inside(report)
    print(f"discovery: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
