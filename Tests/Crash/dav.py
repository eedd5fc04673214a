"""A small WebDAV client, and snapshots of a whole share."""

import hashlib
import http.client
import os
import socket
import urllib.parse
import xml.etree.ElementTree as ElementTree

TEST = "{urn:test:}"
DAV = "{DAV:}"
# In seconds. Lock timeouts are rounded up to multiples of this value before they are compared.
GRANULARITY = 600
# The prefix of the server's temporary names.
RESERVED = ".davit-"
# The trash folder of a volume.
TRASH = ".davit-trashofthisshare"
TRASH_BODY = b'<trash xmlns="urn:davit:trash"/>'
# A modification time that scenes set, and that does not occur otherwise.
DATED = "Mon, 04 Jun 2018 10:11:12 GMT"

LOCK_BODY = (
    '<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:{scope}/></D:lockscope>'
    "<D:locktype><D:write/></D:locktype><D:owner>crash test</D:owner></D:lockinfo>")
PICTURE_BODY = (
    '<?xml version="1.0"?><D:propfind xmlns:D="DAV:" xmlns:T="urn:test:"><D:prop><D:resourcetype/>'
    "<D:getcontentlength/><D:getetag/><D:getlastmodified/><D:lockdiscovery/>"
    "<T:one/><T:two/><T:three/></D:prop></D:propfind>")


def property_update(**values):
    """Returns a PROPPATCH body that sets each property to its value, or removes it if the value is None, in the given order."""
    parts = []
    for name, value in values.items():
        if value is None:
            parts.append(f"<D:remove><D:prop><T:{name}/></D:prop></D:remove>")
        else:
            parts.append(f"<D:set><D:prop><T:{name}>{value}</T:{name}></D:prop></D:set>")
    return (
        '<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:T="urn:test:">'
        + "".join(parts) + "</D:propertyupdate>").encode()


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def is_success(self):
        """Returns whether the status is 2xx. A 207 can contain failures, so no request except PROPPATCH may cause one."""
        return 200 <= self.status < 300

    @property
    def token(self):
        return self.fields.get("Lock-Token", "").strip("<>")


class FinalResponse(http.client.HTTPResponse):
    """Reads the final response; interim responses are skipped."""

    def _read_status(self):
        while True:
            version, status, reason = super()._read_status()
            if not 100 < status < 200:
                return version, status, reason
            http.client.parse_headers(self.fp)


