"""PostgreSQL servers that tests start, stop and fill, and a proxy that cuts their connections."""

import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time

# Statements of the background work of a node, which come at any time.
BACKGROUND = re.compile(rb"pg_notify|\bLISTEN\b|UPDATE node\b|DELETE FROM (node|commit_marker)|FROM upload WHERE|remove_|"
                        rb"is_journaled|removed_object|unreferenced|pg_control_system|pg_try_advisory|schema_version|"
                        rb"forgotten|FROM database|deleted <|generation")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """A PostgreSQL server of its own, on 127.0.0.1 and on a socket in the folder of `run`."""

    def __init__(self, folder, name, *settings, wrapper=None, source=None, hba="", location=None, wal=None):
        self.folder, self.name, self.wrapper = folder, name, wrapper
        self.run = str(folder / "run")
        self.port = free_port()
        self.settings = ["shared_buffers=16MB", "fsync=off", "max_connections=80", *settings]
        self.data = location or folder / name
        if source:
            self.call("pg_basebackup", "-h", str(folder), "-p", str(source.port), "-U", "postgres", "-D", str(self.data), "-R",
                      "-X", "stream", "-c", "fast", "--no-sync")
        else:
            places = ["--waldir", str(wal)] if wal else []
            self.call("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-N", *places)
        if location:
            # Where scripts/cluster.sh looks for servers to stop.
            (folder / name).symlink_to(location)
        if hba:
            path = self.data / "pg_hba.conf"
            path.write_text(hba + "\n" + path.read_text())
        self.start()

    def call(self, program, *words, check=True):
        return subprocess.run([self.run, program, *words], check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def start(self):
        options = [f"-k {self.folder} -p {self.port} -c listen_addresses=127.0.0.1"]
        options += [f"-c {setting}" for setting in self.settings]
        program = ["-p", str(self.wrapper)] if self.wrapper else []
        done = subprocess.run([self.run, "pg_ctl", "-D", str(self.data), "-w", "-l", f"{self.name}.log", *program, "-o",
                               " ".join(options), "start"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(f"{self.name} does not start: {self.log()[-2000:]}")

    def log(self):
        return (self.folder / f"{self.name}.log").read_text(errors="replace")

    def stop(self, mode="immediate"):
        self.call("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop", check=False)

    def restart(self):
        self.call("pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "stop")
        self.start()

    def promote(self):
        self.call("pg_ctl", "-D", str(self.data), "-w", "promote")

    def psql(self, *statements, database="postgres"):
        words = [word for statement in statements for word in ("-c", statement)]
        done = subprocess.run([self.run, "psql", "-h", str(self.folder), "-p", str(self.port), "-U", "postgres", "-qAt",
                               "-v", "ON_ERROR_STOP=1", *words, database], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
        if done.returncode:
            raise RuntimeError(f"{statements}: {done.stderr}")
        return done.stdout.strip()

    def set(self, name, value):
        """Changes a setting; None resets it."""
        self.psql(f"ALTER SYSTEM RESET {name}" if value is None else f"ALTER SYSTEM SET {name} = {value}",
                  "SELECT pg_reload_conf()")

    def make_database(self, name="davit", options=""):
        """Creates the role `davit` and a database that it owns."""
        self.psql("DO $$ BEGIN CREATE ROLE davit LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        self.psql(f"CREATE DATABASE {name} OWNER davit {options}")

    def url(self, port=None, name="davit", role="davit"):
        # Without the requests for encryption, which a proxy would have to understand.
        return f"postgresql://{role}@127.0.0.1:{port or self.port}/{name}?sslmode=disable&gssencmode=disable"

    def end_sessions(self, role="davit"):
        """Ends the connections of nodes. Returns when they have ended."""
        self.psql(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '{role}'")

    def processes(self):
        main = int((self.data / "postmaster.pid").read_text().split()[0])
        found = [main]
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                if int(stat.read_text().rpartition(")")[2].split()[1]) == main:
                    found.append(int(stat.parent.name))
            except OSError:
                pass
        return found

    def signal(self, number):
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """Ends all processes like a power failure."""
        self.signal(signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if (self.data / "postmaster.pid").exists():
            try:
                self.signal(signal.SIGCONT)
            except (OSError, ValueError):
                pass
            self.stop()


class Cut:
    """Where a connection is cut: at the batch with this number, of those of a request with COMMIT, or of those without."""

    def __init__(self, batch, is_commit, point, fault, action=None):
        # `before` the server gets anything of the batch, `within` it, when it is `sent` but not answered, or `answered`
        # in part. In a batch with COMMIT, `within` is right before COMMIT.
        self.batch, self.is_commit, self.point = batch, is_commit, point
        # Closes `both` ways, the way `up` to the server or `down` to the node; with `silent`, nothing gets through any more.
        # With `none`, `action` is called, and all gets through.
        self.fault, self.action = fault, action
        # Whether each batch so far had COMMIT.
        self.commits = []
        self.met = False

    def __repr__(self):
        return f"{'COMMIT' if self.is_commit else 'batch'} {self.batch}, {self.point}, {self.fault}"


class Proxy:
    """Forwards connections to a PostgreSQL server. Batches are what a node sends in one round trip."""

    def __init__(self, port):
        self.port_of_server = port
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.mutex = threading.Lock()
        self.cut = None
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.port_of_server))
            except OSError:
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sockets.append(end)
            session = Session(self, client, server)
            threading.Thread(target=session.guarded, args=(session.upstream,), daemon=True).start()
            threading.Thread(target=session.guarded, args=(session.downstream,), daemon=True).start()

    def plan(self, cut):
        with self.mutex:
            self.cut = cut

    def reach(self, texts):
        """Counts a batch. Returns the cut if it is to be cut."""
        if any(BACKGROUND.search(text) for text in texts) or not any(texts):
            return None
        with self.mutex:
            cut = self.cut
            if cut is None or cut.met:
                return None
            is_commit = b"COMMIT" in texts
            number = cut.commits.count(is_commit)
            cut.commits.append(is_commit)
            cut.met = (number, is_commit) == (cut.batch, cut.is_commit)
            return cut if cut.met else None

    def close(self):
        self.listener.close()
        for end in self.sockets:
            end.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Session:
    """A connection through a proxy."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.names = {}
        # What becomes of answers: a cut that is due, and of everything: the ways that are closed.
        self.due = None
        self.lost_up = self.lost_down = False

    def guarded(self, body):
        try:
            body()
        except OSError:
            self.end(self.client)
            self.end(self.server)

    @staticmethod
    def end(side, way=socket.SHUT_RDWR):
        try:
            side.shutdown(way)
        except OSError:
            pass

    def apply(self, fault):
        if fault == "both":
            self.lost_up = self.lost_down = True
            self.end(self.client)
            self.end(self.server)
        elif fault == "up":
            self.lost_up = True
            self.end(self.server, socket.SHUT_WR)
        elif fault == "down":
            self.lost_down = True
            self.end(self.client, socket.SHUT_WR)
        elif fault == "silent":
            self.lost_up = self.lost_down = True

    @staticmethod
    def messages(data, has_type=True):
        """Takes whole messages from the start of a buffer."""
        skipped = 1 if has_type else 0
        while len(data) >= skipped + 4:
            length = skipped + struct.unpack_from("!I", data, skipped)[0]
            if len(data) < length:
                return
            message = bytes(data[:length])
            del data[:length]
            yield message

    def upstream(self):
        data, batch, texts = bytearray(), [], []
        is_started = False
        while received := self.client.recv(1 << 16):
            data += received
            if not is_started:
                for message in self.messages(data, has_type=False):
                    self.server.sendall(message)
                    is_started = True
                    break
            for message in self.messages(data) if is_started else ():
                kind = message[:1]
                batch.append(message)
                if kind == b"P":
                    name, text = message[5:].split(b"\0")[:2]
                    self.names[name] = text
                elif kind == b"B":
                    name = message[5:].split(b"\0")[1]
                    texts.append(self.names.get(name, b""))
                elif kind in b"SQXp":
                    self.forward(batch, texts)
                    batch, texts = [], []
        if not self.lost_up:
            self.end(self.server, socket.SHUT_WR)

    def commit_start(self, batch):
        """Returns the index of the message that runs COMMIT, or the middle."""
        for index, message in enumerate(batch):
            if message[:1] == b"B" and self.names.get(message[5:].split(b"\0")[1]) == b"COMMIT":
                return index
        return len(batch) // 2

    def forward(self, batch, texts):
        if self.lost_up:
            return
        cut = self.proxy.reach(texts)
        if cut is None or cut.fault == "none":
            if cut is not None:
                cut.action()
            self.server.sendall(b"".join(batch))
        elif cut.point in ("before", "within"):
            if cut.point == "within":
                self.server.sendall(b"".join(batch[:self.commit_start(batch)]))
            self.apply(cut.fault)
        else:
            self.due = cut
            self.server.sendall(b"".join(batch))

    def downstream(self):
        data = bytearray()
        while received := self.server.recv(1 << 16):
            if self.due is None:
                if not self.lost_down:
                    self.client.sendall(received)
                continue
            data += received
            for count, message in enumerate(self.messages(data)):
                if message[:1] == b"Z":
                    # The server has done everything.
                    self.apply(self.due.fault)
                elif self.due.point == "answered" and count < 2 and not self.lost_down:
                    self.client.sendall(message)
        if not self.lost_down:
            self.end(self.client, socket.SHUT_WR)


def wait_until(holds, seconds=120, pause=0.05):
    """Returns whether a condition holds within the time."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > deadline:
            return False
        select.select([], [], [], pause)
    return found
