"""davit with default options, and with others; `Davit.synced` uses another level of `--sync`."""

import functools
import os
import subprocess

from .base import Server, make_certificate, output_of


class Davit(Server):
    name = "davit"
    lock_durability = property_durability = "SQLite WAL: death of the process"
    sync = None

    def start(self):
        command = [self.setup.davit, "serve", self.root, "--host", "127.0.0.1", "--port", str(self.port), "--state-dir",
                   os.path.join(self.state, "davit"), "--log-level", "error"]
        if self.is_secure:
            certificate, key = make_certificate(self.setup)
            command += ["--tls-cert", certificate, "--tls-key", key]
        if self.sync:
            command += ["--sync", self.sync]
        return self.spawn(command + self.more_options())

    def more_options(self):
        return []

    @staticmethod
    @functools.lru_cache
    def synced(level):
        durability = f"SQLite WAL: {'power loss' if level == 'full' else 'death of the process'}"
        return type("SyncedDavit", (Davit,), {"name": f"davit --sync {level}", "sync": level,
                                              "lock_durability": durability, "property_durability": durability})

    @staticmethod
    @functools.lru_cache
    def called(what):
        """Returns davit as an additional server in the same row, named `davit, WHAT`, for other requests or another
        state."""
        return type("OtherDavit", (Davit,), {"name": f"davit, {what}", "is_again": True})

    @classmethod
    def is_peer(cls):
        return False

    @classmethod
    def settings(cls):
        return "--log-level error" + (f" --sync {cls.sync}" if cls.sync else "")

    @classmethod
    def version(cls, setup):
        done = subprocess.run([setup.davit, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip().removeprefix("davit").strip() if done.returncode == 0 else "this tree"

    @staticmethod
    def has_sync(setup):
        return "--sync" in output_of(setup.davit, "serve", "--help")


class SecureDavit(Davit):
    is_secure = True


class FullDavit(Davit):
    """davit with an access log, and accounts with hashed passwords. Compression is always enabled."""

    name = "davit full"
    user, password = "anna", "open sesame"

    def more_options(self):
        done = subprocess.run([self.setup.davit, "password", self.user], input=f"{self.password}\n{self.password}\n",
                              stdout=subprocess.PIPE, text=True, check=True)
        users = self.write("users", done.stdout)
        os.chmod(users, 0o600)
        return ["--user-file", users, "--access-log", os.path.join(self.state, "access.log")]

    @classmethod
    def settings(cls):
        return super().settings() + " --user-file FILE --access-log FILE"


class Website(Davit):
    """The example Website, from the same build folder."""

    lock_durability = property_durability = None

    def start(self):
        website = os.path.join(os.path.dirname(self.setup.davit), "Website")
        if not os.access(website, os.X_OK):
            raise RuntimeError(f"{website} not found; build the product Website first")
        return self.spawn([website, self.root, str(self.port)])
