"""Common tools: curl with many parallel transfers, rclone, litmus."""

import os
import re
import shutil
import subprocess
import tempfile

from client import WrongAnswer
from servers import Apache, Davit, Rclone

from .base import ALL_STATE, KIB, Row, write_members

FILES = 2000
PARALLEL = 32
# Options in a config file apply to one transfer only, so options for all transfers are given here.
CURL = ["curl", "--parallel", "--parallel-max", str(PARALLEL), "--silent", "--show-error", "--fail"]
PEERS = [kind for kind in ALL_STATE if kind.name != "floor"]


class Curl(Row):
    unit = "µs/file"
    figures = ()
    contenders = PEERS

    def run_curl(self, turn, lines):
        """Runs curl with a config file, in which each line is a transfer."""
        with tempfile.NamedTemporaryFile("w", dir=turn.setup.memory) as config:
            config.write("\n".join(lines))
            config.flush()
            command = [*CURL, "--config", config.name]
            done = turn.metered(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        if done.returncode != 0:
            raise WrongAnswer(f"curl: {done.stderr.decode(errors='replace').strip()[:200]}")
        return FILES

    @staticmethod
    def check(folder):
        sizes = [entry.stat().st_size for entry in os.scandir(folder)]
        if sizes != [KIB] * FILES:
            raise WrongAnswer(f"{len(sizes)} files arrived, {sizes.count(KIB)} of them complete")


class CurlUp(Curl):
    name = "curl-up"
    title = f"curl -Z, {FILES:,} files of 1 KiB up, tmpfs"
    kind = "write"

    def prepare(self, root, setup):
        self.local = os.path.join(setup.memory, self.name + "-local")
        if not os.path.exists(self.local):
            write_members(self.local, FILES, KIB)

    def run(self, turn):
        lines = []
        for entry in os.scandir(self.local):
            lines += [f'upload-file = "{entry.path}"', f'url = "http://127.0.0.1:{turn.port}/{entry.name}"']
        return self.run_curl(turn, lines)

    def after(self, turn):
        self.check(turn.root)
        for entry in os.scandir(turn.root):
            os.remove(entry.path)


class CurlDown(Curl):
    name = "curl-down"
    title = f"curl -Z, {FILES:,} files of 1 KiB down, tmpfs"
    shares_root = True

    def prepare(self, root, setup):
        write_members(os.path.join(root, "folder"), FILES, KIB)

    def run(self, turn):
        self.local = tempfile.mkdtemp(dir=turn.setup.memory)
        lines = []
        for name in os.listdir(os.path.join(turn.root, "folder")):
            lines += [f'url = "http://127.0.0.1:{turn.port}/folder/{name}"', f'output = "{self.local}/{name}"']
        return self.run_curl(turn, lines)

    def after(self, turn):
        self.check(self.local)
        shutil.rmtree(self.local)


class RcloneCopy(Row):
    """`rclone copy` with default settings: it creates the folder, lists it, and compares sizes."""

    unit = "µs/file"
    figures = ()
    contenders = [Davit, Apache, Rclone]
    floor = None
    # rclone sends four requests per file and is slower than all servers, so one round is enough.
    rounds = 1

    def unavailable(self, setup):
        return None if shutil.which("rclone") else "rclone is not installed"

    def copy(self, turn, source, target):
        command = ["rclone", "--config", "", "--webdav-url", f"http://127.0.0.1:{turn.port}/", "--retries", "1",
                   "--low-level-retries", "1", "copy", source, target]
        done = turn.metered(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        if done.returncode != 0:
            raise WrongAnswer(f"rclone: {done.stderr.decode(errors='replace').strip()[:200]}")
        return FILES


class RcloneUp(RcloneCopy):
    name = "rclone-up"
    title = f"rclone copy, {FILES:,} files of 1 KiB up, tmpfs"
    kind = "write"

    def prepare(self, root, setup):
        self.local = os.path.join(setup.memory, self.name + "-local")
        if not os.path.exists(self.local):
            write_members(self.local, FILES, KIB)

    def run(self, turn):
        return self.copy(turn, self.local, f":webdav:turn-{turn.number}")

    def after(self, turn):
        folder = os.path.join(turn.root, f"turn-{turn.number}")
        Curl.check(folder)
        shutil.rmtree(folder)


class RcloneDown(RcloneCopy):
    name = "rclone-down"
    title = f"rclone copy, {FILES:,} files of 1 KiB down, tmpfs"
    shares_root = True

    def prepare(self, root, setup):
        write_members(os.path.join(root, "folder"), FILES, KIB)

    def run(self, turn):
        self.local = tempfile.mkdtemp(dir=turn.setup.memory)
        return self.copy(turn, ":webdav:folder", self.local)

    def after(self, turn):
        Curl.check(self.local)
        shutil.rmtree(self.local)


class Litmus(Row):
    name = "litmus"
    title = "litmus, every suite"
    unit = "s/run"
    scale = 1
    kind = "lock"
    measure = "wall"
    place = "disk"
    figures = ("passed", "failed")
    contenders = PEERS

    def run(self, turn):
        with tempfile.TemporaryDirectory(dir=turn.setup.disk) as folder:
            command = ["litmus", "-k", f"http://127.0.0.1:{turn.port}/"]
            done = turn.metered(lambda: subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                                                       stderr=subprocess.STDOUT))
        found = re.findall(rb"of \d+ tests run: (\d+) passed, (\d+) failed", done.stdout)
        if not found:
            raise WrongAnswer("litmus did not finish")
        turn.outcome = {key: sum(int(line[index]) for line in found) for index, key in enumerate(self.figures)}
        return 1


ROWS = [CurlUp, CurlDown, RcloneUp, RcloneDown, Litmus]
