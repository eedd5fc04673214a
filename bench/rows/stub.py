"""A stub server with 1,000 rules."""

import json

from contest import expect
from servers.stub import FOLDERS, PAGES, RESOURCES, Aiohttp, DavitStub, Mitmproxy

from .base import Load, Request

CONTENT = '{"id": 500, "name": "thing"}'


class Stub(Load):
    name = "stub"
    title = "stub server: GET by one of 1,000 rules, 64 connections"
    contenders = [DavitStub, Aiohttp, Mitmproxy]
    connections = 64

    def ready(self, server, setup):
        if not isinstance(server, DavitStub):
            return
        rules = [{"name": f"resource {number}", "methods": ["GET"], "path": f"/api/v1/resource{number}/{{id}}",
                  "replies": [{"fields": {"Content-Type": "application/json"},
                               "text": json.dumps({"id": number, "name": "thing"})}]} for number in range(RESOURCES)]
        rules += [{"name": f"page {number}", "path": f"/page/{number}", "replies": [{"text": "hello"}]} for number in range(PAGES)]
        rules += [{"name": f"folder {number}", "path": f"/files{number}/**", "replies": [{"text": "hello"}]}
                  for number in range(FOLDERS)]
        expect(server, "PUT", "/.davit/api/rules", 200, json.dumps({"rules": rules}).encode())

    def requests(self, turn):
        return [Request("GET", "/api/v1/resource500/77", size=len(CONTENT))]


ROWS = [Stub]
