#!/usr/bin/env python3
"""Tests the mapping of a port of a router, which is a network namespace with miniupnpd and the rules of the kernel, and reaches the server
through it.

    Tests/Ops/nat.py [--davit PATH]

DAVIT is a davit with the trait NATMapping. Requires root. Prints a line for each failed check; the last line is
`nat: N passed, M failed`.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from discovery import Lines  # noqa: E402
from deployment import LIMIT_SECONDS, Report  # noqa: E402

INSIDE = "DAVIT_TEST_NAT"
TOOLS = ["miniupnpd", "iptables-legacy", "ip", "nsenter", "unshare"]
PUBLIC, OUTSIDE, ROUTER, OWN = "198.41.0.7", "198.41.0.9", "192.168.77.1", "192.168.77.2"

# miniupnpd refuses to have a private address, unlike most routers. Answers requests of NAT-PMP (RFC 6886 §3.2 and §3.3).
PRIVATE_ROUTER = """
import socket, struct
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("192.168.77.1", 5351))
print("ready", flush=True)
while True:
    request, peer = server.recvfrom(64)
    head = struct.pack("!BBHI", 0, 128 + request[1], 0, 1)
    if request[1] == 0:
        server.sendto(head + socket.inet_aton("100.64.3.4"), peer)
    else:
        inner, outer, seconds = struct.unpack("!HHI", request[4:12])
        server.sendto(head + struct.pack("!HHI", inner, outer, seconds), peer)
