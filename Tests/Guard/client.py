"""A single keep-alive connection with sequential requests."""

import socket
import ssl

# The size of a piece that arrives as one segment on loopback, and is received by one call.
PIECE_BYTES = 32 * 1024


class WrongAnswer(Exception):
    pass


class Client:
    """`settle` waits until the server is idle; see `Server.settle`."""

    def __init__(self, port, settle, is_secure=False):
        self.settle = settle
        self.received = b""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if is_secure:
            # The server uses a self-signed certificate.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            self.socket = context.wrap_socket(self.socket)

    def close(self):
        self.socket.close()

    def ask(self, method, target, expected, fields=(), body=None, is_chunked=False, waits=None):
        """Sends a request and returns the fields of the response, by lowercase name, and its content. `waits` is what
        the client waits for before it sends the content: "100" or "acknowledgment"."""
        lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", *fields]
        if is_chunked:
            lines.append("Transfer-Encoding: chunked")
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        elif body is not None:
            lines.append(f"Content-Length: {len(body)}")
        if waits:
            expectation = ["Expect: 100-continue"] if waits == "100" else []
            self.socket.sendall("\r\n".join([*lines, *expectation, "", ""]).encode())
            if expectation:
                status, _ = self._read_head()
                if status != 100:
                    raise WrongAnswer(f"{method} {target} returned {status} instead of 100")
            self.settle()
            message = body
        else:
            message = "\r\n".join([*lines, "", ""]).encode() + (body or b"")
        # The number of receive calls must not depend on the speed of the server.
        while len(message) > PIECE_BYTES:
            self.socket.sendall(message[:PIECE_BYTES])
            self.settle()
            message = message[PIECE_BYTES:]
        self.socket.sendall(message)
        status, answer = self._read_head()
        content = b"" if method == "HEAD" or status in (204, 304) else self._read_content(answer)
        if status != expected:
            raise WrongAnswer(f"{method} {target} returned {status} instead of {expected}: {content[:200]!r}")
        # The work after the response also belongs to this request, so wait until all threads are idle.
        self.settle()
        return answer, content

    def _receive(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise WrongAnswer("the server closed the connection")
        self.received += data

    def _take(self, count):
        while len(self.received) < count:
            self._receive()
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def _take_through(self, mark):
        while (found := self.received.find(mark)) < 0:
            self._receive()
        return self._take(found + len(mark))

    def _read_head(self):
        lines = self._take_through(b"\r\n\r\n").decode("latin-1").split("\r\n")
        fields = dict(line.split(":", 1) for line in lines[1:] if line)
        return int(lines[0].split(" ")[1]), {name.lower(): value.strip() for name, value in fields.items()}

    def _read_content(self, fields):
        if fields.get("transfer-encoding") != "chunked":
            return self._take(int(fields["content-length"]))
        content = b""
        while size := int(self._take_through(b"\r\n"), 16):
            content += self._take(size)
            self._take(2)
        self._take_through(b"\r\n")
        return content
