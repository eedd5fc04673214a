"""Stub servers with 1,000 rules: davit stub, and programs for two Python packages that are used for the same purpose."""

import functools
import os
import subprocess

from .base import Server
from .davit import Davit

#: The numbers of rules of each kind. A request for /api/v1/resourceN/ID gets a JSON object with N.
RESOURCES, PAGES, FOLDERS = 900, 90, 10
PACKAGES = ["aiohttp", "mitmproxy"]

AIOHTTP = f"""
import sys
from aiohttp import web

app = web.Application()
for number in range({RESOURCES}):
    async def resource(request, number=number):
        return web.json_response({{"id": number, "name": "thing"}})
    app.router.add_get(f"/api/v1/resource{{number}}/{{{{id}}}}", resource)
for number in range({PAGES}):
    async def page(request):
        return web.Response(text="hello")
    app.router.add_route("*", f"/page/{{number}}", page)
for number in range({FOLDERS}):
    app.router.add_route("*", f"/files{{number}}/{{{{rest:.*}}}}", page)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
"""

MITMPROXY = f"""
import json
import re
from mitmproxy import http

rules = [("GET", re.compile(f"/api/v1/resource{{number}}/[^/]+$"), json.dumps({{"id": number, "name": "thing"}}))
         for number in range({RESOURCES})]
rules += [(None, re.compile(f"/page/{{number}}$"), "hello") for number in range({PAGES})]
rules += [(None, re.compile(f"/files{{number}}/"), "hello") for number in range({FOLDERS})]

def request(flow):
    for method, path, content in rules:
        if method in (None, flow.request.method) and path.match(flow.request.path):
            flow.response = http.Response.make(200, content, {{"Content-Type": "application/json"}})
            return
    flow.response = http.Response.make(404)
"""


@functools.lru_cache
def python():
    """Returns a Python interpreter with the packages; raises RuntimeError without them."""
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "davit", "stub-peers")
    interpreter = os.path.join(folder, "bin", "python")
    try:
        if not os.path.exists(interpreter):
            subprocess.run(["python3", "-m", "venv", "--clear", folder], check=True)
        if subprocess.run([interpreter, "-c", f"import {', '.join(PACKAGES)}"], stderr=subprocess.DEVNULL, check=False).returncode:
            subprocess.run([interpreter, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    except (OSError, subprocess.SubprocessError) as problem:
        raise RuntimeError(f"cannot install {' and '.join(PACKAGES)} from PyPI: {problem}") from None
    return interpreter


class DavitStub(Davit):
    """`davit stub`; the row adds its rules."""

    lock_durability = property_durability = None

    def start(self):
        rules = os.path.join(self.state, "rules.sqlite")
        return self.spawn([self.setup.davit, "stub", rules, "--port", str(self.port)])

    @classmethod
    def settings(cls):
        return "stub"


class PythonServer(Server):
    package = None

    @classmethod
    def version(cls, setup):
        done = subprocess.run([python(), "-m", "pip", "show", cls.package], stdout=subprocess.PIPE, text=True, check=True)
        return next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("Version:"))


class Aiohttp(PythonServer):
    name = package = "aiohttp"

    def start(self):
        return self.spawn([python(), self.write("server.py", AIOHTTP), str(self.port)])

    @classmethod
    def settings(cls):
        return "1,000 routes, access_log=None"


class Mitmproxy(PythonServer):
    name = package = "mitmproxy"

    def start(self):
        return self.spawn([
            os.path.join(os.path.dirname(python()), "mitmdump"), "-q", "--listen-host", "127.0.0.1", "-p", str(self.port),
            "--mode", "reverse:http://127.0.0.1:9", "-s", self.write("rules.py", MITMPROXY),
            "--set", f"confdir={self.state}", "--set", "connection_strategy=lazy"])

    @classmethod
    def settings(cls):
        return "mitmdump -q, 1,000 regular expressions in a script"
