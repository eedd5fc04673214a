#!/usr/bin/env python3
"""Kills a node before and after every statement of a change, and stops nodes there, while another node uses the same share.

    Tests/Cluster/kills.py --davit PATH --postgres FOLDER [--every K] [--seed TEXT] [--only TEXT] [--short]

PATH is a debug build. FOLDER is as for nodes.py. The changes are those of Tests/Crash, and what must hold is what must hold
there: everything is old or new, and new if the request was answered. But here another node shows it, immediately and without
a restart. A node that is stopped in a change holds up others for a limited time, and answers truly when it continues. When all
is done, no content is left that nothing uses.

With --every K, only one step in K is killed; --seed selects them. The last line is `kills: N passed, M failed`.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Crash"))

import run as crash
from dav import DAV, TRASH_BODY, Client, Picture, Resource, property_update
from nodes import LIMIT_SECONDS, Node
from run import Failure, Result, Steps
from scenes import SCENES

# How long a stopped node may hold up others: the server ends its transaction after 5 s, and the machine may be slow.
HOLD_UP_SECONDS = 20
EXECUTABLE = (b'<D:propfind xmlns:D="DAV:"><D:prop><A:executable xmlns:A="http://apache.org/dav/props/"/></D:prop>'
              b"</D:propfind>")
SYNC = ('<D:sync-collection xmlns:D="DAV:"><D:sync-token>{}</D:sync-token><D:sync-level>infinite</D:sync-level>'
        "<D:prop/></D:sync-collection>")
TOKEN = b'<D:propfind xmlns:D="DAV:"><D:prop><D:sync-token/></D:prop></D:propfind>'
# Of changes in which a node is stopped.
STOPPED = ("PUT new", "PUT new, large", "PUT over a file, properties and lock", "MKCOL with properties",
           "DELETE tree with properties", "COPY tree with properties to tree with properties",
           "MOVE tree with properties to tree with properties", "LOCK free name", "UNLOCK", "upload, last part",
           "DELETE tree with properties, kept")


class SharePicture(Picture):
    """Everything in a share that clients of a node can see, and the rows of its trash."""

    def __init__(self, client, place, known_tokens):
        self.place = place
        super().__init__(client, None, known_tokens)

    def _look_at_contents(self, client, _):
        # What is expected to be old or new is new if the transaction was committed in between.
        for path in self.paths:
            if not self.is_collection(path):
                content = client.must("GET", f"/{path}").body
                self.facts[f"disk /{path}"] = (hashlib.sha256(content).hexdigest(),)
        answer = client.must("PROPFIND", "/", {"Depth": "infinity"}, EXECUTABLE)
        for response in ElementTree.fromstring(answer.body).findall(f"{DAV}response"):
            href = response.findtext(f"{DAV}href")
            self.facts[f"executable {href}"] = b"\n".join(ElementTree.tostring(part) for part in response[1:])

    def _look_at_trash(self, client, _):
        if not self.place.keeps:
            return
        answer = client.must("REPORT", "/", {"Depth": "infinity"}, TRASH_BODY)
        listed = []
        for response in ElementTree.fromstring(answer.body).findall(f"{DAV}response"):
            prop = response.find(f"{DAV}propstat/{DAV}prop")
            listed.append((response.findtext(f"{DAV}href"), prop.findtext("{urn:davit:trash}reason")))
        self.facts["the list of the trash"] = sorted(listed)
        # The names of entries are random.
        self.facts["the content of the trash"] = sorted(self.place.rows(
            "WITH RECURSIVE tree AS (SELECT id, kind, length, ''::text COLLATE \"C\" AS path, blob FROM resource WHERE share = $share "
            "AND parent = (SELECT id FROM resource WHERE share = $share AND parent = 0 AND key LIKE '.davit-trash%') "
            "UNION ALL SELECT r.id, r.kind, r.length, t.path || '/' || convert_from(r.name, 'UTF8'), r.blob FROM tree t "
            "JOIN resource r ON r.share = $share AND r.parent = t.id) SELECT path, kind, length, blob IS NULL FROM tree"))


def path_of(response):
    return urllib.parse.unquote(response.findtext(f"{DAV}href"))


class Place:
    """A share, and the node that shows it."""

    def __init__(self, cluster, number, keeps, ruled):
        self.cluster, self.keeps, self.ruled = cluster, keeps, ruled
        self.share = f"kills-{number}{'-kept' if keeps else ''}"
        self.database = cluster.databases[ruled]
        self.options = ["--trash"] if keeps else []
        if ruled:
            with cluster.lock:
                # The share must exist.
                self.start().kill()
                if not cluster.has_account:
                    self.command("account", "add", "admin", password=b"a long password\n")
                cluster.has_account = True
            self.command("access", "set", "anonymous", "/", "all")
        self.node = self.start()
        self.client = Client(self.node.port)

    @property
    def url(self):
        name = "ruled" if self.ruled else "kills"
        return f"postgresql://postgres@/{name}?host={self.cluster.folder}#{self.share}"

    def start(self, **faults):
        environment = {f"DAVIT_{name.upper()}": str(value) for name, value in faults.items()}
        node = Node(self.cluster.davit, self.database, self.share, *self.options, blobs=self.cluster.blobs[self.ruled],
                    environment=environment)
        if faults:
            self.cluster.victims.append(node.process.pid)
        return node

    def command(self, *words, password=b""):
        done = subprocess.run([str(self.cluster.davit), *words[:2], self.url, *words[2:]], input=password,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Failure(f"davit {' '.join(words)} failed: {done.stderr.decode()}")

    def rows(self, query):
        share = f"(SELECT id FROM share WHERE name = '{self.share}')"
        return self.cluster.rows(query.replace("$share", share), self.ruled)

    def clear(self):
        """Removes everything that clients can see."""
        for response in ElementTree.fromstring(self.client.look().body).findall(f"{DAV}response"):
            for token in Resource(response).tokens:
                # Members of a locked collection name its lock, too.
                self.client.request("UNLOCK", path_of(response), {"Lock-Token": f"<{token}>"})
        members = ElementTree.fromstring(self.client.must("PROPFIND", "/", {"Depth": "1"}).body)
        for response in members.findall(f"{DAV}response"):
            if path_of(response) != "/":
                self.client.must("DELETE", path_of(response))
        if self.keeps:
            self.command("trash", "empty")
        self.ended_uploads = set(self.uploads())

    def uploads(self):
        return self.rows("SELECT id FROM upload WHERE share = $share")

    def token(self):
        return ElementTree.fromstring(self.client.must("PROPFIND", "/", {"Depth": "0"}, TOKEN).body).findtext(
            f".//{DAV}sync-token")

    def changes(self, token):
        """Returns the paths that have changed since a token; None if a client must read everything again."""
        answer = self.client.request("REPORT", "/", {"Depth": "0"}, SYNC.format(token).encode())
        if answer.status == 403 and b"valid-sync-token" in answer.body:
            return None
        if not answer.is_success:
            raise Failure(f"sync-collection returned {answer.status}")
        return {path_of(response).strip("/")
                for response in ElementTree.fromstring(answer.body).findall(f"{DAV}response")}


class Cluster:
    """The databases and the folders of content; with accounts (True) and without (False)."""

    def __init__(self, davit, folder, work):
        self.davit, self.folder = davit, folder
        self.has_account = False
        self.blobs = {False: work / "blobs", True: work / "ruled"}
        self.databases = {False: f"host={folder} user=postgres dbname=kills", True: f"host={folder} user=postgres dbname=ruled"}
        self.victims = []
        # Of the accounts.
        self.lock = threading.Lock()

    def psql(self, statement, ruled):
        done = subprocess.run([str(self.folder / "run"), "psql", "-h", str(self.folder), "-U", "postgres", "-qAt", "-c",
                               f"SET search_path = davit; {statement}", "ruled" if ruled else "kills"],
                              check=True, capture_output=True, text=True)
        return done.stdout

    def rows(self, statement, ruled=False):
        return self.psql(statement, ruled).splitlines()

    def wait_for_end(self, pid):
        """Waits until the server has ended the sessions of a process. What was on the way to it counts."""
        deadline = time.monotonic() + LIMIT_SECONDS
        query = f"SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'davit %:{pid}'"
        while self.rows(query) != ["0"]:
            if time.monotonic() > deadline:
                raise Failure("the sessions of the killed node do not end")


class NodeRun(crash.SceneRun):
    """One scene, on a share that another node shows."""

    def __init__(self, scene, options, place, work):
        super().__init__(scene, options, work)
        self.place = place
        self.sync_token = None
        self.victim = None

    def server(self, **faults):
        self.victim = self.place.start(**faults)
        return self.victim

    @contextlib.contextmanager
    def quiet_server(self):
        yield self.place.client

    def picture(self, client):
        picture = SharePicture(client, self.place, {token: name for name, token in self.tokens.items()})
        if self.scene.has_rules:
            for row in self.place.rows("SELECT subject, name, convert_from(path, 'UTF8'), rights FROM share_rule "
                                       "WHERE share = $share"):
                picture.facts[f"rule {row}"] = True
            # Those of entries that are gone are removed later.
            for row in self.place.rows("SELECT subject, name, convert_from(path, 'UTF8'), convert_from(folder, 'UTF8'), rights "
                                       "FROM share_trashed_rule t WHERE share = $share AND EXISTS (SELECT FROM resource r "
                                       "WHERE r.share = t.share AND r.key = convert_to(t.entry, 'UTF8'))"):
                picture.facts[f"rule in the trash {row}"] = True
        return picture

    def set_up(self):
        self.place.clear()
        self.tokens = {}
        client = self.place.client
        client.rule = lambda subject, path, rights: self.place.command("access", "set", subject, path, rights)
        self.request = self.scene.build(client, self.tokens)
        self.end_moves()
        self.old = self.picture(client)

    def kill_before(self, step):
        if self.request is None:
            self.set_up()
        self.sync_token = self.place.token()
        return super().kill_before(step)

    def look_after(self, answer, request):
        client = self.place.client
        # The other node does not wait for anything.
        client.look()
        self.place.cluster.wait_for_end(self.victim.process.pid)
        self.end_moves()
        left = self.picture(client)
        outcome = self.judge(left, answer, request)
        self.check_changes(left, outcome)
        if isinstance(request, crash.UploadRequest):
            self.end_upload(client, request, outcome)
            left = self.picture(client)
        self.check_locks(client, left)
        self.check_rebirth(client, left)
        return outcome

    def end_moves(self):
        """Waits until the rules of an interrupted move are those of one place again."""
        if not self.scene.has_rules:
            return
        if self.victim:
            self.place.cluster.psql(
                f"UPDATE node SET seen = seen - interval '1 day' WHERE name LIKE '%:{self.victim.process.pid}'", True)
        deadline = time.monotonic() + LIMIT_SECONDS
        while self.place.rows("SELECT 1 FROM share_rule_move WHERE share = $share"):
            if time.monotonic() > deadline:
                raise Failure("a move of rules does not end")

    def check_changes(self, left, outcome):
        """The journal contains the change exactly if it was made."""
        changed = self.place.changes(self.sync_token)
        # A token cannot distinguish the members of a collection from those of the one that has replaced it.
        replaces = any(self.old.is_collection(path) for path in self.old.paths & left.paths if path)
        # Nor is it valid after a change of the rules, which move with a folder.
        if changed is None and outcome == "new" and (replaces or self.scene.has_rules):
            return
        if changed is None:
            raise Failure("the token is refused")
        if outcome == "old":
            if changed:
                raise Failure(f"nothing has changed, but the journal contains {changed}")
            return
        expected = {path for path in left.paths | self.old.paths if path
                    and (path not in left.paths or path not in self.old.paths or left.tags[path] != self.old.tags[path])}
        # A removed folder stands for its members, and a member of the trash is none of the share.
        missing = {path for path in expected if not any(path == name or path.startswith(name + "/") for name in changed)}
        if missing:
            raise Failure(f"the journal lacks {missing}; it contains {changed}")

    def uploads(self):
        return [name for name in self.place.uploads() if name not in self.place.ended_uploads]

    def last_kill(self):
        lines = [line for line in self.victim.text().splitlines() if "before step" in line]
        return lines[-1].removeprefix("davit: ") if lines else "killed"

    # Stopped nodes

    def stop_before(self, step):
        """Stops a node at a step while it processes the request. Returns whether it was stopped."""
        if self.request is None:
            self.set_up()
        request, self.request = self.request, None
        with self.server(stop_at=step) as victim, concurrent.futures.ThreadPoolExecutor(1) as pool:
            job = pool.submit(Client(victim.port).try_request, request.method, request.path, request.fields, request.body)
            while not job.done() and not is_stopped(victim.process.pid):
                select.select([], [], [], 0.005)
            stopped = not job.done()
            start = time.monotonic()
            try:
                before = None
                if stopped:
                    # It conflicts with each change below the root.
                    while (answer := self.place.client.request("PROPPATCH", "/", {}, property_update(four=str(step)))).status == 503:
                        if time.monotonic() - start > HOLD_UP_SECONDS:
                            raise Failure("the stopped node holds up others for too long")
                    if answer.status != 207:
                        raise Failure(f"PROPPATCH beside a stopped node returned {answer.status}")
                    before = self.picture(self.place.client)
            finally:
                # It may be stopped once more by nothing: there is one step of this number.
                os.kill(victim.process.pid, signal.SIGCONT)
            answer = job.result()
            if answer is None:
                raise Failure("the node that continues does not answer")
            after = self.picture(self.place.client)
            if before is not None and before not in (self.old, self.new):
                raise Failure("beside the stopped node, everything is neither old nor new")
            if after != (self.new if answer.is_success else self.old):
                raise Failure(f"after the answer {answer.status}, everything is {'new' if after == self.new else 'not new'}")
            if before is not None and before == self.new and not answer.is_success:
                raise Failure(f"everything was new, but the answer is {answer.status}")
            if victim.stop() != 0:
                raise Failure("the node that was continued does not end cleanly")
        return stopped


def is_stopped(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def scenes(options):
    for scene in SCENES:
        if scene.needs_volume or scene.mounts or scene.fail_call or scene.sync != "none":
            continue
        selected = not options.short or zlib.crc32(f"{options.seed}/{scene.name}".encode()) % 4 == 0
        if options.only in scene.name and selected:
            yield scene


def run_scene(scene, options, places, work):
    result = Result(scene.name)
    place = None
    try:
        place = places.take(scene.keeps, scene.has_rules)
        node_run = NodeRun(scene, options, place, tempfile.mkdtemp(dir=work))
        node_run.expect_new()
        crash.kill_everywhere(node_run, result, Steps(options, scene.name), places.stopping)
        if not result.points:
            result.failures.append("the node never killed itself")
        if scene.name in STOPPED:
            stop_everywhere(node_run, result, options)
    except (Failure, RuntimeError, subprocess.CalledProcessError) as failure:
        result.failures.append(f"the scene: {failure!r} {getattr(failure, 'stderr', '')}")
    else:
        if result.failures:
            result.failures[-1] += "\n  the log of the last node: " + node_run.victim.text()[-1500:]
    finally:
        if place:
            places.give_back(place)
    return result


def stop_everywhere(node_run, result, options):
    """Stops the node at some steps, up to the first one that the request does not reach."""
    every = 5 * options.every
    node_run.request = None
    for step in Steps(argparse.Namespace(every=every, seed=options.seed), f"{node_run.scene.name}, stopped"):
        try:
            if not node_run.stop_before(step):
                return
            result.start_kills += 1
        except (Failure, RuntimeError) as failure:
            result.failures.append(f"stopped at step {step}, {node_run.last_kill()}: {failure}")
            return


class Places:
    """The shares that no scene uses."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.free = []
        self.all = []
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def take(self, keeps, ruled):
        with self.lock:
            for place in self.free:
                if (place.keeps, place.ruled) == (keeps, ruled):
                    self.free.remove(place)
                    return place
            number = len(self.all)
            self.all.append(None)
        place = Place(self.cluster, number, keeps, ruled)
        with self.lock:
            self.all[number] = place
        return place

    def give_back(self, place):
        with self.lock:
            self.free.append(place)


