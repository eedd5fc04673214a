"""Runs one row: all its servers take turns, and each round starts with a different server."""

import os
import re
import shutil
import subprocess
import time

import measure
from client import WrongAnswer, ask
from volume import Xfs

PROBLEMS = (WrongAnswer, RuntimeError, OSError, subprocess.SubprocessError)


class Setup:
    """The settings of a run: programs, folders, and durations."""

    def __init__(self, davit, programs, client, memory, disk, rounds, seconds):
        self.davit, self.programs, self.client = davit, programs, client
        self.memory, self.disk, self.rounds, self.seconds = memory, disk, rounds, seconds
        self.xfs = Xfs(disk)
        self.cores = os.cpu_count()

    def place(self, name):
        """Returns the folder for content: `memory`, `disk` or `xfs`."""
        return {"memory": self.memory, "disk": self.disk, "xfs": self.xfs.path}[name]


class Turn:
    """The turn of one server in one round. Only work inside `play` or `metered` is measured."""

    def __init__(self, setup, server, number):
        self.setup, self.server, self.number = setup, server, number
        self.root, self.port = server.root, server.port
        self.cpu = self.wall = 0.0
        self.outcome = {}

    def play(self, requests, connections=1, seconds=None, count=0):
        """Sends requests for the duration of a turn, or `count` times; returns the number of completed units."""
        self.outcome = self.setup.client.play(
            self.port, requests, connections, self.setup.seconds if seconds is None else seconds, count,
            tls=self.server.is_secure, started=self.start, ended=self.end)
        # The time measured by the client is more exact than the time at which its output arrives here.
        self.wall = self.outcome["seconds"]
        return self.outcome["units"]

    def metered(self, work):
        self.start()
        result = work()
        self.end()
        return result

    def start(self):
        measure.forget_peak_memory(self.server.process.pid)
        self.resident = measure.status_bytes(self.server.process.pid, "VmRSS")
        self.cpu = measure.cpu_seconds(self.server.process.pid)
        self.wall = time.monotonic()

    def end(self):
        self.wall = time.monotonic() - self.wall
        self.cpu = measure.settled_cpu_seconds(self.server.process.pid) - self.cpu
        self.peak = measure.status_bytes(self.server.process.pid, "VmHWM")

    def figures(self, amount):
        if amount == 0:
            raise WrongAnswer("the server responded to no request within the turn")
        return {"cpu": self.cpu / amount, "wall": self.wall / amount, "rate": amount / self.wall, "peak": self.peak,
                "over_idle": max(0, self.peak - self.server.idle_bytes), "amount": amount,
                **{key: value for key, value in self.outcome.items() if key not in ("units", "seconds")}}


class Contest:
    """Runs a row and collects the results of each server."""

    def __init__(self, row, setup):
        self.row, self.setup = row, setup
        self.turns, self.failures, self.servers, self.folders = {}, {}, {}, []

    def run(self):
        try:
            for contender in self.row.contenders:
                self.attempt(contender.name, lambda kind=contender: self.enter(kind))
            order = list(self.servers)
            # The first round warms up caches, pools and file systems.
            for round_ in range(min(self.setup.rounds, self.row.rounds or self.setup.rounds) + 1):
                for name in order:
                    if name not in self.failures:
                        self.attempt(name, lambda server=self.servers[name], number=round_: self.take(server, number))
                order.append(order.pop(0))
        finally:
            for server in self.servers.values():
                server.stop()
            for folder in self.folders:
                shutil.rmtree(folder, ignore_errors=True)
        for name in self.failures:
            self.turns.pop(name, None)

    def attempt(self, name, work):
        try:
            work()
        except PROBLEMS as problem:
            server = self.servers.get(name)
            alive = server is None or server.process is None or server.process.poll() is None
            self.failures[name] = str(problem) + ("" if alive else f" (it ended: {server.last_words()})")

    def enter(self, kind):
        """Creates the folders of a server, fills them, and starts it."""
        label = f"{self.row.name}-{re.sub(r'[^a-z0-9]+', '-', kind.name.lower())}"
        place = self.setup.place(self.row.place)
        content = os.path.join(place, self.row.name if self.row.shares_root else label)
        state = os.path.join(self.setup.disk, label + "-state")
        root, beside = os.path.join(content, "root"), os.path.join(place, label + "-beside")
        is_new = not os.path.exists(root)
        for folder in (root, beside, state):
            os.makedirs(folder, exist_ok=True)
        # Files on disk are kept until the end of the run: file systems are slow for minutes after mass deletes.
        if place != self.setup.disk:
            self.folders += [content, beside]
        if is_new:
            self.row.prepare(root, self.setup)
        server = kind(self.setup, root, beside, state)
        self.servers[kind.name] = server
        server.wait_until_ready()
        server.idle_bytes = measure.status_bytes(server.process.pid, "VmRSS") if server.process else 0
        self.row.ready(server, self.setup)

    def take(self, server, number):
        turn = self.turn(server, number)
        self.row.before(turn)
        amount = self.row.run(turn)
        figures = turn.figures(amount)
        self.row.after(turn)
        if number > 0:
            self.turns.setdefault(server.name, []).append(figures)

    def turn(self, server, number):
        return Turn(self.setup, server, number) if server.process else server.turn(self.setup, number)


def expect(server, method, target, status, body=None, headers=None):
    """Sends a request that must return `status`, or one of the statuses if it is a tuple; returns the body."""
    answered, _, content = ask(server.port, method, target, body, headers)
    if answered not in (status if isinstance(status, tuple) else (status,)):
        raise WrongAnswer(f"{method} {target} returned {answered}")
    return content
