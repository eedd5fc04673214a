"""The base class of rows: work for each server, and checks of the results."""

import os
import subprocess

from client import Request
from servers import Apache, Davit, Floor, Lighttpd, Nginx, SingleLighttpd

ALL = [Davit, Nginx, Lighttpd, Apache, Floor]
# The servers of rows that write to the database.
ALL_STATE = [Davit, Nginx, SingleLighttpd, Apache, Floor]
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Row:
    #: A short name, for `ROWS=`.
    name = None
    title = None
    unit = "µs/request"
    #: The factor from seconds per unit of work to the displayed unit.
    scale = 1e6
    #: Which guarantee of davit a peer must also give to count as equal: `read` (fresh data), `write`, `lock`
    #: or `property` (durability), or `process` (none).
    kind = "read"
    #: Where the content is stored: `memory`, `disk` or `xfs`. State is always on disk.
    place = "memory"
    #: True if the row does not change the content, so that all servers can share a folder.
    shares_root = False
    contenders = ALL
    #: Why a server does not participate, or does less than the others, by name. Shown below the table.
    notes = {}
    #: Peers that participate but do less work, and therefore do not count as equal.
    unequal = ()
    #: The figure that determines the best peer.
    measure = "cpu"
    #: True if processor time and wall time are not meaningful for this row.
    is_only_memory = False
    #: The contender that does the minimum of work.
    floor = "floor"
    #: The maximum number of rounds, even if more are requested.
    rounds = None
    #: The figures that this row reports in addition to processor time and wall time.
    figures = ("p99",)

    def unavailable(self, setup):
        """Returns why the row cannot run on this machine; None if it can."""

    def prepare(self, root, setup):
        """Fills an empty folder with the data of the row, before the server starts."""

    def ready(self, server, setup):
        """Prepares data through the running server."""

    def before(self, turn):
        """Runs before each turn, and is not measured."""

    def run(self, turn):
        """Does the work and returns its amount."""
        raise NotImplementedError

    def after(self, turn):
        """Checks the result and cleans up after each turn, and is not measured."""


class Load(Row):
    """Repeats the same requests on several connections for the duration of a turn."""

    connections = 64
    count = 0

    def requests(self, turn):
        raise NotImplementedError

    def run(self, turn):
        return turn.play(self.requests(turn), self.connections, count=self.count)


def variant(kind, class_name, **attributes):
    """Returns a row that differs from another in some attributes."""
    return type(class_name, (kind,), attributes)


def write_pattern(path, size, setup):
    """Writes a file that repeats the client's pattern."""
    with open(path, "wb") as file:
        for _ in range(size // len(setup.client.pattern)):
            file.write(setup.client.pattern)
        file.write(setup.client.pattern[:size % len(setup.client.pattern)])


def write_members(folder, count, size=100):
    """Creates a folder of `count` small files in the fastest way."""
    os.makedirs(folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    content = b"x" * size
    for index in range(count):
        file = os.open(f"member-{index:09d}.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=descriptor)
        os.write(file, content)
        os.close(file)
    os.close(descriptor)


def give(server, *paths):
    """Makes the prepared data writable by the server."""
    if isinstance(server, Apache) and os.geteuid() == 0:
        subprocess.run(["chown", "-R", "www-data:", *paths], check=True)


__all__ = ["ALL", "ALL_STATE", "GIB", "KIB", "MIB", "Load", "Request", "Row", "give", "variant", "write_members", "write_pattern"]
