"""The measured cases. Each repeats one kind of request often enough for an exact mean."""

import base64
import hashlib
import os
import subprocess

KIB = bytes(range(256)) * 4
MIB = KIB * 1024
KIB_SHA256 = base64.b64encode(hashlib.sha256(KIB).digest()).decode()
# A path with three folders.
DEEP = "one/two/three"

PROPFIND_BODY = (
    b'<?xml version="1.0"?><D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:getcontentlength/>'
    b"<D:getlastmodified/><D:getetag/><D:displayname/></D:prop></D:propfind>")
PROPPATCH_BODY = (
    b'<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>'
    b'<note xmlns="urn:example">%d</note></D:prop></D:set></D:propertyupdate>')
LOCK_BODY = (
    b'<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>'
    b"<D:locktype><D:write/></D:locktype><D:owner>guard</D:owner></D:lockinfo>")


class Case:
    """Sends `warm + count` requests with `ask` and measures all but the first `warm`."""

    count = 100
    warm = 20
    # Additional options of davit.
    options = ()
    # A program to run instead of davit, from the same folder.
    program = None
    is_secure = False
    # System calls whose number depends on timing.
    uncounted = frozenset()
    # System calls that each request must make, because clients depend on their effect.
    needed = frozenset()
    # Whether the number of instructions depends on timing; instructions.py omits such cases.
    is_timed = False
    # The part by which the number of instructions differs between runs of one binary, because threads race.
    spread = 0.0

    def __init__(self, name):
        self.name = name

    def prepare(self, root):
        """Fills the shared folder before the server starts."""

    def set_up(self, binary, root, state):
        """Runs commands before the server starts."""

    def begin(self, client):
        """Sends uncounted preparatory requests."""

    def ask(self, client, turn):
        raise NotImplementedError

    @property
    def turns(self):
        return self.warm + self.count


def write(root, path, content=KIB):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