def settle(cluster, places):
    """Lets everything expire, and checks that exactly the objects in use are left. Returns what is wrong."""
    problems = []
    try:
        for place in places:
            place.clear()
    except (Failure, RuntimeError) as failure:
        return [repr(failure)]
    for ruled in sorted({place.ruled for place in places}):
        for pid in cluster.victims:
            cluster.psql(f"UPDATE node SET seen = seen - interval '1 day' WHERE name LIKE '%:{pid}'", ruled)
        deadline = time.monotonic() + LIMIT_SECONDS
        queries = {
            "staged blobs": "SELECT count(*) FROM staged_blob", "staged objects": "SELECT count(*) FROM staged_object",
            "unused blobs": "SELECT count(*) FROM blob", "segments": "SELECT count(*) FROM segment",
            "small content": "SELECT count(*) FROM small_content", "uploads": "SELECT count(*) FROM upload",
            # Each share has three collections of its own.
            "resources": "SELECT count(*) - 3 * (SELECT count(*) FROM share) FROM resource",
            "locks": "SELECT count(*) FROM lock",
            "properties": "SELECT count(*) FROM property p JOIN resource r ON r.id = p.resource WHERE r.parent > 0",
            "objects to remove": "SELECT count(*) FROM removed_object WHERE NOT is_removed"}
        while queries:
            cluster.psql("UPDATE blob SET unreferenced = unreferenced - interval '1 day' WHERE reference_count = 0", ruled)
            cluster.psql("UPDATE upload SET expiry = expiry - interval '100 days'", ruled)
            queries = {what: query for what, query in queries.items() if cluster.rows(query, ruled) != ["0"]}
            if time.monotonic() > deadline:
                problems.append(f"what is left does not vanish: {sorted(queries)}")
                break
            for place in places:
                place.client.request("OPTIONS", "/")
        blobs = cluster.blobs[ruled]
        left = [path.name for path in blobs.glob("??/*")]
        if left:
            problems.append(f"{len(left)} objects are left: {left[:3]}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", required=True, type=pathlib.Path)
    parser.add_argument("--postgres", required=True, type=pathlib.Path)
    parser.add_argument("--rclone", help="not used")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="kill at only one step in K (default: 1)")
    parser.add_argument("--seed", default=os.environ.get("SEED", "0"), help="any text; selects the steps")
    parser.add_argument("--only", default="", help="only scenes whose name contains this text")
    parser.add_argument("--short", action="store_true", help="kill at few steps of some of the changes")
    parser.add_argument("--workers", type=int, default=2 * max(2, os.cpu_count() or 1))
    options = parser.parse_args()
    if options.short:
        options.every = max(options.every, 16)
    options.davit = options.davit.resolve()
    options.debug = str(options.davit)
    for name in ("kills", "ruled"):
        for program, words in (("dropdb", ["--if-exists", "--force"]), ("createdb", [])):
            subprocess.run([str(options.postgres / "run"), program, "-h", str(options.postgres), "-U", "postgres", *words, name],
                           check=True, capture_output=True)
    with tempfile.TemporaryDirectory(prefix="davit-kills-") as work:
        work = pathlib.Path(work)
        cluster = Cluster(options.davit, options.postgres, work)
        places = Places(cluster)
        try:
            with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
                results = list(pool.map(lambda scene: run_scene(scene, options, places, work), scenes(options)))
            problems = []
            for place in places.all:
                if place and place.node.process.poll() is not None:
                    problems.append(f"a node that was not killed has ended: {place.node.text()[:6000]}")
            if not problems:
                problems = settle(cluster, [place for place in places.all if place])
        finally:
            places.stopping.set()
            for place in places.all:
                if place:
                    place.node.__exit__()
    failures = [f"{result.name}: {failure}" for result in results for failure in result.failures]
    failures += [f"at the end: {problem}" for problem in problems]
    width = max(len(result.name) for result in results)
    print(f"{'change':{width}}   old   new  stopped  wrong")
    for result in results:
        print(f"{result.name:{width}}  {result.outcomes['old']:4}  {result.outcomes['new']:4}  {result.start_kills:7}"
              f"  {len(result.failures):5}")
    for failure in failures:
        print(f"FAILED: {failure}")
    # One more for what is left at the end.
    passed = sum(result.outcomes.total() + result.start_kills for result in results) + (0 if problems else 1)
    print(f"kills: {passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
