"""The change journal: the cost of sync-collection, and the cost of an active journal for a PUT."""

import os
import re

from client import WrongAnswer, ask
from servers import Davit

from .base import Load, Request, variant, write_members
from .process import Start
from .write import PutNew

HEADERS = {"Content-Type": "application/xml; charset=utf-8"}
FOLDERS, MEMBERS, CHANGES = 100, 1000, 10


def report(token):
    return (f'<?xml version="1.0" encoding="utf-8"?><D:sync-collection xmlns:D="DAV:"><D:sync-token>{token}'
            "</D:sync-token><D:sync-level>infinite</D:sync-level><D:prop><D:getetag/></D:prop>"
            "</D:sync-collection>").encode()


def token(port, old=""):
    """Returns the sync token of a response; the first response takes time proportional to the tree."""
    while True:
        status, _, body = ask(port, "REPORT", "/", report(old), HEADERS)
        if status == 503:
            continue
        found = re.search(rb"<D:sync-token>([^<]+)</D:sync-token>", body)
        if status != 207 or not found:
            raise WrongAnswer(f"sync-collection returned {status}")
        return found[1].decode()


class SyncCollection(Load):
    name = "sync-collection"
    title = f"sync-collection, {CHANGES} changes among {FOLDERS * MEMBERS:,} files, 1 connection"
    unit = "µs/request"
    contenders = [Davit]
    notes = {"others": "do not support `sync-collection`"}
    connections = 1
    count = 500

    def prepare(self, root, setup):
        for folder in range(FOLDERS):
            write_members(os.path.join(root, f"folder-{folder}"), MEMBERS)

    def before(self, turn):
        self.token = token(turn.port)
        for folder in range(CHANGES):
            with open(os.path.join(turn.root, f"folder-{folder}", "member-000000500.txt"), "a") as file:
                file.write("x")

    def requests(self, turn):
        return [Request("REPORT", "/", HEADERS, report(self.token), statuses=(207,), entries=CHANGES)]


AwakeDavit, AsleepDavit = Davit.called("journal awake"), Davit.called("journal asleep")


class PutAwake(PutNew):
    def ready(self, server, setup):
        if isinstance(server, AwakeDavit):
            token(server.port)


class StartAwake(Start):
    """A start with an active journal must not wait until the whole tree is read."""

    name = "start-100k"
    title = "start to first response, 100,000 files, with the journal active and inactive"
    contenders = [Davit, AsleepDavit]
    floor = AsleepDavit.name
    folders = FOLDERS

    def prepare(self, root, setup):
        super().prepare(root, setup)
        for folder in range(self.folders):
            write_members(os.path.join(root, f"folder-{folder}"), MEMBERS)

    def ready(self, server, setup):
        """Activates the journal in the state folder that all starts share."""
        if isinstance(server, AsleepDavit):
            return
        first = self.another(server)
        try:
            first.wait_until_ready()
            token(first.port)
        finally:
            first.stop()


ROWS = [
    SyncCollection,
    variant(PutAwake, "PutJournal", name="put-journal", contenders=[Davit, AwakeDavit], notes={},
            title="PUT 1 KiB, new names, tmpfs, 32 connections, with the journal inactive and active"),
    StartAwake,
    variant(StartAwake, "StartAwake1M", name="start-1m", folders=10 * FOLDERS, rounds=2,
            title="start to first response, 1,000,000 files, with the journal active and inactive"),
]
