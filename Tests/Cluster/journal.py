"""Collection synchronization and change events of a share that several davit nodes serve."""

import random
import re
import socket
import subprocess
import threading
import urllib.parse
import xml.etree.ElementTree

DAV = "{DAV:}"


class Client:
    """A client that synchronizes a collection (RFC 6578), each time with another node."""

    def __init__(self, nodes, path, deep, limit=None, seed=0):
        self.nodes, self.path, self.deep, self.limit = nodes, path, deep, limit
        self.random = random.Random(seed)
        self.token = ""
        # The entity tag of each member by its path; an empty text for collections.
        self.known = {}
        self.resyncs = 0

    def report(self, node):
        """Applies one response. Returns whether it was the last one."""
        limit = f"<limit><nresults>{self.limit}</nresults></limit>" if self.limit else ""
        body = (f'<sync-collection xmlns="DAV:"><sync-token>{self.token}</sync-token>'
                f"<sync-level>{'infinite' if self.deep else 1}</sync-level>{limit}"
                "<prop><getetag/><resourcetype/></prop></sync-collection>")
        status, _, content = node.ask("REPORT", self.path, body.encode(), Depth="0", Content_Type="application/xml")
        if status == 403 and b"valid-sync-token" in content:
            self.token, self.known = "", {}
            self.resyncs += 1
            return False
        if status != 207:
            raise RuntimeError(f"sync-collection: {status} {content}")
        tree = xml.etree.ElementTree.fromstring(content)
        is_cut = False
        for response in tree.iter(DAV + "response"):
            path = urllib.parse.unquote(urllib.parse.urlsplit(response.find(DAV + "href").text).path)
            gone = response.find(DAV + "status")
            if gone is not None:
                if path.rstrip("/") == self.path.rstrip("/"):
                    is_cut = True
                    continue
                path = path.rstrip("/")
                self.known = {other: tag for other, tag in self.known.items()
                              if other != path and not other.startswith(path + "/")}
                continue
            is_collection = response.find(f".//{DAV}resourcetype/{DAV}collection") is not None
            tag = response.find(f".//{DAV}getetag")
            self.known[path.rstrip("/")] = "" if is_collection else tag.text
        self.token = tree.find(DAV + "sync-token").text
        return not is_cut

    def sync(self):
        while not self.report(self.random.choice(self.nodes)):
            pass


def listed(node, path, deep):
    """Returns what a client that synchronizes must know."""
    body = b'<propfind xmlns="DAV:"><prop><getetag/><resourcetype/></prop></propfind>'
    found = {}
    folders = [path]
    while folders:
        folder = folders.pop()
        status, _, content = node.ask("PROPFIND", folder, body, Depth="1", Content_Type="application/xml")
        if status != 207:
            raise RuntimeError(f"PROPFIND {folder}: {status}")
        for response in xml.etree.ElementTree.fromstring(content).iter(DAV + "response"):
            raw = urllib.parse.urlsplit(response.find(DAV + "href").text).path
            name = urllib.parse.unquote(raw).rstrip("/")
            if name == urllib.parse.unquote(folder).rstrip("/"):
                continue
            is_collection = response.find(f".//{DAV}resourcetype/{DAV}collection") is not None
            tag = response.find(f".//{DAV}getetag")
            found[name] = "" if is_collection else tag.text
            if is_collection and deep:
                folders.append(raw)
    return found


def change(chance, nodes):
    """Makes a random change in /sync with a random node."""
    node = chance.choice(nodes)

    def path():
        return "/sync" + "".join("/" + chance.choice("abc") for _ in range(chance.randrange(1, 4)))

    kind = chance.randrange(8)
    if kind < 3:
        node.status("PUT", path(), str(chance.random()).encode())
    elif kind == 3:
        node.status("MKCOL", path())
    elif kind == 4:
        node.status("DELETE", path())
    elif kind < 7:
        node.status("MOVE", path(), Destination=node.url(path()))
    else:
        node.status("COPY", path(), Destination=node.url(path()))


def synchronization(report, nodes, seed):
    chance = random.Random(seed)
    nodes[0].status("DELETE", "/sync")
    nodes[0].status("MKCOL", "/sync")
    for _ in range(30):
        change(chance, nodes)
    clients = [Client(nodes, "/sync/", deep, limit, seed) for deep in (False, True) for limit in (None, 1, 3)]
    inner = Client(nodes, "/sync/a/", True, None, seed)
    for round_ in range(25):
        for client in clients:
            client.sync()
            truth = listed(chance.choice(nodes), "/sync/", client.deep)
            report.check(f"seed {seed}, round {round_}: {'deep' if client.deep else 'flat'}, limit {client.limit}",
                         client.known == truth,
                         f"unknown {set(truth.items()) - set(client.known.items())}, "
                         f"stale {set(client.known.items()) - set(truth.items())}")
            client.known = truth
        if nodes[0].status("PROPFIND", "/sync/a/", b"", Depth="0") == 207 and "/sync/a" in clients[0].known and \
                clients[0].known["/sync/a"] == "":
            inner.sync()
            truth = listed(nodes[1], "/sync/a/", True)
            report.check(f"seed {seed}, round {round_}: a collection below", inner.known == truth,
                         f"{inner.known} instead of {truth}")
        else:
            inner.token, inner.known = "", {}
        for _ in range(chance.randrange(1, 6)):
            change(chance, nodes)


