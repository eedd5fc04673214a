"""An OpenID Connect provider for tests, over TLS. Unlike a real one, it can misbehave."""

import base64
import datetime
import hashlib
import http.server
import ipaddress
import json
import secrets
import ssl
import sys
import threading
import time
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.x509.oid import NameOID


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def number(value, length=None):
    return encoded(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


class Key:
    """A key pair that signs tokens."""

    def __init__(self, algorithm):
        self.algorithm, self.id = algorithm, secrets.token_hex(4)
        self.private = {
            "RS256": lambda: rsa.generate_private_key(65537, 2048), "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
        }[algorithm]()

    def json(self):
        public = self.private.public_key()
        head = {"kid": self.id, "use": "sig", "alg": self.algorithm}
        if self.algorithm == "RS256":
            numbers = public.public_numbers()
            return {"kty": "RSA", "n": number(numbers.n), "e": number(numbers.e), **head}
        if self.algorithm == "ES256":
            numbers = public.public_numbers()
            return {"kty": "EC", "crv": "P-256", "x": number(numbers.x, 32), "y": number(numbers.y, 32), **head}
        raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return {"kty": "OKP", "crv": "Ed25519", "x": encoded(raw), **head}

    def sign(self, message):
        if self.algorithm == "RS256":
            return self.private.sign(message, padding.PKCS1v15(), hashes.SHA256())
        if self.algorithm == "ES256":
            r, s = utils.decode_dss_signature(self.private.sign(message, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        return self.private.sign(message)

    def token(self, claims):
        header = {"alg": self.algorithm, "kid": self.id, "typ": "JWT"}
        content = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        return f"{content}.{encoded(self.sign(content.encode()))}"


def make_certificate(folder):
    """Writes a certificate for 127.0.0.1, which is its own authority, and its key. Returns both paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "provider")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
    paths = folder / "provider.pem", folder / "provider.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return paths


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        # Clients that refuse the certificate end the handshake.
        if not isinstance(sys.exc_info()[1], ssl.SSLError):
            super().handle_error(request, address)


class Provider:
    """Signs in `user` without asking. Attributes can be changed at any time."""

    def __init__(self, folder, client, secret):
        self.client, self.secret = client, secret
        self.certificate, self.key_file = make_certificate(folder)
        self.keys = [Key("RS256")]
        self.user = {"sub": "1", "preferred_username": "anna", "groups": ["editors"]}
        # What is changed: `error` is sent instead of a code; the others change a token or the metadata.
        self.error, self.claims, self.metadata, self.signer = None, {}, {}, None
        # Paths that redirect elsewhere.
        self.redirects = {}
        self.port, self.server = 0, None
        # The paths of the requests of davit, and how often a code was refused.
        self.requests, self.refused = [], 0
        self.codes = {}
        self.start()

    @property
    def issuer(self):
        return f"https://127.0.0.1:{self.port}/tenant"

    def start(self):
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                provider.get(self)

            def do_POST(self):
                provider.post(self)

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_port
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key_file)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def answer(self, handler, status, content=None, **fields):
        body = json.dumps(content).encode() if content is not None else b""
        handler.send_response(status)
        for name, value in fields.items():
            handler.send_header(name, value)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def get(self, handler):
        parts = urllib.parse.urlsplit(handler.path)
        self.requests.append(parts.path)
        if parts.path in self.redirects:
            return self.answer(handler, 302, Location=self.redirects[parts.path])
        if parts.path == "/tenant/.well-known/openid-configuration":
            return self.answer(handler, 200, {
                "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
                "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
                "authorization_response_iss_parameter_supported": True, **self.metadata})
        if parts.path == "/tenant/keys":
            return self.answer(handler, 200, {"keys": [key.json() for key in self.keys]})
        if parts.path == "/tenant/authorize":
            return self.authorize(handler, dict(urllib.parse.parse_qsl(parts.query, strict_parsing=True)))
        self.answer(handler, 404)

    def authorize(self, handler, query):
        assert query["tenant"] == "1" and query["response_type"] == "code" and query["client_id"] == self.client, query
        assert query["code_challenge_method"] == "S256" and "openid" in query["scope"].split(), query
        assert len(query["state"]) >= 43 and len(query["nonce"]) >= 43, query
        answer = {"state": query["state"], "iss": self.issuer}
        if self.error:
            answer["error"] = self.error
        else:
            answer["code"] = secrets.token_urlsafe(16)
            self.codes[answer["code"]] = query
        self.answer(handler, 302, Location=f"{query['redirect_uri']}?{urllib.parse.urlencode(answer)}")

    def post(self, handler):
        self.requests.append(handler.path)
        if handler.path in self.redirects:
            return self.answer(handler, 307, Location=self.redirects[handler.path])
        content = handler.rfile.read(int(handler.headers["Content-Length"])).decode()
        form = dict(urllib.parse.parse_qsl(content, strict_parsing=True))
        credentials = base64.b64encode(f"{self.client}:{urllib.parse.quote(self.secret, safe='')}".encode()).decode()
        if handler.headers["Authorization"] != f"Basic {credentials}" or handler.path != "/tenant/token":
            return self.answer(handler, 401, {"error": "invalid_client"})
        query = self.codes.pop(form.get("code"), None)
        challenge = encoded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (not query or challenge != query["code_challenge"] or form["redirect_uri"] != query["redirect_uri"]
                or form["grant_type"] != "authorization_code"):
            self.refused += 1
            return self.answer(handler, 400, {"error": "invalid_grant"})
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": self.client, "exp": now + 300, "iat": now, "nonce": query["nonce"],
                  **self.user, **self.claims}
        token = (self.signer or self.keys[0]).token(claims)
        self.answer(handler, 200, {"id_token": token, "access_token": "x", "token_type": "Bearer"})
