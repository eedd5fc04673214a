#!/usr/bin/env python3
"""Measures the memory of the server for clients that read large properties slowly.

    bench/slow-properties.py [--davit .build/release/davit] [--clients 40] [--members 100] [--bytes 1000000] [--seconds 30]

Creates a folder whose members have one property of the given size each. The clients request all of them with PROPFIND
and read 4 KiB per second. In the meantime, another client repeatedly sends a small PUT and a small PROPFIND. Prints
the initial, maximum and final resident memory in MB, and the longest time of such a pair of requests.
"""
import argparse
import http.client
import pathlib
import socket
import subprocess
import tempfile
import threading
import time


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0


def request(port, method, path, body=None, headers={}):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status


def slow(port, ends):
    """Sends one PROPFIND, and reads the response slowly."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    body = b'<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>'
    client.sendall(b"PROPFIND / HTTP/1.1\r\nHost: localhost\r\nDepth: 1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    while not ends.wait(1):
        if not client.recv(4096):
            break
    client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--davit", default=".build/release/davit")
    parser.add_argument("--clients", type=int, default=40)
    parser.add_argument("--members", type=int, default=100)
    parser.add_argument("--bytes", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        share, state = pathlib.Path(folder, "share"), pathlib.Path(folder, "state")
        share.mkdir()
        server = subprocess.Popen(
            [options.davit, "serve", str(share), "--port", "0", "--host", "127.0.0.1", "--state-dir", str(state)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = int(server.stdout.readline().rsplit(":", 1)[1].strip(" /\n"))
            for number in range(options.members):
                request(port, "PUT", f"/m{number}", b"x")
                value = "v" * options.bytes
                status = request(
                    port, "PROPPATCH", f"/m{number}",
                    f'<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:p>{value}</x:p></D:prop></D:set>'
                    "</D:propertyupdate>")
                assert status == 207, status
            before = resident(server.pid)
            ends = threading.Event()
            threads = [threading.Thread(target=slow, args=(port, ends)) for _ in range(options.clients)]
            for thread in threads:
                thread.start()
            most, slowest, end = 0.0, 0.0, time.monotonic() + options.seconds
            while time.monotonic() < end:
                start = time.monotonic()
                assert request(port, "PUT", "/small", b"x") in (201, 204)
                assert request(port, "PROPFIND", "/small", None, {"Depth": "0"}) == 207
                slowest = max(slowest, time.monotonic() - start)
                most = max(most, resident(server.pid))
                time.sleep(0.05)
            last = resident(server.pid)
            ends.set()
            for thread in threads:
                thread.join()
            print(f"{options.clients} clients, {options.members} x {options.bytes} bytes: before {before:.0f} MB, maximum {most:.0f} MB, "
                  f"final {last:.0f} MB; slowest PUT and PROPFIND {slowest * 1000:.0f} ms")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
