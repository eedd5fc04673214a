"""davit with a share in a PostgreSQL database and the same work in a folder; pgbench and rclone without davit."""

import os
import re
import shutil
import subprocess
import time

import pgbench
from client import HOST, WrongAnswer

from .base import START_SECONDS, free_port, is_listening, output_of
from .command import CommandTurn
from .davit import Davit

ACCOUNT, PASSWORD = "anna", "open sesame"
KEYS = {"AWS_ACCESS_KEY_ID": "ACCESSKEY123", "AWS_SECRET_ACCESS_KEY": "SECRETKEY456"}


class FolderShare(Davit):
    name = "folder"


class DatabaseShare(Davit):
    """A node whose share contains what the row has prepared in the folder."""

    name = "database"
    is_logged = False
    #: The name of its database.
    database = "bench"
    lock_durability = property_durability = "PostgreSQL: power loss"

    def __init__(self, setup, root, beside, state):
        self.share = os.path.basename(state).removesuffix("-state")
        super().__init__(setup, root, beside, state)

    def place(self):
        # A folder of content belongs to one database.
        blobs = os.path.join(self.setup.disk, f"blobs-{self.database}")
        os.makedirs(blobs, exist_ok=True)
        return ["--database", self.setup.postgres.url(self.database, self.is_logged), "--blobs", blobs, "--share", self.share]

    def start(self):
        if os.listdir(self.root):
            self.fill(self.root)
        return self.serve()

    def fill(self, folder):
        """Copies a folder to the share."""
        subprocess.run([self.setup.davit, "import", folder, *self.place(), "--state-dir", os.path.join(self.state, "import")],
                       check=True, stdout=subprocess.DEVNULL)

    def serve(self):
        return self.spawn([self.setup.davit, "serve", *self.place(), "--host", HOST, "--port", str(self.port), "--log-level",
                           "error", *self.more_options()])

    @classmethod
    def settings(cls):
        return "--log-level error --database URL --blobs FOLDER"


class TwoNodes(DatabaseShare):
    """Two nodes, whose processor time counts together."""

    name = "two nodes"
    # Ends the nodes when it is ended: `spawn` gives it a process group.
    SCRIPT = 'trap "trap - TERM; kill 0" TERM; "$@" --port "$FIRST" & "$@" --port "$SECOND" & wait'

    def serve(self):
        self.ports = (self.port, free_port())
        return self.spawn(["sh", "-c", self.SCRIPT, "sh", self.setup.davit, "serve", *self.place(), "--host", HOST, "--log-level",
                           "error", *self.more_options()], {"FIRST": str(self.ports[0]), "SECOND": str(self.ports[1])})

    def wait_until_ready(self):
        super().wait_until_ready()
        deadline = time.monotonic() + START_SECONDS
        while not is_listening(self.ports[1]):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the second node did not start: {self.last_words()}")
            time.sleep(0.01)


def called(kind, what, **attributes):
    """Returns a server as an additional one in the same row, with other requests or another state."""
    return type(kind.__name__ + "Again", (kind,), {"name": f"{kind.name}, {what}", "is_again": True, **attributes})


