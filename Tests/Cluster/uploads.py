"""Uploads in several requests, which different davit nodes receive."""

import base64
import hashlib
import http.client
import random
import socket
import threading
import urllib.parse


def value(psql, statement):
    """Returns the only value of a statement."""
    return psql("SET search_path = davit; " + statement).split()[-1]


def append(node, path, offset, data, tus=False, complete=None, **fields):
    """Appends to an upload, with the draft or with tus. Returns the status, the fields and the content."""
    if tus:
        return node.ask("PATCH", path, data, Tus_Resumable="1.0.0", Upload_Offset=str(offset),
                        Content_Type="application/offset+octet-stream", **fields)
    return node.ask("PATCH", path, data, Upload_Draft_Interop_Version="8", Upload_Offset=str(offset),
                    Upload_Complete="?1" if complete else "?0", Content_Type="application/partial-upload", **fields)


def create(node, target, data=b"", tus=False, length=None, complete=False, **fields):
    """Creates an upload, and returns its path."""
    if tus:
        collection, name = target.rsplit("/", 1)
        meta = "filename " + base64.b64encode(name.encode()).decode()
        status, head, body = node.ask("POST", collection + "/", None, Tus_Resumable="1.0.0", Upload_Length=str(length),
                                      Upload_Metadata=meta, **fields)
    else:
        status, head, body = node.ask("PUT", target, data, Upload_Draft_Interop_Version="8",
                                      Upload_Complete="?1" if complete else "?0", **fields)
    if "Location" not in head:
        raise RuntimeError(f"no upload was created: {status} {body}")
    return urllib.parse.urlsplit(head["Location"]).path


def offset(node, path, tus=False):
    """Returns the offset that a node reports; if it reports none, the status as a negative number."""
    fields = {"Tus_Resumable": "1.0.0"} if tus else {"Upload_Draft_Interop_Version": "8"}
    status, head, _ = node.ask("HEAD", path, **fields)
    return int(head["Upload-Offset"]) if "Upload-Offset" in head else -status


def begin(node, path, at, data, announced):
    """Sends the head and the first bytes of a request that appends. Returns the connection."""
    connection = socket.create_connection(("127.0.0.1", node.port), timeout=120)
    connection.sendall((f"PATCH {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpload-Draft-Interop-Version: 8\r\nUpload-Offset: {at}\r\n"
                        "Upload-Complete: ?0\r\nContent-Type: application/partial-upload\r\n"
                        f"Content-Length: {announced}\r\n\r\n").encode() + data)
    return connection


def answer(connection):
    """Returns the status of the response; None if the connection ends without one."""
    response = http.client.HTTPResponse(connection)
    try:
        response.begin()
        response.read()
        return response.status
    except (http.client.HTTPException, OSError):
        return None
    finally:
        connection.close()


def pieces(report, nodes, tus):
    """Pieces of all sizes, each on another node."""
    what = "tus" if tus else "draft"
    random_ = random.Random(7)
    for name, sizes in {"small": [1, 2, 0, 30_000], "bytes": [1] * 40, "rest": [65_536, 1, 65_536, 70_000],
                        "large": [9_000_000, 3, 8 << 20, 100_000, 5]}.items():
        whole = random_.randbytes(sum(sizes))
        target = f"/{what}-{name}"
        path = create(nodes[0], target, tus=tus, length=len(whole))
        at = 0
        for index, size in enumerate(sizes):
            node, other = nodes[index % len(nodes)], nodes[(index + 1) % len(nodes)]
            last = index == len(sizes) - 1
            status, head, body = append(node, path, at, whole[at:at + size], tus, complete=last)
            at += size
            report.check(f"{what}, {name}: piece {index}", status in (200, 201, 204), f"{status} {body}")
            if not last:
                report.check(f"{what}, {name}: the other node knows the offset", offset(other, path, tus) == at,
                             f"{offset(other, path, tus)} instead of {at}")
        found = nodes[-1].ask("GET", target)[2]
        report.check(f"{what}, {name}: the content", found == whole, f"{len(found)} bytes instead of {len(whole)}")


