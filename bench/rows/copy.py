"""COPY: large content, a tree, and large content on a file system that can share blocks."""

import filecmp
import os
import shutil

from client import WrongAnswer
from servers import Apache, Davit, Lighttpd, Nginx
from servers.command import Copy

from .base import KIB, MIB, Load, Request, variant, write_members, write_pattern


class CopyFile(Load):
    name = "copy-100m"
    title = "COPY 100 MiB, tmpfs"
    unit = "ms/request"
    scale = 1e3
    kind = "write"
    figures = ("over_idle",)
    floor = "cp"
    contenders = [Davit, Nginx, Lighttpd, Apache, Copy]
    notes = {"lighttpd": "creates a hard link, which is one file with two names and not a copy"}
    unequal = ("lighttpd",)
    connections = 1
    size = 100 * MIB
    source, target = "source.bin", "target.bin"

    def prepare(self, root, setup):
        write_pattern(os.path.join(root, self.source), self.size, setup)

    def requests(self, turn):
        return [Request("COPY", "/" + self.source, {"Destination": "http://127.0.0.1:{port}/" + self.target,
                                                    "Depth": "infinity"}, statuses=(201, 204, 200))]

    def run(self, turn):
        if turn.server.name == self.floor:
            turn.run("cp", "-r", *(os.path.join(turn.root, name.rstrip("/")) for name in (self.source, self.target)))
            return 1
        return turn.play(self.requests(turn), count=1)

    def after(self, turn):
        source, target = (os.path.join(turn.root, name.rstrip("/")) for name in (self.source, self.target))
        self.compare(source, target)
        shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)

    def compare(self, source, target):
        if not filecmp.cmp(source, target, shallow=False):
            raise WrongAnswer("the copy differs from the source")


class CopyTree(CopyFile):
    name = "copy-tree"
    title = "COPY a tree of 1,000 files of 1 KiB in 10 folders, tmpfs"
    source, target = "source/", "target/"
    folders, files = 10, 1000

    def prepare(self, root, setup):
        for index in range(self.folders):
            write_members(os.path.join(root, "source", f"folder-{index}"), self.files // self.folders, KIB)

    def compare(self, source, target):
        sizes = [os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(target) for name in names]
        if sizes != [KIB] * self.files:
            raise WrongAnswer(f"{len(sizes)} files were copied, {sizes.count(KIB)} of them complete")


class CopyShared(CopyFile):
    """Copies cached content on a volume that can share blocks, so the cost should not depend on the size."""

    place = "xfs"

    def unavailable(self, setup):
        return setup.xfs.mount()


ROWS = [
    CopyFile,
    CopyTree,
    variant(CopyShared, "CopyShared1", name="copy-xfs-1m", title="COPY 1 MiB, XFS", size=MIB),
    variant(CopyShared, "CopyShared100", name="copy-xfs-100m", title="COPY 100 MiB, XFS"),
]
