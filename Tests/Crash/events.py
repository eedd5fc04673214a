"""Kills davit at every step of changes with events. After a restart, each change that has been made has an event, and an event
that reports a change as done is right."""

import json
import os
import shutil

from dav import Client
from run import Failure, Result, Steps
from server import Server

# The content of the share before each change.
FILES = {"a": b"old a", "b": b"old b", "d/e": b"old e", "d/f/g": b"old g"}

# Name, method, path, fields, body, the operation, and the paths of the event.
CHANGES = [
    ("PUT", "PUT", "/new", {}, b"new", "upload", "/new", None),
    ("PUT over a file", "PUT", "/a", {}, b"new", "upload", "/a", None),
    ("PUT of a large file", "PUT", "/a", {}, b"new" * 100_000, "upload", "/a", None),
    ("MKCOL", "MKCOL", "/new", {}, None, "create-folder", "/new", None),
    ("MOVE", "MOVE", "/d", {"Destination": "/n"}, None, "move", "/d", "/n"),
    ("MOVE over a file", "MOVE", "/a", {"Destination": "/b"}, None, "move", "/a", "/b"),
    ("COPY", "COPY", "/d", {"Destination": "/n"}, None, "copy", "/d", "/n"),
    ("DELETE", "DELETE", "/a", {}, None, "delete", "/a", None),
    ("DELETE of a folder", "DELETE", "/d", {}, None, "delete", "/d", None),
]
# A change after the restart, whose event is the last one.
LAST = "/last"


def tree(root):
    """Returns the content of all files, and the names of all folders, without hidden ones."""
    found = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".davit-")]
        for name in names:
            found[os.path.relpath(os.path.join(folder, name), root)] = None
        for name in files:
            if not name.startswith(".davit-"):
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.relpath(os.path.join(folder, name), root)] = file.read()
    return found


class Events:
    """Reads events from a FIFO, to which the event command writes them."""

    def __init__(self, path):
        os.mkfifo(path)
        # For reading and writing, so that there is always a reader and a writer.
        self.descriptor = os.open(path, os.O_RDWR)
        self.text = ""
        self.decoder = json.JSONDecoder()

    def until(self, path):
        """Returns the events up to the one of a path, which is waited for."""
        events = []
        while True:
            while self.text:
                try:
                    event, end = self.decoder.raw_decode(self.text)
                except json.JSONDecodeError:
                    break
                self.text = self.text[end:]
                events.append(event)
                if event["path"] == path:
                    return events
            self.text += os.read(self.descriptor, 65536).decode()

    def close(self):
        os.close(self.descriptor)


class ChangeRun:
    """One change, which is killed at each step."""

    def __init__(self, change, options, work):
        self.name, self.method, self.path, self.fields, self.body, self.operation, self.first, self.second = change
        self.options, self.work = options, work
        self.root, self.state = os.path.join(work, "root"), os.path.join(work, "state")
        self.fifo = os.path.join(work, "fifo")
        self.expected = None

    def server(self, log, **faults):
        # Each event is less than PIPE_BUF bytes long, so it is written in one piece.
        return Server(self.options.debug, self.root, self.state, log,
                      options=["--event-command", f"/usr/bin/tee -a {self.fifo}"], **faults)

    def kill_before(self, step):
        """Returns "old" or "new", or None if the server survived."""
        shutil.rmtree(self.work, ignore_errors=True)
        for path, content in FILES.items():
            path = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        old = tree(self.root)
        events = Events(self.fifo)
        try:
            with open(os.path.join(self.work, "log"), "ab") as log:
                with self.server(log, kill_at=step) as server:
                    answer = Client(server.port).try_request(self.method, self.path, self.fields, self.body)
                    status = server.stop()
                if status not in (0, -9):
                    raise Failure(f"the server ended with status {status}")
                with self.server(log) as server:
                    left = tree(self.root)
                    Client(server.port).must("MKCOL", LAST)
                    found = events.until(LAST)[:-1]
                    if server.stop() != 0:
                        raise Failure(f"the server ended with status {server.status}")
        finally:
            events.close()
        return self.judge(old, left, answer, status, found)

    def judge(self, old, left, answer, status, events):
        if self.expected is None and status == 0:
            self.expected = left
        for event in events:
            if (event["op"], event["path"], event.get("to")) != (self.operation, self.first, self.second):
                raise Failure(f"an event of another change: {event}")
            if event["result"] not in ("done", "unknown"):
                raise Failure(f"an event with the result {event['result']}")
        if len({event["id"] for event in events}) > 1:
            raise Failure(f"several events: {events}")
        if left != old and not events:
            raise Failure("the change has no event")
        if left == old and any(event["result"] == "done" for event in events):
            raise Failure("the event reports a change that was not made")
        if answer is not None and answer.is_success and not any(event["result"] == "done" for event in events):
            raise Failure(f"the change was answered, but its event is {events}")
        if status != 0:
            return "old" if left == old else "new"
        if answer is None or not answer.is_success or left == old:
            raise Failure("the server survived, but the request had no effect")
        return None


def run_events(change, options, folder, stopping):
    """Returns the result of one change."""
    run = ChangeRun(change, options, folder)
    result = Result(f"{run.name}, with events")
    steps = Steps(options, result.name)
    calm = 0
    try:
        for step in steps:
            if stopping.is_set() or calm == steps.calm_runs:
                break
            try:
                outcome = run.kill_before(step)
            except Failure as failure:
                result.failures.append(f"step {step}: {failure}")
                if len(result.failures) == 5:
                    break
                continue
            if outcome is None:
                calm += 1
            else:
                calm = 0
                result.outcomes[outcome] += 1
        if not result.outcomes and not result.failures:
            # The change ends before the first selected step.
            for step in steps.before_first():
                outcome = run.kill_before(step)
                if outcome is not None:
                    result.outcomes[outcome] += 1
                    break
    except (Failure, RuntimeError, OSError) as failure:
        result.failures.append(repr(failure))
    return result
