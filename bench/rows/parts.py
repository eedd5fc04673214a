"""Additional fields of an upload, compared with an upload without them, and partial changes of a file."""

import base64
import hashlib
import os

from client import WrongAnswer
from servers import Davit

from .base import KIB, MIB, Load, Request, write_pattern
from .write import PutNew

Plain, Small = Davit.called("plain"), Davit.called("1 MiB")
# The times are whole seconds, because the server uses the fraction to distinguish versions.
TIME = 1_700_000_000


class PutWithTime(PutNew):
    """Both requests have a field of the same length, because the cost of receiving depends on the length."""

    name = "put-mtime"
    title = "PUT 1 KiB, new names, tmpfs, 32 connections, with X-OC-Mtime, and with an unknown field of that length"
    contenders = [Davit, Plain]
    floor = Plain.name

    def fields(self, setup):
        return {"X-OC-Mtime": str(TIME)}

    def requests(self, turn):
        request, = super().requests(turn)
        fields = self.fields(turn.setup)
        if isinstance(turn.server, Plain):
            fields = {"X" * len(name): value for name, value in fields.items()}
        request.headers.update(fields)
        return [request]

    def check(self, turn):
        super().check(turn)
        if not isinstance(turn.server, Plain):
            self.check_more(turn)

    def check_more(self, turn):
        with os.scandir(self.folder(turn)) as entries:
            wrong = sum(int(entry.stat().st_mtime) != TIME for entry in entries)
        if wrong:
            raise WrongAnswer(f"{wrong} files have a wrong time")


class PutWithDigest(PutWithTime):
    name = "put-digest"
    title = "PUT 1 KiB, new names, tmpfs, 32 connections, with Content-Digest (sha-256), and with an unknown field of that length"

    def fields(self, setup):
        digest = base64.b64encode(hashlib.sha256(setup.client.pattern[:KIB]).digest()).decode()
        return {"Content-Digest": f"sha-256=:{digest}:"}

    def check_more(self, turn):
        """Checks nothing more: a wrong digest would be refused, and every status is checked."""


class Append(Load):
    """Appends on a volume that can share blocks, where the cost should not depend on the existing content."""

    name = "patch-append"
    title = "PATCH that appends 1 KiB, XFS: to a file of 100 MiB, and to one of 1 MiB"
    kind = "write"
    place = "xfs"
    contenders = [Davit, Small]
    floor = Small.name
    connections = 1

    def unavailable(self, setup):
        return setup.xfs.mount()

    def prepare(self, root, setup):
        for size in (1, 100):
            write_pattern(os.path.join(root, f"{size}.bin"), size * MIB, setup)

    def target(self, turn):
        return "1.bin" if isinstance(turn.server, Small) else "100.bin"

    def before(self, turn):
        self.size = os.path.getsize(os.path.join(turn.root, self.target(turn)))

    def requests(self, turn):
        fields = {"Content-Type": "application/x-sabredav-partialupdate", "X-Update-Range": "append"}
        return [Request("PATCH", "/" + self.target(turn), fields, generated=KIB, statuses=(200, 204))]

    def after(self, turn):
        path = os.path.join(turn.root, self.target(turn))
        grown = os.path.getsize(path) - self.size
        if grown != turn.outcome["units"] * KIB:
            raise WrongAnswer(f"{turn.outcome['units']} requests succeeded, but {grown} bytes were appended")
        with open(path, "rb") as file:
            file.seek(-KIB, os.SEEK_END)
            if file.read() != turn.setup.client.pattern[:KIB]:
                raise WrongAnswer("the end of the file differs from the sent bytes")


class AppendInMemory(Append):
    """Appends on a volume that cannot share blocks, so that the file is copied."""

    name = "patch-append-copy"
    title = "PATCH that appends 1 KiB, tmpfs (no shared blocks): to a file of 100 MiB, and to one of 1 MiB"
    unit = "ms/request"
    scale = 1e3
    place = "memory"

    def unavailable(self, setup):
        return None


ROWS = [PutWithTime, PutWithDigest, Append, AppendInMemory]
