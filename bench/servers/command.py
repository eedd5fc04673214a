"""A command in place of a server: the cost of the work without a server."""

import resource
import subprocess
import time


class Copy:
    """`cp`, the lower bound of COPY."""

    name = "cp"
    lock_durability = property_durability = None
    is_stale = is_again = False
    process = None

    def __init__(self, setup, root, beside, state):
        self.root = root

    def wait_until_ready(self):
        pass

    def stop(self):
        pass

    def turn(self, setup, number):
        return CommandTurn(setup, self, number)

    @classmethod
    def is_peer(cls):
        return False

    @classmethod
    def settings(cls):
        return "-r"

    @classmethod
    def version(cls, setup):
        return subprocess.run(["cp", "--version"], stdout=subprocess.PIPE, text=True).stdout.split()[3]


class Zip(Copy):
    """Info-ZIP's `zip`, which creates the file that a server would send."""

    name = "zip"

    @classmethod
    def is_peer(cls):
        return True

    @classmethod
    def settings(cls):
        return "-0 -q -r"

    @classmethod
    def version(cls, setup):
        words = subprocess.run(["zip", "--version"], stdout=subprocess.PIPE, text=True).stdout.split()
        return words[words.index("Zip") + 1] if "Zip" in words else "unknown"


class CommandTurn:
    """Like `contest.Turn`, for a process that exits."""

    port = None

    def __init__(self, setup, server, number):
        self.setup, self.server, self.number, self.root = setup, server, number, server.root
        self.outcome = {}

    def run(self, *command):
        before, started = cpu_of_children(), time.monotonic()
        subprocess.run(command, check=True)
        self.wall, self.cpu = time.monotonic() - started, cpu_of_children() - before

    def figures(self, amount):
        return {"cpu": self.cpu / amount, "wall": self.wall / amount, "rate": amount / self.wall, "peak": 0,
                "over_idle": 0, "amount": amount, **self.outcome}


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
