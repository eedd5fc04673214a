"""The server process: the time until it responds, and its resources when it is idle."""

import os
import socket
import time

import measure
from client import HOST, SETUP, WORK, WrongAnswer
from contest import expect
from servers import Apache, Davit, Lighttpd
from servers.nginx import RoomyNginx

from .base import ALL_STATE, KIB, Request, Row, write_pattern

SERVERS = [kind for kind in ALL_STATE if kind.name != "floor"]
CONNECTIONS = 10_000
# Longer than the time after which a server releases the memory of an idle connection.
QUIET_SECONDS = 3.0


class Process(Row):
    kind = "process"
    shares_root = True
    contenders = SERVERS

    def prepare(self, root, setup):
        write_pattern(os.path.join(root, "content.bin"), KIB, setup)


class Start(Process):
    name = "start"
    title = "start to first response"
    unit = "ms"
    scale = 1e3
    measure = "wall"
    figures = ()

    def run(self, turn):
        server = self.another(turn.server)
        try:
            await_answer(server)
            turn.wall = time.monotonic() - server.started
            turn.cpu = measure.settled_cpu_seconds(server.process.pid)
            turn.peak = measure.status_bytes(server.process.pid, "VmHWM")
        finally:
            server.stop()
        return 1

    @staticmethod
    def another(server):
        """Starts a second server of the same kind for the same folder; all starts share a state folder, one after the
        other."""
        state = server.state + "-start"
        os.makedirs(state, exist_ok=True)
        return type(server)(server.setup, server.root, server.beside, state)


class Idle(Process):
    """The memory of an idle server. Mapped files (the program and its libraries) count as resident memory, but not as anonymous
    memory."""

    name = "idle"
    title = "idle, after one request"
    unit = "MiB"
    measure = "resident"
    is_only_memory = True
    figures = ("resident", "proportional", "anonymous")

    def run(self, turn):
        turn.metered(lambda: expect(turn.server, "GET", "/content.bin", 200))
        turn.outcome = memory(turn.server)
        return 1


class IdleConnections(Idle):
    name = "idle-10k"
    title = f"{CONNECTIONS:,} idle keep-alive connections, after one request on each"
    contenders = [Davit, RoomyNginx, Lighttpd, Apache]
    rounds = 2

    def run(self, turn):
        found = {}

        def look():
            turn.end()
            time.sleep(QUIET_SECONDS)
            found.update(memory(turn.server))

        requests = [Request("GET", "/content.bin", size=KIB, phase=phase) for phase in (SETUP, WORK)]
        turn.setup.client.play(turn.port, requests, CONNECTIONS, count=1, hold=True, started=turn.start, ended=look)
        turn.outcome = found
        return CONNECTIONS


def memory(server):
    root = server.process.pid
    return {"resident": measure.status_bytes(root, "VmRSS"), "anonymous": measure.status_bytes(root, "RssAnon"),
            "proportional": measure.proportional_bytes(root)}


def await_answer(server):
    deadline = server.started + 30
    while time.monotonic() < deadline:
        with socket.socket() as client:
            if client.connect_ex((HOST, server.port)) != 0:
                continue
            client.settimeout(30)
            client.sendall(f"GET /content.bin HTTP/1.1\r\nHost: {HOST}:{server.port}\r\n\r\n".encode())
            if client.recv(4096).startswith(b"HTTP/1.1 200"):
                return
    raise WrongAnswer("no response with status 200 within 30 seconds")


ROWS = [Start, Idle, IdleConnections]
