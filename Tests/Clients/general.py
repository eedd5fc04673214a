"""Python's http.client and requests against ClientServer: general.py URL SHARE [AUTHORITY]"""

import http.client
import io
import os
import ssl
import sys
import urllib.parse

import requests

base, share = sys.argv[1], sys.argv[2]
authority = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else None
ROWS = "".join(f"row {row}\n" for row in range(5000)).encode()
CONTENT = os.urandom(3_000_000)


def connect():
    host = urllib.parse.urlsplit(base).netloc
    if authority:
        return http.client.HTTPSConnection(host, context=ssl.create_default_context(cafile=authority), timeout=120)
    return http.client.HTTPConnection(host, timeout=120)


def session():
    made = requests.Session()
    made.trust_env = False
    made.verify = authority or True
    return made


def expect(found, wanted):
    assert found == wanted, f"{found!r:.300} instead of {wanted!r:.300}"


def stored(name):
    with open(os.path.join(share, name), "rb") as file:
        return file.read()


def keep_alive():
    """Sends methods with and without content in sequence, on one socket."""
    client = connect()
    client.connect()
    socket = client.sock
    for method, path, body, status, content in (
        ("GET", "/files/hello.txt", None, 200, b"hello"), ("HEAD", "/files/hello.txt", None, 200, b""),
        ("GET", "/rows?count=5000", None, 200, ROWS), ("HEAD", "/rows?count=5000", None, 200, b""),
        ("POST", "/echo", CONTENT[:1_000_000], 200, CONTENT[:1_000_000]), ("PUT", "/files/python", CONTENT, 201, None),
        ("GET", "/files/python", None, 200, CONTENT), ("DELETE", "/files/python", None, 204, b""),
        ("GET", "/files/python", None, 404, None), ("GET", "/files/hello.txt", None, 200, b"hello"),
    ):
        client.request(method, path, body)
        answer = client.getresponse()
        found = answer.read()
        expect((method, path, answer.status), (method, path, status))
        if content is not None:
            expect(found, content)
        assert client.sock is socket, f"{method} {path} closed the connection"


def chunks_up():
    client = connect()
    pieces = (CONTENT[place:place + 70_001] for place in range(0, len(CONTENT), 70_001))
    client.request("PUT", "/files/pieces", body=pieces, encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    answer = client.getresponse()
    answer.read()
    expect(answer.status, 201)
    expect(stored("pieces"), CONTENT)


def chunks_down():
    """Reads chunks as they arrive: the first ones before the last ones are produced."""
    client = connect()
    client.request("GET", "/rows?count=3000000")
    answer = client.getresponse()
    expect(answer.chunked, True)
    expect(answer.read(12), b"row 0\nrow 1\n")
    client.close()


def session_of_requests():
    with session() as web:
        answer = web.get(f"{base}/files/hello.txt")
        expect((answer.status_code, answer.text), (200, "hello"))
        tag, modified = answer.headers["ETag"], answer.headers["Last-Modified"]
        expect(web.get(f"{base}/files/hello.txt", headers={"If-None-Match": tag}).status_code, 304)
        expect(web.get(f"{base}/files/hello.txt", headers={"If-Modified-Since": modified}).status_code, 304)
        part = {"Range": "bytes=1-2", "If-Range": tag}
        expect(web.get(f"{base}/files/hello.txt", headers=part).content, b"el")
        expect(web.get(f"{base}/files/hello.txt", headers=part | {"If-Range": '"other"'}).content, b"hello")
        expect(web.put(f"{base}/files/hello.txt", data=b"x", headers={"If-Match": '"other"'}).status_code, 412)


def coding():
    with session() as web:
        answer = web.get(f"{base}/rows?count=5000")
        expect((answer.headers.get("Content-Encoding"), answer.content), ("gzip", ROWS))
        plain = web.get(f"{base}/rows?count=5000", headers={"Accept-Encoding": "identity"})
        expect((plain.headers.get("Content-Encoding"), plain.content), (None, ROWS))
        assert "accept-encoding" in plain.headers["Vary"].lower()
        # Files of a share are sent without compression.
        expect(web.get(f"{base}/files/hello.txt").headers.get("Content-Encoding"), None)


def redirects():
    with session() as web:
        answer = web.get(f"{base}/301")
        expect(([step.status_code for step in answer.history], answer.text), ([301, 302], "row 0\n"))
        expect(web.post(f"{base}/303", data="x").text, "row 0\n")
        answer = web.post(f"{base}/307", data={"a": "ü"})
        expect(([step.status_code for step in answer.history], answer.text), ([307, 308], "a=%C3%BC"))


def forms():
    with session() as web:
        expect(web.post(f"{base}/form", data={"a": "1 & 2", "b": "日本語"}).text, "a=1 & 2\nb=日本語")
        files = [("f", ("naïve.bin", io.BytesIO(CONTENT))), ("f", ("empty", b""))]
        found = web.post(f"{base}/upload", data={"a": "ü"}, files=files).text.splitlines()
        expect(found, ["a=ü", "f: naïve.bin, 3000000 bytes", "f: empty, 0 bytes"])


def streams():
    with session() as web:
        answer = web.put(f"{base}/files/generated", data=(CONTENT[place:place + 999] for place in range(0, 500_000, 999)))
        expect(answer.status_code, 201)
        expect(stored("generated"), CONTENT[:499_500 + 999])
        with web.get(f"{base}/events", stream=True) as answer:
            lines = [line for line in answer.iter_lines(decode_unicode=False) if line.startswith(b"id: ")]
        expect(lines, [b"id: 1", b"id: 2", b"id: 3"])


def strangers():
    """Without the certificate authority, clients refuse to connect."""
    if not authority:
        return
    try:
        requests.get(f"{base}/", timeout=120)
    except requests.exceptions.SSLError:
        return
    raise AssertionError("a certificate of an unknown authority was trusted")


for step in (keep_alive, chunks_up, chunks_down, session_of_requests, coding, redirects, forms, streams, strangers):
    try:
        step()
    except Exception as problem:
        raise SystemExit(f"{step.__name__}: {problem!r}")
