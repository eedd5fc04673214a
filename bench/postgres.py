"""A PostgreSQL server for the benchmark of shares in a database, and pgbench, which runs the statements of davit without davit.

The statements are not written here, but read from the log of the server: a davit whose connections set `log_statement` handles
a few requests of a row, and pgbench then repeats their statements with values of the same kind.
"""

import collections
import glob
import os
import re
import shutil
import subprocess

import measure

SETTINGS = {"listen_addresses": "''", "max_connections": "200", "log_line_prefix": "'[%p] '", "log_min_messages": "warning"}
# Of the ids of other files: less than those that davit gives, and more than those of roots.
FIRST_ID = 10_000_000
DATABASES = ["bench", "accounts", "bucket"]
ENTRY = re.compile(r"^\[(\d+)\] (\w+):  ", flags=re.MULTILINE)
PARAMETER = re.compile(r"\$(\d+) = (NULL|'((?:[^']|'')*)')")


class Postgres:
    """A server with the settings that it has after installation, in particular with fsync and synchronous_commit: each COMMIT
    waits for the disk."""

    def __init__(self, folder):
        self.folder = folder
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
        if not programs:
            raise RuntimeError("PostgreSQL is not installed; make packages-cluster installs it")
        self.programs = os.path.dirname(programs[-1])
        os.makedirs(folder)
        # PostgreSQL refuses to run as root.
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(folder, "postgres", "postgres")
        self.data, self.log = os.path.join(folder, "data"), os.path.join(folder, "log")
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            for name, value in {**SETTINGS, "unix_socket_directories": f"'{folder}'"}.items():
                file.write(f"{name} = {value}\n")
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.log, "start")
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            self.pid = int(file.readline())
        for name in DATABASES:
            self.query(f"CREATE DATABASE {name}", database="postgres")

    def run(self, program, *arguments):
        done = subprocess.run([*self.user, os.path.join(self.programs, program), *arguments], cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout.strip()[-500:]}")
        return done.stdout

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")

    def vacuum(self):
        """Does what autovacuum would do a minute later."""
        self.run("vacuumdb", "-h", self.folder, "-U", "postgres", "-q", "-a", "-z")

    def query(self, text, database="bench"):
        """Returns the rows as lists of texts."""
        found = self.run("psql", "-h", self.folder, "-U", "postgres", "-d", database, "-X", "-q", "-A", "-t", "-v",
                         "ON_ERROR_STOP=1", "-c", text)
        return [line.split("|") for line in found.splitlines()]

    def url(self, database="bench", is_logged=False):
        """Returns the address of a database for davit; with `is_logged`, the server logs the statements of its connections."""
        return f"postgresql://postgres@/{database}?host={self.folder}" + (
            "&options=-c%20log_statement%3Dall" if is_logged else "")

    def add_files(self, count):
        """Adds a share of `count` files in folders of 1,000, because indexes and plans depend on the size of the tables."""
        self.query(f"""
            SET search_path = davit;
            INSERT INTO share (name) VALUES ('others');
            INSERT INTO blob (id, share, length, reference_count) OVERRIDING SYSTEM VALUE
                SELECT n, (SELECT id FROM share WHERE name = 'others'), 100, 1 FROM generate_series(1, {count}) n;
            INSERT INTO small_content SELECT n, convert_to(repeat('x', 100), 'UTF8') FROM generate_series(1, {count}) n;
            INSERT INTO resource (id, share, parent, key, name, kind, length, modified, created, blob) OVERRIDING SYSTEM VALUE
                SELECT {FIRST_ID} + n, (SELECT id FROM share WHERE name = 'others'),
                    {FIRST_ID} + CASE WHEN n % 1000 = 1 THEN 0 ELSE (n - 1) / 1000 * 1000 + 1 END,
                    convert_to(n::text, 'UTF8'), convert_to(n::text, 'UTF8'), (n % 1000 <> 1)::int, 100, n, n,
                    CASE WHEN n % 1000 = 1 THEN NULL ELSE n END
                FROM generate_series(1, {count}) n""")
        self.vacuum()

    def cpu_seconds(self):
        """Returns the user and system time of all processes so far, those that have ended included."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
        return measure.cpu_seconds(self.pid) + ended

    def version(self):
        return self.run("postgres", "--version").split()[2]

    def settings(self):
        """Returns the settings that decide what a COMMIT waits for, and the memory."""
        names = ("fsync", "synchronous_commit", "full_page_writes", "shared_buffers")
        return {name: self.query(f"SHOW {name}")[0][0] for name in names}

    def statements(self, work):
        """Returns the statements that are logged during `work`, in the order in which they were run."""
        start = os.path.getsize(self.log)
        work()
        with open(self.log, errors="replace") as file:
            file.seek(start)
            return parse(file.read())


class Statement(collections.namedtuple("Statement", "text values")):
    """A statement, and the values of its parameters as texts, or None."""

    @property
    def reads(self):
        """Whether its result is needed before the next statement. The locks of paths, and functions that change something, have
        none that is."""
        return self.text.startswith("SELECT") and "advisory" not in self.text and "adopt_blob" not in self.text


def parse(text):
    """Returns the statements of a log."""
    found = []
    pieces = ENTRY.split(text)[1:]
    for kind, entry in zip(pieces[1::3], pieces[2::3]):
        entry = entry.rstrip("\n").replace("\n\t", "\n")
        if kind == "LOG" and (match := re.match(r"(?:execute [^:]+|statement): (.*)", entry, flags=re.DOTALL)):
            found.append(Statement(match[1].strip(), []))
        elif kind == "DETAIL" and entry.startswith("parameters: ") and found:
            found[-1].values.extend(None if value == "NULL" else inner.replace("''", "'")
                                    for _, value, inner in PARAMETER.findall(entry))
    return found