def add_account(davit, place, *options):
    """Adds an account with all rights, and a rule that is not about the requested file."""
    subprocess.run([davit, "account", "add", place, ACCOUNT, "--rights", "all", *options], input=PASSWORD + "\n", text=True,
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([davit, "access", "set", place, f"user:{ACCOUNT}", "/folder", "view", *options], check=True,
                   stdout=subprocess.DEVNULL)


class FolderWithAccounts(FolderShare):
    name = "folder, accounts"
    is_again = True

    def start(self):
        add_account(self.setup.davit, self.root, "--state-dir", os.path.join(self.state, "davit"))
        return super().start()


class DatabaseWithAccounts(DatabaseShare):
    """Has a database of its own, because accounts are those of all shares."""

    name = "database, accounts"
    is_again = True
    database = "accounts"

    def serve(self):
        add_account(self.setup.davit, f"{self.setup.postgres.url(self.database)}#{self.share}")
        return super().serve()


class Pgbench(DatabaseShare):
    """pgbench, which runs the statements of the row's requests.

    A davit runs before the first round, in a share of its own: the server logs the statements of a few requests.
    """

    name = "pgbench"
    is_again = False
    is_logged = True
    #: The number of connections; 0: as many as a node uses at the same time for changes and look-ups.
    connections = 0
    POOL = 16

    def learn(self, row, setup):
        """Records the statements of the row, and stops davit."""
        runs = [self.record(row, 0) for _ in range(5)]
        usual = pgbench.usual(runs)
        found = []
        for number in range(row.recorded):
            for _ in range(100):
                run = self.record(row, number)
                # The others also open connections, or do what happens every few seconds.
                if tuple(statement.text for statement in run) == usual:
                    found.append(run)
                    break
            else:
                raise RuntimeError("the statements of the requests change all the time")
        self.script = pgbench.Script(found, row.is_per_connection)
        self.path = self.write("script.sql", self.script.text())
        self.statement_count = len(usual)
        super().stop()
        self.process = None

    def record(self, row, number):
        return self.setup.postgres.statements(lambda: row.sample(self.port, number))

    def stop(self):
        if self.process:
            super().stop()

    def turn(self, setup, number):
        return PgbenchTurn(setup, self, number)

    @classmethod
    def settings(cls):
        return "-M prepared, the statements of davit with the same round trips"

    @classmethod
    def version(cls, setup):
        return output_of("pgbench", "--version").split()[2]


class PgbenchTurn(CommandTurn):
    def play(self, connections, seconds):
        """Runs the script; returns the number of transactions."""
        server = self.server
        connections = server.connections or min(server.POOL, connections)
        # As new as the ids of davit, see `TreeDatabase.makeID`.
        base = (time.time_ns() // 1_000_000 % (1 << 42)) << 21
        done = subprocess.run(
            ["pgbench", "-h", self.setup.postgres.folder, "-U", "postgres", "-n", "-M", "prepared", "-f", server.path, "-c",
             str(connections), "-j", str(min(connections, self.setup.cores)), "-T", str(max(1, round(seconds))),
             *server.script.options(base), "bench"],
            env={**os.environ, "PGOPTIONS": "-c search_path=davit"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        count = re.search(r"transactions actually processed: (\d+)", done.stdout)
        rate = re.search(r"tps = ([\d.]+)", done.stdout)
        if done.returncode != 0 or not count or "failed transactions: 0 " not in done.stdout:
            raise WrongAnswer(f"pgbench: {done.stderr.strip()[-500:]} {done.stdout.strip()[-200:]}")
        self.wall = int(count[1]) / float(rate[1])
        self.cpu = 0
        return int(count[1])


class Bucket:
    """The S3 service of rclone, with a bucket for davit and one for rclone."""

    def __init__(self, setup):
        self.rclone, self.folder, self.port = setup.rclone, os.path.join(setup.disk, "s3"), free_port()
        for name in ("davit", "rclone"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        self.process = subprocess.Popen(
            [self.rclone, "serve", "s3", "--auth-key", ",".join(KEYS.values()), "--addr", f"{HOST}:{self.port}", self.folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not is_listening(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("rclone serve s3 did not start")
            time.sleep(0.01)
        self.environment = {**KEYS, "AWS_ENDPOINT_URL": f"http://{HOST}:{self.port}", "RCLONE_CONFIG_BENCH_TYPE": "s3",
                            "RCLONE_CONFIG_BENCH_PROVIDER": "Rclone", "RCLONE_CONFIG_BENCH_ENV_AUTH": "true",
                            "RCLONE_CONFIG_BENCH_ENDPOINT": f"http://{HOST}:{self.port}"}

    def run(self, *arguments):
        """Runs an rclone that uses the service as `bench:`."""
        done = subprocess.run([self.rclone, "--config", "", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env={**os.environ, **self.environment})
        if done.returncode != 0:
            raise WrongAnswer(f"rclone: {done.stdout.strip()[-500:]}")

    def stop(self):
        self.process.kill()
        self.process.wait()


class BucketShare(DatabaseShare):
    """A node with content in a bucket. Its cache is in the state folder."""

    name = "S3"
    database = "bucket"

    def place(self):
        return ["--database", self.setup.postgres.url(self.database), "--blobs", "s3://davit", "--share", self.share,
                "--state-dir", self.cache]

    @property
    def cache(self):
        return os.path.join(self.state, "cache")

    def spawn(self, command, environment=None):
        return super().spawn(command, self.setup.bucket.environment)

    def restart(self):
        """Starts it again, with an empty cache."""
        self.stop()
        shutil.rmtree(self.cache, ignore_errors=True)
        self.process = self.serve()
        self.wait_until_ready()

    @classmethod
    def settings(cls):
        return "--log-level error --database URL --blobs s3://BUCKET"


class RcloneCopy:
    """`rclone copyto`, to and from the same S3 service."""

    name = "rclone"
    lock_durability = property_durability = process = None
    is_stale = is_again = False

    def __init__(self, setup, root, beside, state):
        self.setup, self.root, self.state = setup, root, state

    def wait_until_ready(self):
        pass

    def stop(self):
        pass

    def turn(self, setup, number):
        return RcloneTurn(setup, self, number)

    @classmethod
    def is_peer(cls):
        return False

    @classmethod
    def settings(cls):
        return "copyto, default options"

    @classmethod
    def version(cls, setup):
        return output_of(setup.rclone, "version").split()[1].removeprefix("v")


class RcloneTurn(CommandTurn):
    def copy(self, source, target):
        started = time.monotonic()
        self.setup.bucket.run("copyto", source, target)
        self.wall, self.cpu = time.monotonic() - started, 0


__all__ = ["ACCOUNT", "PASSWORD", "Bucket", "BucketShare", "DatabaseShare", "DatabaseWithAccounts", "FolderShare",
           "FolderWithAccounts", "Pgbench", "RcloneCopy", "TwoNodes", "called"]
