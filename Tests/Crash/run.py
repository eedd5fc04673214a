"""Runs one scene: kills the request at every step, and checks the result."""

import collections
import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse
import zlib

import volume
from dav import Client, Picture, leftovers, mounted_folder
from scenes import UploadRequest
from server import Died, Server

# An upper limit, in case a server never survives.
STEP_LIMIT = 500
# The number of steps varies slightly with the kernel's caches. After this many consecutive runs that survive, the last step is
# considered reached.
CALM_RUNS = 3
# Ends a check that would otherwise wait forever.
LEFTOVER_SECONDS = 120
# A fault at one step often occurs at all steps.
FAILURE_LIMIT = 5


class Failure(Exception):
    """A failed check."""


class Result:
    def __init__(self, name):
        self.name = name
        self.outcomes = collections.Counter()
        self.start_kills = 0
        self.failures = []
        self.skipped = None

    @property
    def points(self):
        return self.outcomes.total() + len(self.failures)


class Steps:
    """The steps of one scene that are killed: all of them, or one in `every`."""

    def __init__(self, options, name):
        self.every = options.every
        self.first = 1 + zlib.crc32(f"{options.seed}/{name}".encode()) % self.every
        # Each selected step represents `every` steps.
        self.calm_runs = CALM_RUNS if self.every == 1 else 1

    def __iter__(self):
        return iter(range(self.first, STEP_LIMIT + 1, self.every))

    def before_first(self):
        """Returns the steps before the first selected one in descending order, for a change that ends before that step."""
        return range(self.first - 1, 0, -1)