class Get(Case):
    """Reads the same file each time, or a different file each time if `first` is set."""

    def __init__(self, name, folder="", first=False, method="GET", expected=200, fields=(), size=1024):
        super().__init__(name)
        self.folder, self.first, self.method = folder, first, method
        self.expected, self.fields, self.size = expected, fields, size

    def target(self, turn):
        return os.path.join("/", self.folder, f"file-{turn if self.first else 0}.bin")

    def prepare(self, root):
        for turn in range(self.turns if self.first else 1):
            write(root, self.target(turn)[1:], KIB * (self.size // 1024))

    def ask(self, client, turn):
        client.ask(self.method, self.target(turn), self.expected, self.fields)


class GetWithPassword(Get):
    """Uses credentials that were verified before."""

    options = ("--user", "anna:open:sesame")

    def __init__(self, name):
        super().__init__(name, fields=["Authorization: Basic YW5uYTpvcGVuOnNlc2FtZQ=="])


class GetWithAppPassword(Get):
    """The server has an account database, and the app password is limited to a folder."""

    def set_up(self, binary, root, state):
        def run(*words, text=""):
            command = [binary, *words[:2], root, *words[2:], "--state-dir", state]
            return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  check=True).stdout

        run("account", "add", "anna", "--rights", "edit", text="open:sesame\n")
        password = run("app-password", "add", "anna", "guard", "--path", self.folder, "--rights", "view").strip()
        self.fields = ["Authorization: Basic " + base64.b64encode(f"anna:{password}".encode()).decode()]


class GetLogged(Get):
    """Writes an access log. Depending on the load, its thread writes lines one by one or in batches. The baseline is for lines
    that are written one by one, each of which wakes the thread, because this allocates most."""

    options = ("--access-log", "/dev/null")
    uncounted = frozenset(["write"])
    is_timed = True


class GetMeasured(Get):
    """The server keeps statistics of its requests."""

    options = ("--admin-listen", "127.0.0.1:0")


class GetSecure(Get):
    options = ("--tls-self-signed",)
    is_secure = True


class GetBelowMount(Get):
    program = "MountedShare"

    def prepare(self, root):
        write(root, "file-0.bin")

    def target(self, turn):
        return "/files/file-0.bin"


class GetRoute(GetBelowMount):
    """A route that returns a text."""

    def target(self, turn):
        return "/hello?name=guard"


class NotModified(Get):
    def begin(self, client):
        answer, _ = client.ask("GET", self.target(0), 200)
        self.fields = [f"If-None-Match: {answer['etag']}"]


class Unauthorized(Get):
    """The server requires credentials, and the request has none."""

    options = GetWithPassword.options

    def __init__(self, name):
        super().__init__(name, expected=401)


class Options(Case):
    def ask(self, client, turn):
        client.ask("OPTIONS", "/", 200)


class Page(Case):
    """The browser page of a folder with ten files."""

    def prepare(self, root):
        for number in range(10):
            write(root, f"folder/file-{number}.bin")

    def ask(self, client, turn):
        client.ask("GET", "/folder/", 200, ["Accept: text/html"])


class Missing(Case):
    def ask(self, client, turn):
        client.ask("GET", "/missing.bin", 404)


class PropFindMissing(Case):
    """Requests missing names, as Finder and Windows do often."""

    def ask(self, client, turn):
        client.ask("PROPFIND", "/._missing", 404, ["Depth: 0"], PROPFIND_BODY)


class PutNew(Case):
    def __init__(self, name, content=KIB, count=100, warm=20, fields=()):
        super().__init__(name)
        self.content, self.count, self.warm, self.fields = content, count, warm, fields

    def ask(self, client, turn):
        client.ask("PUT", f"/new-{turn}.bin", 201, self.fields, self.content)


class PutLate(Case):
    """After 100 Continue, as curl sends it, or in two packets, of which the second is sent when the first is
    acknowledged, as simple clients do."""

    def __init__(self, name, waits, needed=()):
        super().__init__(name)
        self.waits, self.needed = waits, frozenset(needed)

    def ask(self, client, turn):
        client.ask("PUT", f"/new-{turn}.bin", 201, body=KIB, waits=self.waits)


class PutChunked(Case):
    def ask(self, client, turn):
        client.ask("PUT", f"/new-{turn}.bin", 201, body=KIB, is_chunked=True)


class PutOver(Case):
    def __init__(self, name, folder=""):
        super().__init__(name)
        self.path = os.path.join(folder, "file.bin")

    def prepare(self, root):
        write(root, self.path)

    def ask(self, client, turn):
        client.ask("PUT", f"/{self.path}", 204, body=KIB)


class PutLocked(PutOver):
    def begin(self, client):
        self.token = lock(client, "/file.bin")

    def ask(self, client, turn):
        client.ask("PUT", "/file.bin", 204, [f"If: ({self.token})"], KIB)


class MkCol(Case):
    def __init__(self, name, parent=""):
        super().__init__(name)
        self.parent = parent

    def prepare(self, root):
        os.makedirs(os.path.join(root, self.parent), exist_ok=True)

    def ask(self, client, turn):
        client.ask("MKCOL", "/" + os.path.join(self.parent, f"folder-{turn}"), 201)


class OfMany(Case):
    """Needs a separate file for each request."""

    def prepare(self, root):
        for turn in range(self.turns):
            write(root, f"file-{turn}.bin")


class Delete(OfMany):
    def ask(self, client, turn):
        client.ask("DELETE", f"/file-{turn}.bin", 204)


class DeleteFolder(Case):
    def prepare(self, root):
        for turn in range(self.turns):
            os.mkdir(os.path.join(root, f"folder-{turn}"))

    def ask(self, client, turn):
        client.ask("DELETE", f"/folder-{turn}/", 204)


class Transfer(OfMany):
    def __init__(self, method, spread=0.0):
        super().__init__(f"{method} 1 KiB to a new name")
        self.method, self.spread = method, spread

    def ask(self, client, turn):
        client.ask(self.method, f"/file-{turn}.bin", 201, [f"Destination: /other-{turn}.bin"])


class PropFind(Case):
    def __init__(self, name, depth, members=0, count=100, warm=20, body=PROPFIND_BODY):
        super().__init__(name)
        self.depth, self.members, self.count, self.warm, self.body = depth, members, count, warm, body

    def prepare(self, root):
        os.mkdir(os.path.join(root, "folder"))
        for number in range(self.members):
            write(root, f"folder/file-{number:04}.bin")

    def ask(self, client, turn):
        _, content = client.ask("PROPFIND", "/folder/", 207, [f"Depth: {self.depth}"], self.body)
        if content.count(b"response>") != 2 * (1 + self.members):
            raise ValueError(f"{self.name}: expected {self.members} members")


class PropFindDead(PropFind):
    """Requests five dead properties of each member, which are stored in the database."""

    NAMES = [f"p{number}" for number in range(5)]
    FIND = PROPFIND_BODY.replace(b"</D:prop>", "".join(f'<{name} xmlns="urn:example"/>' for name in NAMES).encode()
                                 + b"</D:prop>")

    def __init__(self, name, members):
        super().__init__(name, 1, members, count=20, warm=5, body=self.FIND)

    def begin(self, client):
        values = "".join(f'<{name} xmlns="urn:example">a value of {name}</{name}>' for name in self.NAMES)
        body = ('<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>'
                f"{values}</D:prop></D:set></D:propertyupdate>").encode()
        for number in range(self.members):
            client.ask("PROPPATCH", f"/folder/file-{number:04}.bin", 207, body=body)


class Search(PropFind):
    """Searches a folder by name and size; a tenth of the members match."""

    # A search pauses after some milliseconds, and threads for long work start and end.
    is_timed = True
    uncounted = frozenset({"setpriority"})

    QUERY = (b'<?xml version="1.0"?><D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:getcontentlength/>'
             b"</D:prop></D:select><D:from><D:scope><D:href>/folder/</D:href><D:depth>infinity</D:depth></D:scope></D:from>"
             b"<D:where><D:and><D:like><D:prop><D:displayname/></D:prop><D:literal>%5.bin</D:literal></D:like>"
             b"<D:gte><D:prop><D:getcontentlength/></D:prop><D:literal>100</D:literal></D:gte></D:and></D:where>"
             b"</D:basicsearch></D:searchrequest>")

    def ask(self, client, turn):
        _, content = client.ask("SEARCH", "/folder/", 207, body=self.QUERY)
        if content.count(b"response>") != 2 * (self.members // 10):
            raise ValueError(f"{self.name}: expected a tenth of {self.members} members")


class PropPatch(PutOver):
    def ask(self, client, turn):
        client.ask("PROPPATCH", "/file.bin", 207, body=PROPPATCH_BODY % turn)


class LockUnlock(PutOver):
    def ask(self, client, turn):
        token = lock(client, "/file.bin")
        client.ask("UNLOCK", "/file.bin", 204, [f"Lock-Token: {token}"])


def lock(client, target):
    answer, _ = client.ask("LOCK", target, 200, ["Timeout: Second-3600"], LOCK_BODY)
    return answer["lock-token"]


HUNDRED = PropFind("PROPFIND Depth 1, 100 members", 1, 100, count=20, warm=5)
THOUSAND = PropFind("PROPFIND Depth 1, 1,000 members", 1, 1000, count=5, warm=3)
# The name of the difference between the two.
MEMBERS = "PROPFIND Depth 1, each further member"

CASES = [
    Get("GET 1 KiB, first time", first=True),
    Get("GET 1 KiB, again"),
    GetWithPassword("GET 1 KiB, again, with Basic"),
    GetWithAppPassword("GET 1 KiB, again, with an app password", "team"),
    GetLogged("GET 1 KiB, again, with an access log"),
    GetMeasured("GET 1 KiB, again, with metrics"),
    GetSecure("GET 1 KiB, again, over TLS"),
    GetBelowMount("GET 1 KiB, again, below a mount"),
    GetRoute("GET of a route"),
    Get("GET 1 KiB three folders deep, first time", DEEP, first=True),
    Get("GET 1 KiB three folders deep, again", DEEP),
    Get("GET a range of 1 KiB", expected=206, fields=["Range: bytes=4096-5119"], size=64 * 1024),
    NotModified("GET, 304", expected=304),
    Missing("GET, 404"),
    Unauthorized("GET, 401"),
    Page("GET of the page, 10 members"),
    Options("OPTIONS"),
    PropFindMissing("PROPFIND Depth 0, 404"),
    Get("HEAD", method="HEAD"),
    PutNew("PUT 1 KiB, new"),
    PutOver("PUT 1 KiB, over"),
    PutOver("PUT 1 KiB three folders deep, over", DEEP),
    PutLocked("PUT 1 KiB, over, with a lock and If"),
    PutChunked("PUT 1 KiB, new, chunked"),
    PutLate("PUT 1 KiB, new, after 100 Continue", "100"),
    # Without setsockopt, TCP would delay the acknowledgment.
    PutLate("PUT 1 KiB, new, in two packets", "acknowledgment", needed=["setsockopt"]),
    PutNew("PUT 1 KiB, new, with a digest", fields=[f"Content-Digest: sha-256=:{KIB_SHA256}:"]),
    PutNew("PUT 64 KiB, new", content=KIB * 64),
    PutNew("PUT 1 MiB, new", content=MIB, count=10, warm=4),
    MkCol("MKCOL"),
    MkCol("MKCOL in a folder", "parent"),
    Delete("DELETE 1 KiB"),
    DeleteFolder("DELETE of an empty folder"),
    Transfer("MOVE"),
    Transfer("COPY", spread=0.03),
    PropFind("PROPFIND Depth 0", 0),
    PropFind("PROPFIND Depth 0, allprop", 0, body=None),
    HUNDRED,
    PropFindDead("PROPFIND Depth 1, 100 members, 5 dead properties of each", 100),
    Search("SEARCH by name and size, 100 members", 1, 100, count=20, warm=5),
    THOUSAND,
    PropPatch("PROPPATCH, one property"),
    LockUnlock("LOCK and UNLOCK"),
]


def per_member(few, many):
    """Returns the average cost of each of 900 additional members, for costs by name of HUNDRED and THOUSAND."""
    more = THOUSAND.members - HUNDRED.members
    return {name: (many.get(name, 0) - few.get(name, 0)) / more for name in sorted(few.keys() | many.keys())}
