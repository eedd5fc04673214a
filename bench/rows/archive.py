"""Download of a folder as one archive."""

import os
import shutil
import subprocess

from client import WrongAnswer
from servers import Davit
from servers.command import Zip

from .base import GIB, MIB, Row, write_pattern

FILES = 8


class Archive(Row):
    name = "zip"
    title = f"1 GiB in {FILES} files as a ZIP file, nothing deflated"
    unit = "s/GiB"
    scale = 1
    figures = ("over_idle",)
    contenders = [Davit, Zip]
    floor = None
    shares_root = True

    def unavailable(self, setup):
        return None if shutil.which("zip") else "zip is not installed"

    def prepare(self, root, setup):
        os.mkdir(os.path.join(root, "folder"))
        for number in range(FILES):
            write_pattern(os.path.join(root, "folder", f"{number}.bin"), GIB // FILES, setup)

    def run(self, turn):
        if turn.server.name == Zip.name:
            turn.run("sh", "-c", f"cd '{turn.root}' && exec zip -0 -q -r - folder > /dev/null")
            return 1
        command = ["curl", "--silent", "--show-error", "--fail", "--output", "/dev/null", "--write-out", "%{size_download}",
                   f"http://127.0.0.1:{turn.port}/folder/?archive&method=stored"]
        done = turn.metered(lambda: subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        if done.returncode != 0 or not GIB < int(done.stdout) < GIB + MIB:
            raise WrongAnswer(f"curl: {done.stdout} bytes, {done.stderr.strip()[:200]}")
        return 1


ROWS = [Archive]
