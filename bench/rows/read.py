"""GET: small content, validators, large content, ranges."""

import base64
import os

from client import ask
from servers import Apache, BusyApache, Davit
from servers.davit import FullDavit
from servers.lighttpd import FreshLighttpd
from servers.nginx import CachingNginx

from .base import ALL, GIB, KIB, MIB, Load, Request, variant, write_pattern

READERS = ALL[:2] + [CachingNginx] + ALL[2:3] + [FreshLighttpd] + ALL[3:]


class Get(Load):
    name = "get64"
    title = "GET 1 KiB, 64 connections"
    contenders = READERS
    shares_root = True
    connections = 64
    size = KIB

    def prepare(self, root, setup):
        write_pattern(os.path.join(root, "content.bin"), self.size, setup)

    def requests(self, turn):
        return [Request("GET", "/content.bin", size=self.size, pattern_offset=0)]


class Full(Get):
    name = "get64-full"
    title = "GET 1 KiB, 64 connections; full: access log, Basic with cached credentials, gzip enabled and requested"
    contenders = [Davit, FullDavit]
    floor = "davit"

    def requests(self, turn):
        fields = {}
        if isinstance(turn.server, FullDavit):
            credentials = f"{FullDavit.user}:{FullDavit.password}".encode()
            fields = {"Authorization": "Basic " + base64.b64encode(credentials).decode(), "Accept-Encoding": "gzip"}
        return [Request("GET", "/content.bin", fields, size=self.size, pattern_offset=0)]


class NotModified(Get):
    name = "304"
    title = "GET with If-None-Match → 304, 64 connections"

    def requests(self, turn):
        _, fields, _ = ask(turn.port, "GET", "/content.bin")
        return [Request("GET", "/content.bin", {"If-None-Match": fields["ETag"]}, statuses=(304,), size=0)]


class Range(Get):
    name = "range"
    title = "GET with Range, 64 KiB of 64 MiB, 16 connections"
    connections = 16
    size = 64 * MIB
    first = 10 * MIB + 12345

    def requests(self, turn):
        return [Request("GET", "/content.bin", {"Range": f"bytes={self.first}-{self.first + 64 * KIB - 1}"},
                        statuses=(206,), size=64 * KIB, pattern_offset=self.first)]


class Download(Get):
    name = "down1"
    title = "GET 1 GiB, one stream"
    unit = "s/GiB"
    scale = 1
    figures = ("first_byte", "over_idle")
    connections = 1
    size = GIB

    def run(self, turn):
        return turn.play(self.requests(turn), self.connections, count=self.connections) * self.size / GIB


ROWS = [
    variant(Get, "Get1", name="get1", title="GET 1 KiB, 1 connection", connections=1),
    Get,
    variant(Get, "Get1000", name="get1000", title="GET 1 KiB, 1,000 connections", connections=1000,
            contenders=[BusyApache if kind is Apache else kind for kind in READERS]),
    Full,
    NotModified,
    Range,
    Download,
    variant(Download, "Download8", name="down8", title="GET 256 MiB, eight concurrent streams", connections=8,
            size=256 * MIB),
]