"""


class Router:
    """A network namespace between the one of this process and one for a client in the Internet."""

    def __init__(self, work):
        self.work = work
        self.router, self.client = self.namespace(), self.namespace()
        for command in [
                f"ip link add lan type veth peer name inner netns {self.router.pid}", f"ip addr add {OWN}/24 dev lan",
                "ip link set lan up", "ip link set lo up", f"ip route add default via {ROUTER}"]:
            self.run(None, command)
        for command in [
                f"ip addr add {ROUTER}/24 dev inner", "ip link set inner up", "ip link set lo up",
                f"ip link add wan type veth peer name net netns {self.client.pid}", f"ip addr add {PUBLIC}/24 dev wan",
                "ip link set wan up", "sysctl -qw net.ipv4.ip_forward=1", "iptables-legacy -t nat -N MINIUPNPD",
                "iptables-legacy -t nat -A PREROUTING -i wan -j MINIUPNPD", "iptables-legacy -t nat -N MINIUPNPD-POSTROUTING",
                "iptables-legacy -t mangle -N MINIUPNPD", "iptables-legacy -N MINIUPNPD",
                "iptables-legacy -A FORWARD -i wan -o inner -j MINIUPNPD"]:
            self.run(self.router, command)
        for command in [f"ip addr add {OUTSIDE}/24 dev net", "ip link set net up"]:
            self.run(self.client, command)
        self.daemon = None

    def namespace(self):
        # Ends with its standard input, and is ready when it has written a line.
        process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo ready; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()
        return process

    @staticmethod
    def inside(namespace):
        return ["nsenter", "-t", str(namespace.pid), "-n", "--"] if namespace else []

    def run(self, namespace, command):
        subprocess.run([*self.inside(namespace), *command.split()], check=True)

    def start(self, **features):
        """Starts miniupnpd with these features, without former mappings."""
        self.run(self.router, "iptables-legacy -t nat -F MINIUPNPD")
        self.run(self.router, "iptables-legacy -F MINIUPNPD")
        configuration = self.work / "miniupnpd.conf"
        lines = ["ext_ifname=wan", "listening_ip=inner", "secure_mode=yes",
                 "uuid=11111111-1111-1111-1111-111111111111", "allow 1024-65535 192.168.77.0/24 1024-65535",
                 "deny 0-65535 0.0.0.0/0 0-65535"]
        lines += [f"enable_{name}={'yes' if is_on else 'no'}" for name, is_on in features.items()]
        configuration.write_text("\n".join(lines) + "\n")
        self.daemon = subprocess.Popen(
            [*self.inside(self.router), "miniupnpd", "-d", "-f", str(configuration), "-P", str(self.work / "pid")], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        lines = Lines(self.daemon.stderr.fileno())
        started = lines.until("HTTP listening on port" if features.get("upnp") else "Listening for NAT-PMP")
        if started is None:
            raise RuntimeError("miniupnpd did not start: " + "\n".join(lines.seen))
        return lines

    def stop(self):
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(LIMIT_SECONDS)

    def mappings(self):
        """Returns the mapped public ports."""
        text = subprocess.run([*self.inside(self.router), "iptables-legacy-save", "-t", "nat"], check=True, capture_output=True,
                              text=True).stdout
        return re.findall(r"^-A MINIUPNPD .*--dport (\d+) ", text, re.M)

    def end(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.kill()
        for process in (self.router, self.client):
            process.stdin.close()
            process.wait(LIMIT_SECONDS)


class Server:
    def __init__(self, davit, work, *options):
        (work / "share").mkdir(exist_ok=True)
        self.davit, self.work = davit, work
        self.process = subprocess.Popen(
            [davit, "serve", str(work / "share"), "--state-dir", str(work / "state"), *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.log = Lines(self.process.stderr.fileno())

    def status(self):
        return subprocess.run([self.davit, "status", "--state-dir", str(self.work / "state")], capture_output=True, text=True,
                              timeout=LIMIT_SECONDS).stdout

    def stop(self):
        self.process.terminate()
        return self.process.wait(LIMIT_SECONDS)


def outside_get(router, url):
    """Returns the status of a request from the Internet, without a password."""
    script = ("import ssl,sys,urllib.request,urllib.error\n"
              "context=ssl._create_unverified_context()\n"
              f"try: print(urllib.request.urlopen({url!r},context=context,timeout={LIMIT_SECONDS}).status)\n"
              "except urllib.error.HTTPError as error: print(error.code)\n")
    return subprocess.run([*router.inside(router.client), sys.executable, "-c", script], capture_output=True, text=True).stdout.strip()


def check(davit, work, router, report):
    port = 18443
    safe = ["--host", "0.0.0.0", "--port", str(port), "--tls-self-signed", "--user", "anna:secret"]
    for name, features in [("NAT-PMP", {"natpmp": True, "upnp": False}), ("UPnP", {"natpmp": False, "upnp": True})]:
        router.start(**features)
        server = Server(davit, work, *safe, "--map-port", "40443", "--admin-listen", str(work / "admin"))
        line = server.log.until("port mapped")
        report.check(f"{name}: the port is mapped", line is not None and f"method={name}" in line
                     and f"https://{PUBLIC}:40443/" in line, "\n".join(server.log.seen))
        report.check(f"{name}: the router has the mapping", router.mappings() == ["40443"], str(router.mappings()))
        report.check(f"{name}: davit status shows the address", f"public address: https://{PUBLIC}:40443/ ({name})" in server.status(),
                     server.status())
        metrics = subprocess.run(["curl", "-s", "--unix-socket", work / "admin", "http://localhost/metrics"], capture_output=True,
                                 text=True).stdout
        report.check(f"{name}: the metric is 1", "\ndavit_port_mapped 1\n" in metrics)
        report.check(f"{name}: the server is reached from outside, and asks for a password",
                     outside_get(router, f"https://{PUBLIC}:40443/") == "401")
        report.check(f"{name}: the exit status is 0", server.stop() == 0)
        report.check(f"{name}: the mapping is removed", router.mappings() == [], str(router.mappings()))
        router.stop()

    # Another machine has the port.
    router.start(natpmp=False, upnp=True)
    router.run(router.router, f"iptables-legacy -t nat -A MINIUPNPD -p tcp --dport {port} -j DNAT --to-destination 192.168.77.3:80")
    router.run(router.router, "iptables-legacy -A MINIUPNPD -d 192.168.77.3 -p tcp --dport 80 -j ACCEPT")
    server = Server(davit, work, *safe, "--map-port", "0")
    line = server.log.until("port mapped") or ""
    other = re.search(rf"https://{PUBLIC}:(\d+)/", line)
    report.check("another port is used if the wanted one is in use", other is not None and other.group(1) != str(port), line)
    server.stop()
    router.stop()

    # The router has a private address itself.
    answering = subprocess.Popen([*router.inside(router.router), sys.executable, "-c", PRIVATE_ROUTER], stdout=subprocess.PIPE)
    answering.stdout.readline()
    server = Server(davit, work, *safe, "--map-port", "0")
    report.check("a private address is reported", server.log.until("address of the router is private") is not None, "\n".join(server.log.seen))
    report.check("davit status reports it, too", "not reachable from the Internet" in server.status(), server.status())
    server.stop()
    answering.kill()
    answering.wait()

    server = Server(davit, work, *safe, "--map-port", "0")
    line = server.log.until("port not mapped", 60)
    report.check("a missing router is reported", line is not None and "NAT-PMP" in line and "UPnP: no gateway" in line, str(line))
    report.check("the server stops while the router is searched for", server.stop() == 0)

    for options in (["--host", "0.0.0.0", "--port", str(port), "--user", "anna:secret"],
                    ["--port", str(port), "--tls-self-signed"]):
        server = Server(davit, work, *options, "--map-port", "0")
        report.check("TLS and accounts are required", server.process.wait(LIMIT_SECONDS) != 0
                     and server.log.until("requires TLS and accounts") is not None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT"))
    davit = parser.parse_args().davit
    if INSIDE not in os.environ:
        os.execvpe("unshare", ["unshare", "-n", "-m", sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})
    report = Report()
    for tool in TOOLS:
        report.check(f"{tool} is installed", shutil.which(tool) is not None)
    if report.failed == 0:
        with tempfile.TemporaryDirectory(prefix="davit-nat.") as folder:
            router = Router(pathlib.Path(folder))
            try:
                check(davit, pathlib.Path(folder), router, report)
            finally:
                router.end()
    print(f"nat: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
