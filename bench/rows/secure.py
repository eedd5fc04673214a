"""HTTPS: the cost of encryption. TLS 1.3, AES-128-GCM, X25519, and the same P-256 key for all servers."""

from servers.davit import SecureDavit
from servers.nginx import SecureNginx

from .base import KIB, Request, variant
from .read import Download, Get


class SecureGet(Get):
    name = "tls-get64"
    title = "HTTPS GET 1 KiB, 64 connections"
    contenders = [SecureDavit, SecureNginx]
    floor = None


class Handshake(SecureGet):
    name = "tls-new"
    title = "HTTPS GET 1 KiB, each with a new connection and a full handshake, 16 concurrently"
    connections = 16

    def requests(self, turn):
        return [Request("GET", "/content.bin", {"Connection": "close"}, size=self.size, pattern_offset=0)]


ROWS = [
    SecureGet,
    variant(SecureGet, "Secure100K", name="tls-100k", title="HTTPS GET 100 KiB, 16 connections", connections=16,
            size=100 * KIB),
    variant(Download, "SecureDownload", name="tls-down", title="HTTPS GET 1 GiB, one stream",
            contenders=SecureGet.contenders, floor=None),
    Handshake,
]
