"""PUT of large content: with a length, and chunked."""

import os

from client import WrongAnswer

from .base import GIB, KIB, MIB, Load, Request, variant


class Upload(Load):
    name = "up1"
    title = "PUT 1 GiB"
    unit = "s/GiB"
    scale = 1
    kind = "write"
    figures = ("over_idle",)
    connections = 1
    size = GIB
    chunk = 0

    def requests(self, turn):
        return [Request("PUT", "/large-{connection}.bin", generated=self.size, chunk=self.chunk, statuses=(201,))]

    def run(self, turn):
        return turn.play(self.requests(turn), self.connections, count=self.connections) * self.size / GIB

    def after(self, turn):
        for connection in range(self.connections):
            path = os.path.join(turn.root, f"large-{connection:05d}.bin")
            size, pattern = os.path.getsize(path), turn.setup.client.pattern
            if size != self.size:
                raise WrongAnswer(f"{size} bytes arrived")
            with open(path, "rb") as file:
                while piece := file.read(len(pattern)):
                    if piece != pattern:
                        raise WrongAnswer("the stored file differs from the content that was sent")
            os.remove(path)


ROWS = [
    Upload,
    variant(Upload, "Upload8", name="up8", title="PUT 64 MiB, eight concurrent uploads", connections=8, size=64 * MIB),
    variant(Upload, "Chunked", name="up-chunked", title="PUT 64 MiB, chunked (64 KiB each)", size=64 * MIB,
            chunk=64 * KIB),
]
