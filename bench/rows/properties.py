"""Dead properties: PROPPATCH, and PROPFIND of a folder whose members have dead properties."""

import os

from client import WrongAnswer
from contest import expect
from servers import Davit, Nginx

from .base import ALL_STATE, Load, Request, write_members
from .propfind import BODY as LIVE
from .propfind import HEADERS

CAPABLE = [kind for kind in ALL_STATE if kind is not Nginx]
NotAsked = Davit.called("not asked for")
NOTES = {"nginx": "has no dead properties"}
IN_MEMORY = {"davit": "reads values that were listed before from memory, if they have not changed: the listing of the warm-up is not measured"}
# lighttpd returns 204 if everything succeeded.
DONE = (207, 204)
NAMES = [f"p{index}" for index in range(5)]
FIND = (b'<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:" xmlns:B="urn:bench"><D:prop>'
        + "".join(f"<B:{name}/>" for name in NAMES).encode() + b"</D:prop></D:propfind>")


def update(names):
    """Returns a PROPPATCH body that sets each property to a different value; lighttpd only reads the first one in
    each `prop`."""
    values = "".join(f'<D:set><D:prop><B:{name} xmlns:B="urn:bench">value {{unit}} of {name}</B:{name}></D:prop></D:set>'
                     for name in names)
    return f'<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:">{values}</D:propertyupdate>'.encode()


class PropPatch(Load):
    name = "proppatch"
    title = "PROPPATCH of one property, 8 connections"
    kind = "property"
    # Apache stores properties in the same folder as the content.
    place = "disk"
    contenders = CAPABLE
    notes = NOTES
    connections = 8

    def prepare(self, root, setup):
        write_members(os.path.join(root, "folder"), self.connections)

    def requests(self, turn):
        return [Request("PROPPATCH", "/folder/member-0000{connection}.txt", HEADERS, update(NAMES[:1]),
                        statuses=DONE)]

    def after(self, turn):
        body = expect(turn.server, "PROPFIND", "/folder/member-000000000.txt", 207, FIND, {**HEADERS, "Depth": "0"})
        if b" of p0</" not in body:
            raise WrongAnswer("the property is missing")


class DeadProperties(Load):
    name = "dead"
    title = "PROPFIND Depth 1, 5 dead properties on each of 1,000 members"
    unit = "ms/request"
    scale = 1e3
    kind = "read"
    figures = ("first_byte", "over_idle")
    place = "disk"
    contenders = CAPABLE
    notes = {**NOTES, **IN_MEMORY}
    connections = 1
    members = 1000

    def prepare(self, root, setup):
        write_members(os.path.join(root, "folder"), self.members)

    def ready(self, server, setup):
        setup.client.play(server.port, [Request("PROPPATCH", "/folder/member-{unit}.txt", HEADERS, update(NAMES),
                                                statuses=DONE)], count=self.members)
        body = expect(server, "PROPFIND", "/folder/", 207, FIND, {**HEADERS, "Depth": "1"})
        found = sum(body.count(f" of {name}</".encode()) for name in NAMES)
        if found != len(NAMES) * self.members:
            raise WrongAnswer(f"{found} properties instead of {len(NAMES) * self.members}")

    def requests(self, turn):
        return [Request("PROPFIND", "/folder/", {**HEADERS, "Depth": "1"}, FIND, statuses=(207,),
                        entries=self.members + 1)]


class AskedFor(DeadProperties):
    """The cost that dead properties add to a listing of live properties."""

    name = "propfind-5dead"
    title = "PROPFIND Depth 1 of 1,000 members, 3 live properties, with and without 5 dead properties of each"
    place = "memory"
    contenders = [Davit, NotAsked]
    notes = IN_MEMORY
    floor = NotAsked.name
    asked = LIVE.replace(b"</D:prop>", "".join(f'<B:{name} xmlns:B="urn:bench"/>' for name in NAMES).encode() + b"</D:prop>")

    def requests(self, turn):
        body = LIVE if isinstance(turn.server, NotAsked) else self.asked
        return [Request("PROPFIND", "/folder/", {**HEADERS, "Depth": "1"}, body, statuses=(207,),
                        entries=self.members + 1)]


ROWS = [PropPatch, DeadProperties, AskedFor]
