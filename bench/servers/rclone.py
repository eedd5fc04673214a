"""`rclone serve webdav` with default options."""

from .base import Server, output_of


class Rclone(Server):
    name = "rclone"
    # rclone caches folders for five minutes.
    is_stale = True

    def start(self):
        return self.spawn(["rclone", "--config", "", "--log-level", "ERROR", "serve", "webdav", self.root, "--addr",
                           f"127.0.0.1:{self.port}"])

    @classmethod
    def settings(cls):
        return "serve webdav --log-level ERROR"

    @classmethod
    def version(cls, setup):
        return output_of("rclone", "version").split()[1].removeprefix("v")
