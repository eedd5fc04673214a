"""LOCK and UNLOCK, alone and among other locks, and PUT with a lock."""

import os

from client import SETUP, TEARDOWN, WORK

from .base import ALL_STATE, KIB, Load, Request, variant, write_members

HEADERS = {"Content-Type": "application/xml; charset=utf-8", "Timeout": "Second-3600", "Depth": "0"}
BODY = (b'<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>'
        b"<D:locktype><D:write/></D:locktype><D:owner>bench</D:owner></D:lockinfo>")
NOTES = {"nginx": "keeps locks only in memory"}


def lock(target, phase=WORK):
    return Request("LOCK", target, HEADERS, BODY, statuses=(200, 201), takes_token=True, phase=phase)


def unlock(target, phase=WORK):
    return Request("UNLOCK", target, {"Lock-Token": "{token}"}, statuses=(204,), phase=phase)


class Lock(Load):
    name = "lock"
    title = "LOCK + UNLOCK, 1 connection"
    unit = "µs/pair"
    kind = "lock"
    place = "disk"
    contenders = ALL_STATE
    notes = NOTES
    connections = 1
    #: The number of other locks that exist in a sibling folder.
    others = 0

    def prepare(self, root, setup):
        write_members(os.path.join(root, "folder"), self.connections)
        write_members(os.path.join(root, "others"), self.others)

    def ready(self, server, setup):
        if self.others:
            setup.client.play(server.port, [lock("/others/member-{unit}.txt")], count=self.others)

    def requests(self, turn):
        target = "/folder/member-0000{connection}.txt"
        return [lock(target), unlock(target)]


class PutLocked(Lock):
    name = "put-locked"
    title = "PUT 1 KiB with If under a lock, 8 connections"
    unit = "µs/request"
    connections = 8

    def requests(self, turn):
        target = "/folder/member-0000{connection}.txt"
        return [lock(target, SETUP),
                Request("PUT", target, {"If": "({token})"}, generated=KIB, statuses=(204, 200, 201)),
                unlock(target, TEARDOWN)]


ROWS = [
    Lock,
    variant(Lock, "Lock8", name="lock8", title="LOCK + UNLOCK, 8 connections", connections=8),
    *(variant(Lock, f"Lock{others}", name=f"lock-{others}", others=others,
              title=f"LOCK + UNLOCK, 1 connection, {others:,} other locks") for others in (100, 1000, 10_000)),
    PutLocked,
]
