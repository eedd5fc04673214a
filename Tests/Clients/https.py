"""TLS behavior that command-line clients do not cover: slow readers, early refusals, and small pieces.

    https.py PORT AUTHORITY SHARE SERVER [NAME:PASSWORD]
"""

import base64
import http.client
import os
import socket
import ssl
import sys

port, authority, share, server = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
login = f"Authorization: Basic {base64.b64encode(sys.argv[5].encode()).decode()}\r\n" if len(sys.argv) > 5 else ""
fields = dict([login.strip().split(": ")]) if login else {}
GIB = 1 << 30


def context():
    made = ssl.create_default_context(cafile=authority)
    made.set_alpn_protocols(["http/1.1"])
    return made


def connect(receive=None):
    plain = socket.socket()
    if receive:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    plain.settimeout(120)
    plain.connect(("127.0.0.1", port))
    return context().wrap_socket(plain, server_hostname="localhost")


def head(text):
    return f"{text}\r\nHost: localhost\r\n{login}".encode()


def read_head(connection):
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(1)
        assert piece, "the connection ended"
        received += piece
    return received


def resident():
    with open(f"/proc/{server}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def http_client():
    client = http.client.HTTPSConnection("localhost", port, context=context())
    for _ in range(3):
        client.request("GET", "/hello.txt", headers=fields)
        assert client.getresponse().read() == b"hello"


def slow_reader():
    """Reads from one GiB of content slowly, and then all of it at full speed; the memory of the server must stay limited."""
    with open(os.path.join(share, "sparse"), "wb") as file:
        file.truncate(GIB)
    connection = connect(receive=4096)
    before = resident()
    connection.send(head("GET /sparse HTTP/1.1") + b"\r\n")
    assert b" 200 " in read_head(connection)
    for _ in range(200):
        assert connection.recv(1000).strip(b"\0") == b""
    assert resident() - before < 8 << 20, f"{resident() - before} bytes more"
    connection.close()
    connection = connect()
    connection.send(head("GET /sparse HTTP/1.1") + b"Connection: close\r\n\r\n")
    read_head(connection)
    count = 0
    while piece := connection.recv(1 << 20):
        count += len(piece)
    assert count == GIB, count
    assert resident() - before < 16 << 20, f"{resident() - before} bytes more"
    os.remove(os.path.join(share, "sparse"))


def pieces():
    """Sends a head with one record per byte, and pipelined requests."""
    connection = connect()
    for byte in head("GET /hello.txt HTTP/1.1") + b"\r\n":
        connection.send(bytes([byte]))
    assert b" 200 " in read_head(connection) and connection.recv(5) == b"hello"
    connection.send((head("GET /hello.txt HTTP/1.1") + b"\r\n") * 200)
    for _ in range(200):
        assert b" 200 " in read_head(connection)
        received = b""
        while len(received) < 5:
            received += connection.recv(5 - len(received))
        assert received == b"hello"


def expectation():
    connection = connect()
    connection.send(head("PUT /expected HTTP/1.1") + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    assert read_head(connection).startswith(b"HTTP/1.1 100 ")
    connection.send(b"hello")
    assert b" 201 " in read_head(connection)
    os.remove(os.path.join(share, "expected"))


def early_answer():
    """A request is refused because of its head while the content is still being sent; the response must arrive."""
    connection = connect()
    connection.send(head("PUT /missing/x HTTP/1.1") + b"Content-Length: 100000000\r\n\r\n")
    try:
        for _ in range(20):
            connection.send(bytes(10000))
    except OSError:
        pass
    assert b" 409 " in read_head(connection)


def orderly_end():
    """The server sends close_notify; Python raises an error if a connection is closed without it."""
    connection = connect()
    connection.suppress_ragged_eofs = False
    connection.send(head("GET /hello.txt HTTP/1.1") + b"Connection: close\r\n\r\n")
    read_head(connection)
    assert connection.recv(100) == b"hello"
    assert connection.recv(100) == b""


def idle_connections():
    """The memory of hundreds of idle connections is limited."""
    before = resident()
    idle = []
    for _ in range(500):
        connection = connect()
        connection.send(head("GET /hello.txt HTTP/1.1") + b"\r\n")
        read_head(connection)
        idle.append(connection)
    each = (resident() - before) / len(idle)
    print(f"{each:.0f} bytes per connection")
    assert each < 100_000, each


for step in (http_client, pieces, expectation, early_answer, orderly_end, slow_reader, idle_connections):
    try:
        step()
    except Exception as problem:
        raise SystemExit(f"{step.__name__}: {problem!r}")
