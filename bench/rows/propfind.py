"""PROPFIND: one resource, folders of many sizes, a whole tree."""

import gzip
import os

from client import WrongAnswer, ask
from contest import expect
from servers import Davit
from servers.lighttpd import FreshLighttpd

from .base import ALL, Load, Request, variant, write_members

READERS = ALL[:3] + [FreshLighttpd] + ALL[3:]
# Properties that every server supports.
BODY = (b'<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/>'
        b"<D:getcontentlength/><D:getlastmodified/></D:prop></D:propfind>")
ByFolder = Davit.called("Depth 1")
HEADERS = {"Content-Type": "application/xml; charset=utf-8"}


class Depth0(Load):
    name = "propfind0"
    title = "PROPFIND Depth 0, 32 connections"
    contenders = READERS
    shares_root = True
    connections = 32

    def prepare(self, root, setup):
        write_members(os.path.join(root, "folder"), 1)

    def requests(self, turn):
        return [Request("PROPFIND", "/folder/member-000000000.txt", {**HEADERS, "Depth": "0"}, BODY, statuses=(207,),
                        entries=1)]


class Depth1(Load):
    name = "propfind-1k"
    title = "PROPFIND Depth 1, 1,000 members"
    unit = "ms/request"
    scale = 1e3
    figures = ("first_byte", "over_idle")
    contenders = READERS
    shares_root = True
    connections = 1
    members = 1000
    depth = "1"

    def prepare(self, root, setup):
        write_members(os.path.join(root, "folder"), self.members)

    def entries(self):
        return self.members + 1

    def ready(self, server, setup):
        body = expect(server, "PROPFIND", "/folder/", 207, BODY, {**HEADERS, "Depth": self.depth})
        lengths = body.count(b"getcontentlength>100<")
        if lengths < self.members or not body.rstrip().endswith(b"multistatus>"):
            raise WrongAnswer(f"the multistatus is truncated, or has only {lengths} lengths")

    def requests(self, turn):
        return [Request("PROPFIND", "/folder/", {**HEADERS, "Depth": self.depth}, BODY, statuses=(207,),
                        entries=self.entries())]


class Compressed(Depth1):
    name = "propfind-gzip"
    title = "PROPFIND Depth 1, 10,000 members, in gzip"
    # nginx does not compress responses with status 207.
    contenders = [Davit]
    floor = None
    members = 10_000

    def ready(self, server, setup):
        status, fields, body = ask(server.port, "PROPFIND", "/folder/", BODY, self.fields())
        if status != 207 or fields.get("Content-Encoding") != "gzip":
            raise WrongAnswer(f"the multistatus has status {status} and coding {fields.get('Content-Encoding')}")
        plain = gzip.decompress(body)
        lengths = plain.count(b"getcontentlength>100<")
        if lengths < self.members or not plain.rstrip().endswith(b"multistatus>"):
            raise WrongAnswer(f"the multistatus is truncated, or has only {lengths} lengths")

    def fields(self):
        return {**HEADERS, "Depth": self.depth, "Accept-Encoding": "gzip"}

    def requests(self, turn):
        return [Request("PROPFIND", "/folder/", self.fields(), BODY, statuses=(207,))]


class Infinity(Depth1):
    name = "propfind-tree"
    title = "PROPFIND Depth infinity, 20,000 nodes"
    contenders = [kind for kind in READERS if kind.name != "nginx"]
    notes = {"nginx": "refuses Depth infinity",
             "lighttpd": "omits the contents of folders with 100 or more subfolders; here there are 20"}
    depth = "infinity"
    folders = 20
    members = 20 * 999

    def prepare(self, root, setup):
        for index in range(self.folders):
            write_members(os.path.join(root, "folder", f"folder-{index:03d}"), self.members // self.folders)

    def entries(self):
        return 1 + self.folders + self.members


class Deep(Infinity):
    """The alternative for clients that may not use Depth infinity: one request per folder."""

    name = "propfind-deep"
    title = "PROPFIND of a tree of 20,000 nodes: Depth infinity, and Depth 1 of each of its folders"
    unit = "ms/tree"
    contenders = [Davit, ByFolder]
    notes = {}
    floor = ByFolder.name

    def requests(self, turn):
        if not isinstance(turn.server, ByFolder):
            return super().requests(turn)
        fields, members = {**HEADERS, "Depth": "1"}, self.members // self.folders
        return [Request("PROPFIND", "/folder/", fields, BODY, statuses=(207,), entries=1 + self.folders),
                *(Request("PROPFIND", f"/folder/folder-{index:03d}/", fields, BODY, statuses=(207,), entries=1 + members)
                  for index in range(self.folders))]


SIZES = {"100": 100, "1k": 1000, "10k": 10_000, "100k": 100_000}
ROWS = [
    Depth0,
    *(variant(Depth1, f"Depth1Of{label}", name=f"propfind-{label}", members=members,
              title=f"PROPFIND Depth 1, {members:,} members") for label, members in SIZES.items()),
    Compressed,
    Infinity,
    Deep,
]