def turns(report, one, two, psql):
    """Only the last request may write, whichever node has it."""
    whole = random.Random(5).randbytes(12 << 20)
    path = create(one, "/turns", whole[:1000])
    # The first node receives more than an object, and does not know that the second one takes over.
    first = begin(one, path, 1000, whole[1000:(9 << 20)], len(whole) - 1000)
    for _ in range(400):
        known = int(value(psql, f"SELECT coalesce(sum(s.length), 0) FROM segment s JOIN upload u ON u.blob = s.blob "
                         f"WHERE u.id = '{path.rsplit('/', 1)[1]}'"))
        if known >= 8 << 20:
            break
    at = offset(two, path)
    report.check("another node continues behind the last object", 8 << 20 <= at < 9 << 20, f"{at} {known}")
    status = append(two, path, at, whole[at:at + 5_000])[0]
    report.check("the node that took over appends", status in (200, 201, 204), str(status))
    at += 5_000
    try:
        first.sendall(whole[(9 << 20):])
    except OSError:
        pass
    status = answer(first)
    report.check("the request that lost its turn fails", status in (None, 409), str(status))
    report.check("its bytes are not there", offset(two, path) == at, f"{offset(two, path)} instead of {at}")
    report.check("nor for the node that received them", offset(one, path) == at)
    status = append(one, path, at, whole[at:], complete=True)[0]
    report.check("the first node completes the upload", status in (200, 201, 204), str(status))
    report.check("its content", two.ask("GET", "/turns")[2] == whole)
    report.check("the upload is complete for the other node", offset(two, path) in (len(whole), -404))

    # Both at the same time: each acknowledged offset stays.
    whole = random.Random(6).randbytes(400_000)
    path = create(one, "/race")
    done = [0]
    lies = []

    def work(node, seed):
        chance = random.Random(seed)
        while True:
            known = done[0]
            try:
                at = offset(node, path)
            except (http.client.HTTPException, OSError):
                continue
            if at == -409:
                # Another request took over in the meantime.
                continue
            if at < known:
                lies.append((at, known))
            if at < 0 or at >= len(whole):
                return
            size = min(chance.randrange(1, 30_000), len(whole) - at)
            try:
                status = append(node, path, at, whole[at:at + size])[0]
            except (http.client.HTTPException, OSError):
                continue
            if status in (200, 201, 204):
                done[0] = max(done[0], at + size)

    workers = [threading.Thread(target=work, args=(node, seed)) for seed, node in enumerate((one, two, one, two))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    report.check("no acknowledged byte is lost while two nodes append", not lies, str(lies[:3]))
    status = append(one, path, len(whole), b"", complete=True)[0]
    report.check("the upload is completed", status in (200, 201, 204), str(status))
    report.check("its content is right", two.ask("GET", "/race")[2] == whole)


def digests(report, one, two):
    """A piece with a digest counts only if it matches, also when its node is asked no more."""
    data = random.Random(8).randbytes(100_000)
    wrong = "sha-256=:" + base64.b64encode(hashlib.sha256(b"other").digest()).decode() + ":"
    right = "sha-256=:" + base64.b64encode(hashlib.sha256(data).digest()).decode() + ":"
    path = create(one, "/digests")
    status = append(one, path, 0, data, Content_Digest=wrong)[0]
    report.check("a piece with a wrong digest is refused", status == 400, str(status))
    report.check("and does not count on the other node", offset(two, path) == 0, str(offset(two, path)))
    status = append(two, path, 0, data, Content_Digest=right)[0]
    report.check("a piece with the right digest", status in (200, 201, 204), str(status))
    status = append(one, path, len(data), b"", complete=True, Repr_Digest=right)[0]
    report.check("the digest of the whole", status in (200, 201, 204), str(status))
    report.check("the content with digests", two.ask("GET", "/digests")[2] == data)


def moves(report, one, two):
    """An upload follows its collection, and ends with it."""
    one.status("MKCOL", "/in")
    path = create(one, "/in/file", b"first")
    report.check("MOVE of the collection", two.status("MOVE", "/in", Destination=two.url("/moved")) == 201)
    report.check("the upload follows", append(two, path, 5, b" second", complete=True)[0] in (200, 201, 204))
    report.check("its content at the new place", one.ask("GET", "/moved/file")[2] == b"first second")
    path = create(one, "/moved/other", b"abc")
    report.check("DELETE of the collection", two.status("DELETE", "/moved") == 204)
    report.check("the upload cannot be found", offset(one, path) == -404, str(offset(one, path)))


def conditions(report, one, two):
    """The checks of a PUT apply when the upload is completed."""
    one.status("PUT", "/conditions", b"old")
    tag = one.ask("HEAD", "/conditions")[1]["ETag"]
    path = create(one, "/conditions", b"new", If_Match=tag)
    two.status("PUT", "/conditions", b"changed")
    status = append(two, path, 3, b"", complete=True)[0]
    report.check("If-Match at the end", status == 412, str(status))
    report.check("the content of the other request stays", one.ask("GET", "/conditions")[2] == b"changed")
    report.check("DELETE of an upload", two.status("DELETE", path, Upload_Draft_Interop_Version="8") == 204)
    report.check("it is gone for the other node", offset(one, path) == -404)


def concatenation(report, one, two):
    parts = []
    for node, data in ((one, b"one " * 30_000), (two, b"two")):
        status, head, body = node.ask("POST", "/", None, Tus_Resumable="1.0.0", Upload_Length=str(len(data)),
                                      Upload_Concat="partial")
        report.check("a part is created", status == 201, f"{status} {body}")
        path = urllib.parse.urlsplit(head["Location"]).path
        status = append(one, path, 0, data, tus=True)[0]
        report.check("a part is received", status == 204, str(status))
        parts.append(head["Location"])
    meta = "filename " + base64.b64encode(b"joined").decode()
    status, head, body = two.ask("POST", "/", None, Tus_Resumable="1.0.0", Upload_Concat="final;" + " ".join(parts),
                                 Upload_Metadata=meta)
    report.check("parts are joined", status == 201, f"{status} {body}")
    report.check("the joined content", one.ask("GET", "/joined")[2] == b"one " * 30_000 + b"two")


def killed(report, start, two, psql):
    """A node is killed in the middle: what it has acknowledged remains, and nothing of it stays after the end."""
    whole = random.Random(9).randbytes(20 << 20)
    with start() as node:
        path = create(node, "/upload-killed", whole[:70_000])
        begin(node, path, 70_000, whole[70_000:(18 << 20)], len(whole) - 70_000)
        name = path.rsplit("/", 1)[1]
        for _ in range(1000):
            known = int(value(psql, f"SELECT coalesce(sum(s.length), 0) FROM segment s JOIN upload u ON u.blob = s.blob "
                             f"WHERE u.id = '{name}'"))
            if known >= 16 << 20:
                break
        node.kill()
    at = offset(two, path)
    report.check("the objects of a killed node are there", at >= 16 << 20, f"{at} {known}")
    status = append(two, path, at, whole[at:], complete=True)[0]
    report.check("another node completes its upload", status in (200, 201, 204), str(status))
    report.check("the content of the upload of a killed node", two.ask("GET", "/upload-killed")[2] == whole)


def ended(report, one, two, psql):
    """Nothing stays of uploads that end without a file."""
    whole = bytes(9 << 20)
    paths = [create(node, f"/ended{index}", whole) for index, node in enumerate((one, two))]
    report.check("cancelled", one.status("DELETE", paths[0], Upload_Draft_Interop_Version="8") == 204)
    value(psql, f"UPDATE upload SET expiry = clock_timestamp() - interval '1 second' WHERE id = '{paths[1].rsplit('/', 1)[1]}'")
    report.check("an upload expires", offset(one, paths[1]) in (-404, -410), str(offset(one, paths[1])))


def uploads(report, nodes, start, psql):
    one, two = nodes[0], nodes[1]
    pieces(report, nodes, tus=False)
    pieces(report, nodes, tus=True)
    turns(report, one, two, psql)
    digests(report, one, two)
    moves(report, one, two)
    conditions(report, one, two)
    concatenation(report, one, two)
    killed(report, start, two, psql)
    ended(report, one, two, psql)