class Client:
    def __init__(self, port):
        self.port = port

    def look(self):
        """Returns the response to a PROPFIND of the whole share."""
        return self.must("PROPFIND", "/", {"Depth": "infinity"}, PICTURE_BODY.encode())

    def try_request(self, method, path, fields=None, body=None):
        """Returns the response, or None if the server died before it was complete."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.response_class = FinalResponse
        try:
            connection.request(method, urllib.parse.quote(path, safe="/?&="), body=body, headers=dict(fields or {}))
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        except socket.timeout:
            raise RuntimeError(f"{method} {path} got no answer within 60 s") from None
        except (http.client.HTTPException, OSError):
            return None
        finally:
            connection.close()

    def request(self, method, path, fields=None, body=None):
        answer = self.try_request(method, path, fields, body)
        if answer is None:
            raise RuntimeError(f"{method} {path}: the server closed the connection")
        return answer

    def must(self, method, path, fields=None, body=None):
        answer = self.request(method, path, fields, body)
        if not answer.is_success:
            raise RuntimeError(f"{method} {path} returned {answer.status}")
        return answer

    def put(self, path, body, **fields):
        return self.must("PUT", path, fields, body)

    def set(self, path, **values):
        return self.must("PROPPATCH", path, {}, property_update(**values))

    def lock(self, path, scope="exclusive", depth="0"):
        return self.must("LOCK", path, {"Depth": depth, "Timeout": "Second-3600"},
                         LOCK_BODY.format(scope=scope).encode()).token


class Resource:
    """The properties and locks of one resource. `Picture` replaces lock tokens by names before it compares locks."""

    def __init__(self, response):
        found = {}
        for propstat in response.findall(f"{DAV}propstat"):
            if " 200 " in propstat.findtext(f"{DAV}status", "") + " ":
                for element in propstat.find(f"{DAV}prop"):
                    found[element.tag] = element
        kind = found.get(f"{DAV}resourcetype")
        self.is_collection = kind is not None and kind.find(f"{DAV}collection") is not None
        self.length = found[f"{DAV}getcontentlength"].text if f"{DAV}getcontentlength" in found else None
        self.tag = found[f"{DAV}getetag"].text if f"{DAV}getetag" in found else None
        self.properties = {
            tag: element.text for tag, element in found.items() if tag.startswith(TEST)}
        if f"{DAV}getlastmodified" in found and found[f"{DAV}getlastmodified"].text == DATED:
            self.properties["modified"] = DATED
        self.tokens = []
        self.locks = []
        for lock in found.get(f"{DAV}lockdiscovery", []):
            token = lock.findtext(f"{DAV}locktoken/{DAV}href", "").strip()
            root = urllib.parse.unquote(lock.findtext(f"{DAV}lockroot/{DAV}href", ""))
            scope = lock.find(f"{DAV}lockscope")[0].tag
            self.tokens.append(token)
            # The rounded value equals the granted timeout, regardless of the time that has passed.
            ends = lock.findtext(f"{DAV}timeout", "").removeprefix("Second-")
            granted = -(-int(ends) // GRANULARITY) * GRANULARITY
            self.locks.append((scope, lock.findtext(f"{DAV}depth", ""), root.rstrip("/"), granted, token))


class Picture:
    """Everything in a share that a client can see, and everything in its folder."""

    def __init__(self, client, root, known_tokens):
        """`known_tokens` maps the lock tokens of the scene to names; all other tokens are named "new"."""
        answer = client.look()
        resources = {}
        for response in ElementTree.fromstring(answer.body).findall(f"{DAV}response"):
            href = urllib.parse.unquote(urllib.parse.urlsplit(response.findtext(f"{DAV}href")).path)
            resources[href.strip("/")] = Resource(response)
        self.tags = {path: resource.tag for path, resource in resources.items()}
        self.tokens = {token for resource in resources.values() for token in resource.tokens}
        self.locked = [path for path, resource in resources.items()
                       if resource.locks and not resource.is_collection]
        self.facts = {}
        for path, resource in resources.items():
            locks = sorted((*lock[:-1], known_tokens.get(lock[-1], "new")) for lock in resource.locks)
            kind = "collection" if resource.is_collection else f"{resource.length} bytes"
            self.facts[f"/{path}"] = (kind, sorted(resource.properties.items()), locks)
        self._look_at_contents(client, root)
        self._look_at_trash(client, root)

    def _look_at_contents(self, client, root):
        """Adds the content and the mode of everything in the folder of the share."""
        for path, fact in look_at_folder(root).items():
            self.facts[f"disk /{path}"] = fact

    def _look_at_trash(self, client, root):
        """Adds each item in the trash under its original path, because names in the trash are random."""
        answer = client.request("REPORT", "/", {"Depth": "infinity"}, TRASH_BODY)
        if not answer.is_success:
            return
        known = set()
        for response in ElementTree.fromstring(answer.body).findall(f"{DAV}response"):
            href = urllib.parse.unquote(response.findtext(f"{DAV}href"))
            prop = response.find(f"{DAV}propstat/{DAV}prop")
            name = prop.findtext("{urn:davit:trash}id")
            known.add(name)
            key = f"trash {href} {prop.findtext('{urn:davit:trash}reason')}"
            for trash in trashes(root):
                path = os.path.join(trash, name)
                if os.path.isdir(path):
                    self.facts[key] = sorted(look_at_folder(path).items())
                elif os.path.exists(path):
                    self.facts[key] = look_at_file(path)
            self.facts.setdefault(key, "missing")
        for trash in trashes(root):
            for name in set(os.listdir(trash)) - known:
                if not name.startswith(RESERVED):
                    self.facts[f"trash {name}"] = "not in the trash index"

    def __eq__(self, other):
        return self.facts == other.facts

    @property
    def paths(self):
        return self.tags.keys()

    def is_collection(self, path):
        return self.facts[f"/{path}"][0] == "collection"

    def content(self, path):
        """Returns the digest of the content without the mode, because the mode does not affect the entity tag."""
        fact = self.facts.get(f"disk /{path}")
        return fact and fact[0]

    def differences(self, other):
        lines = []
        for key in sorted(self.facts.keys() | other.facts.keys()):
            here, there = self.facts.get(key), other.facts.get(key)
            if here != there:
                lines.append(f"{key}: {here} instead of {there}")
        return lines


def look_at_folder(root):
    """Returns every name with its kind, mode and a digest of its content; reserved names are ignored."""
    facts = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(RESERVED)]
        for name in folders:
            path = os.path.join(folder, name)
            facts[os.path.relpath(path, root)] = ("folder", mode_of(path))
        for name in files:
            if name.startswith(RESERVED):
                continue
            path = os.path.join(folder, name)
            facts[os.path.relpath(path, root)] = look_at_file(path)
    if os.path.isdir(mounted_folder(root)):
        for path, fact in look_at_folder(mounted_folder(root)).items():
            facts[os.path.join("other", path)] = fact
    return facts


def mounted_folder(root):
    """Returns the folder that servers of `root` mount at /other, if it exists."""
    return root + "-other"


def look_at_file(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest(), mode_of(path)


def trashes(root):
    """Returns the trash folder of each volume that has one."""
    folders = [os.path.join(folder, TRASH) for folder in (root, os.path.join(root, "other"), mounted_folder(root))]
    return [folder for folder in folders if os.path.isdir(folder)]


def mode_of(path):
    return oct(os.stat(path).st_mode & 0o7777)


def leftovers(root):
    return [os.path.join(folder, name) for top in (root, mounted_folder(root))
            for folder, folders, files in os.walk(top)
            for name in folders + files if name.startswith(RESERVED) and name != TRASH]