class SceneRun:
    """One scene, in separate folders. A share that a kill left unchanged is reused for the next kill, including
    its rows."""

    def __init__(self, scene, options, work):
        self.scene, self.options = scene, options
        self.root, self.state = os.path.join(work, "root"), os.path.join(work, "state")
        # The folder at /other: mounted by the server, or a folder or volume in the share.
        self.other = mounted_folder(self.root) if scene.mounts else os.path.join(self.root, "other")
        self.log_path = os.path.join(work, "log")
        self.tokens = {}
        self.request = None
        self.old = self.new = None
        self.accounts = None
        self.start_kills = 0
        self.log = open(self.log_path, "ab")
        self.start_steps = Steps(options, f"{scene.name}, start")

    def close(self):
        self.log.close()
        volume.unmount(self.other)

    # The scene

    def server(self, **faults):
        options = ["--trash"] if self.scene.keeps else []
        if self.scene.mounts:
            options += ["--mount", f"/other={self.other}"]
        return Server(self.options.debug, self.root, self.state, self.log, sync=self.scene.sync,
                      options=options, fail_call=self.scene.fail_call, **faults)

    @contextlib.contextmanager
    def quiet_server(self):
        """Runs a server that is not killed, and yields a client of it; the server must exit cleanly."""
        with self.server() as server:
            yield Client(server.port)
            if server.stop() != 0:
                raise Failure(f"a server without a kill point ended with status {server.status}")

    def picture(self, client):
        picture = Picture(client, self.root, {token: name for name, token in self.tokens.items()})
        if self.scene.has_rules:
            picture.facts |= rules(self.state)
        return picture

    def command(self, *words, password=b""):
        """Runs a davit command for the share, with or without a running server."""
        done = subprocess.run([self.options.debug, *words[:2], self.root, *words[2:], "--state-dir", self.state],
                              input=password, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Failure(f"davit {' '.join(words)} failed: {done.stderr.decode()}")

    def add_accounts(self):
        """Creates the account database. Hashing a password is slow in a debug build, so it is hashed once."""
        database = os.path.join(self.state, "accounts.sqlite")
        if self.accounts:
            os.mkdir(self.state, 0o700)
            with open(os.open(database, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                file.write(self.accounts)
            return
        self.command("account", "add", "admin", password=b"a long password\n")
        self.command("access", "set", "anonymous", "/", "all")
        with open(database, "rb") as file:
            self.accounts = file.read()

    def set_up(self):
        """Creates a new share for the scene."""
        volume.unmount(self.other)
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self.other, ignore_errors=True)
        shutil.rmtree(self.state, ignore_errors=True)
        os.mkdir(self.root)
        if self.scene.needs_volume:
            volume.mount(self.other)
        elif self.scene.mounts:
            os.mkdir(self.other)
        self.tokens = {}
        if self.scene.has_rules:
            self.add_accounts()
        with self.quiet_server() as client:
            client.rule = lambda subject, path, rights: self.command("access", "set", subject, path, rights)
            self.request = self.scene.build(client, self.tokens)
            self.old = self.picture(client)

    def expect_new(self):
        """Records the share before the request, and after the request without a kill."""
        self.set_up()
        with self.quiet_server() as client:
            client.must(self.request.method, self.request.path, self.request.fields, self.request.body)
        with self.quiet_server() as client:
            self.new = self.picture(client)
        self.request = None
        # If the old and the new share were equal, every result would be accepted.
        if self.new == self.old:
            raise Failure("the request changes nothing")

    # One kill point

    def kill_before(self, step):
        """Returns "old" or "new", or None if the server survived."""
        if self.request is None:
            self.set_up()
        request, self.request = self.request, None
        with self.server(kill_at=step) as server:
            answer = Client(server.port).try_request(
                request.method, request.path, request.fields, request.body)
            status = server.stop()
        if status not in (0, -9):
            raise Failure(f"the server ended with status {status}")
        try:
            outcome = self.look_after(answer, request)
            if status == 0 and (answer is None or outcome != "new"):
                raise Failure("the server survived, but the request had no effect")
        except Failure as failure:
            raise Failure(f"{self.last_kill() if status else 'no kill'}: {failure}") from None
        # The share cannot be reused if the checks have moved items to the trash or continued an upload.
        if outcome == "old" and not self.scene.keeps and not isinstance(request, UploadRequest):
            self.request = request
        return outcome if status else None

    def look_after(self, answer, request):
        # Unfinished work of the trash has no intent in the database, so a share with a trash is always tested.
        if self.scene.keeps or count_intents(self.state) or self.has_open_moves():
            self.kill_starts()
        with self.quiet_server() as client:
            if count_intents(self.state):
                raise Failure("an intent is left after the start")
            if self.has_open_moves():
                raise Failure("a move of rules is left after the start")
            client.look()
            is_upload = isinstance(request, UploadRequest)
            # The partial content of an upload is not a leftover.
            if not is_upload:
                self.check_sweep()
            left = self.picture(client)
            outcome = self.judge(left, answer, request)
            if is_upload:
                self.end_upload(client, request, outcome)
                left = self.picture(client)
            self.check_locks(client, left)
            self.check_rebirth(client, left)
            self.check_sweep()
            return outcome

    def has_open_moves(self):
        return self.scene.has_rules and rows(self.state, "SELECT 1 FROM rule_move", "accounts") != []

    def kill_starts(self):
        """Kills a start that finishes an interrupted change, at each selected step."""
        for step in self.start_steps:
            try:
                self.server(kill_start_at=step).kill()
                return
            except Died:
                self.start_kills += 1
        raise Failure(f"the start did not survive within {STEP_LIMIT} steps")

    # Checks of the result

    def judge(self, left, answer, request):
        old, new = self.old, self.new
        for path in left.paths & old.paths:
            if left.tags[path] and left.tags[path] == old.tags[path] and left.content(path) != old.content(path):
                raise Failure(f"/{path} has different content with its old entity tag")
        if left == new:
            if answer is not None and not answer.is_success:
                raise Failure(f"the response is {answer.status}, but everything is new")
            if answer is not None and answer.token and answer.token not in left.tokens:
                raise Failure("the lock token of the response is not in lockdiscovery")
            tag = answer is not None and answer.fields["ETag"]
            made = tag and (answer.fields.get("Content-Location") or answer.fields.get("Location", request.path))
            if tag and tag != left.tags[urllib.parse.unquote(made).strip("/")]:
                raise Failure("the entity tag of the response is not that of the new content")
            return "new"
        if left != old:
            details = ["neither old nor new", "against old:", *left.differences(old)]
            raise Failure("\n    ".join(details + ["against new:", *left.differences(new)]))
        if answer is not None and answer.is_success:
            raise Failure(f"the response is {answer.status}, but nothing has changed")
        if left.tags != old.tags:
            raise Failure("nothing has changed except the entity tags")
        return "old"

    def end_upload(self, client, request, outcome):
        """Completes an upload that began before the kill, or deletes one whose URL the client does not know."""
        for name in self.uploads():
            upload = f"/.davit-resumableuploads/{name}"
            head = client.request("HEAD", upload)
            if head.fields.get("Upload-Complete") == "?1":
                if outcome == "old":
                    raise Failure("the upload is complete, but nothing has changed")
                continue
            if not request.is_begun:
                client.must("DELETE", upload)
                continue
            if outcome == "new":
                raise Failure("everything is new, but the upload is not complete")
            sent = len(request.content) - len(request.body)
            offset = int(head.fields["Upload-Offset"])
            if not sent <= offset <= len(request.content):
                raise Failure(f"the upload is at {offset} of {len(request.content)}, but {sent} bytes were acknowledged")
            client.must("PATCH", upload, *request.rest(offset))
            if self.picture(client) != self.new:
                raise Failure("the completed upload has the wrong content")

    def uploads(self):
        """Returns the IDs of the uploads in the database."""
        return [name for name, in rows(self.state, "SELECT id FROM upload")]

    def check_locks(self, client, left):
        """Checks that every reported lock is enforced."""
        for path in left.locked:
            status = client.request("PUT", f"/{path}", {}, b"from a stranger").status
            if status != 423:
                raise Failure(f"PUT without a token on the locked /{path} returned {status}")

    def check_rebirth(self, client, left):
        """Checks that a new resource inherits nothing from one that was removed or never completed."""
        gone = []
        collections = {path for path in left.paths if left.is_collection(path)}
        for path in sorted((self.old.paths | self.new.paths) - left.paths):
            if os.path.dirname(path) not in collections:
                continue
            gone.append(path)
            model = self.old if path in self.old.paths else self.new
            if model.is_collection(path):
                client.must("MKCOL", f"/{path}")
                collections.add(path)
            else:
                client.put(f"/{path}", b"again")
        if not gone:
            return
        again = self.picture(client)
        for path in gone:
            _, properties, locks = again.facts[f"/{path}"]
            if properties or locks:
                raise Failure(f"the new /{path} has {properties} and {locks}")
        for path in reversed(gone):
            client.must("DELETE", f"/{path}")

    def check_sweep(self):
        """Checks that leftovers of the kill are removed when their folder is listed."""
        deadline = time.monotonic() + LEFTOVER_SECONDS
        while left_behind := leftovers(self.root):
            # A listing skips items that the background sweep is removing.
            if time.monotonic() > deadline:
                raise Failure(f"leftovers still exist {LEFTOVER_SECONDS} s after a listing: {left_behind}")
            time.sleep(0.002)

    def last_kill(self):
        """Returns the interrupted call, from the log."""
        with open(self.log_path, "rb") as log:
            lines = [line for line in log.read().decode(errors="replace").splitlines() if "killed before" in line]
        return lines[-1].removeprefix("davit: ") if lines else "killed"


def rows(state, query, name="state"):
    """Queries a database in the state folder.

    Uses a copy, because a running server locks the database, and the traces of a crash must remain for the next start.
    """
    with tempfile.TemporaryDirectory() as folder:
        for file in (f"{name}.sqlite", f"{name}.sqlite-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(os.path.join(state, file), folder)
        with contextlib.closing(sqlite3.connect(os.path.join(folder, f"{name}.sqlite"))) as database:
            return database.execute(query).fetchall()


def count_intents(state):
    """Returns the number of interrupted renames; if there are any, the start has work to do."""
    return rows(state, "SELECT count(*) FROM intent")[0][0]


def rules(state):
    """Returns the rules of folders in the share and in the trash."""
    facts = {}
    for path, subject, name, rights in rows(state, "SELECT path, subject, name, rights FROM rule", "accounts"):
        facts[f"rule for {subject} {name} in /{path.decode()}"] = rights
    for folder, path, subject, name, rights in rows(
            state, "SELECT folder, path, subject, name, rights FROM trashed_rule", "accounts"):
        facts[f"rule for {subject} {name} in {path.decode()} of /{folder.decode()} in the trash"] = rights
    return facts


def run_scene(scene, options, work, stopping):
    result = Result(scene.name)
    if scene.needs_volume and options.no_volumes:
        result.skipped = options.no_volumes
        return result
    os.mkdir(work)
    run = SceneRun(scene, options, work)
    try:
        run.expect_new()
        kill_everywhere(run, result, Steps(options, scene.name), stopping)
        # A release build has no kill points, so nothing would be tested.
        if not result.points:
            result.failures.append("the server never killed itself")
    except (Failure, RuntimeError, Died) as failure:
        result.failures.append(f"the scene: {failure!r}")
    finally:
        run.close()
    result.start_kills = run.start_kills
    if result.failures:
        with open(run.log_path, "rb") as log:
            result.failures[-1] += "\n  the server's log: " + log.read()[-1500:].decode(errors="replace")
    shutil.rmtree(work, ignore_errors=True)
    return result


def kill_everywhere(run, result, steps, stopping):
    calm = 0
    for step in steps:
        outcome = kill_once(run, result, step, stopping)
        if len(result.failures) == FAILURE_LIMIT:
            return
        calm = calm + 1 if outcome is None else 0
        if calm == steps.calm_runs:
            break
    else:
        result.failures.append(f"did not survive within {STEP_LIMIT} steps")
    for step in steps.before_first():
        if result.points:
            return
        kill_once(run, result, step, stopping)


def kill_once(run, result, step, stopping):
    """Returns "old", "new" or "wrong", and counts it in `result`; None if the server survived."""
    if stopping.is_set():
        raise Failure("interrupted")
    try:
        outcome = run.kill_before(step)
    except Failure as failure:
        result.failures.append(f"step {step}, {failure}")
        return "wrong"
    if outcome is not None:
        result.outcomes[outcome] += 1
    return outcome