def concurrent(report, nodes):
    """Clients synchronize while others write: at the end, they know everything."""
    nodes[0].status("MKCOL", "/busy")
    clients = [Client(nodes, "/busy/", deep, limit) for deep in (False, True) for limit in (None, 2)]
    writers = []

    def write(seed):
        chance = random.Random(seed)
        for _ in range(60):
            node = chance.choice(nodes)
            name = f"/busy/{chance.randrange(12)}"
            if chance.random() < 0.3:
                node.status("DELETE", name)
            else:
                node.status("PUT", name, str(chance.random()).encode())

    for seed in range(4):
        writers.append(threading.Thread(target=write, args=(seed,)))
        writers[-1].start()
    while any(writer.is_alive() for writer in writers):
        for client in clients:
            client.sync()
    truth = listed(nodes[0], "/busy/", True)
    for client in clients:
        client.sync()
        report.check(f"after concurrent writes: {'deep' if client.deep else 'flat'}, limit {client.limit}",
                     client.known == truth, f"{client.known} instead of {truth}")


def held(report, nodes, run, folder):
    """A transaction that is open does not hide changes that were answered, and its own come when it ends."""
    one, two = nodes[:2]
    one.status("MKCOL", "/held")
    client = Client(nodes, "/held/", False)
    client.sync()
    session = subprocess.Popen([run, "psql", "-h", str(folder), "-U", "postgres", "-At", "nodes"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    session.stdin.write("SET search_path = davit; BEGIN; INSERT INTO change (share, resource, parent, name, kind) "
                        "SELECT share, 0, id, 'late', 0 FROM resource WHERE name = 'held'; SELECT 'begun';\n")
    session.stdin.flush()
    while session.stdout.readline().strip() != "begun":
        pass
    two.status("PUT", "/held/answered", b"1")
    client.sync()
    report.check("an answered change is seen while another transaction is open", "/held/answered" in client.known)
    before = client.token
    session.communicate("COMMIT;\n")
    client.sync()
    report.check("a change with an older transaction comes later", client.token != before)


class Events:
    """Reads the events of a collection."""

    def __init__(self, node, path, deep=False):
        self.socket = socket.create_connection(("127.0.0.1", node.port), timeout=120)
        query = "events=infinity" if deep else "events"
        self.socket.sendall(f"GET {path}?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
        self.text = b""

    def wait(self, pattern):
        """Reads until a pattern comes. Returns false if the stream ends."""
        while not re.search(pattern, self.text):
            try:
                data = self.socket.recv(4096)
            except TimeoutError:
                return False
            if not data:
                return False
            self.text += data
        return True


def events(report, nodes):
    one, two, three = nodes
    one.status("MKCOL", "/watched")
    readers = [Events(node, "/watched/") for node in (two, three)]
    for reader in readers:
        report.check("a stream begins", reader.wait(rb"HTTP/1.1 200 OK(?s:.*)\nid: "), repr(reader.text[-300:]))
    one.status("PUT", "/watched/new", b"1")
    for reader in readers:
        report.check("a change of another node is told", reader.wait(rb"data: \+ /watched/new\n"), repr(reader.text[-300:]))
    head = one.ask("LOCK", "/watched/new", LOCK, Timeout="Second-600")[1]
    for reader in readers:
        report.check("a lock of another node is told", reader.wait(rb"event: locks\ndata: /watched/new\n"),
                     repr(reader.text[-300:]))
        reader.text = b""
    two.status("UNLOCK", "/watched/new", Lock_Token=head["Lock-Token"])
    for reader in readers:
        report.check("the end of a lock is told", reader.wait(rb"event: locks\ndata: /watched/new\n"),
                     repr(reader.text[-300:]))
    three.status("DELETE", "/watched/new")
    for reader in readers:
        report.check("a removal is told", reader.wait(rb"data: - /watched/new\n"), repr(reader.text[-300:]))
        reader.socket.close()


LOCK = (b'<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
        b"</lockinfo>")


def journal(report, nodes, run, folder):
    for seed in (1, 2, 3):
        synchronization(report, nodes, seed)
    concurrent(report, nodes)
    held(report, nodes, run, folder)
    events(report, nodes)
