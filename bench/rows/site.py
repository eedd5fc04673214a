"""A static website: a page, and a precompressed file."""

import os

from servers import Floor, Lighttpd, Nginx
from servers.davit import Website
from servers.nginx import CachingNginx, WebsiteNginx

from .base import KIB, Load, Request, variant, write_pattern


class Page(Load):
    name = "site"
    title = "website: GET 1 KiB, 64 connections"
    contenders = [Website, Nginx, CachingNginx, Lighttpd, Floor]
    shares_root = True
    connections = 64

    def prepare(self, root, setup):
        write_pattern(os.path.join(root, "page.html"), KIB, setup)
        # The content is not checked.
        write_pattern(os.path.join(root, "style.css"), 8 * KIB, setup)
        write_pattern(os.path.join(root, "style.css.gz"), 2 * KIB, setup)

    def requests(self, turn):
        return [Request("GET", "/page.html", size=KIB, pattern_offset=0)]


class Compressed(Page):
    name = "sitegz"
    title = "website: GET 8 KiB, precompressed with gzip to 2 KiB, 64 connections"
    contenders = [Website, WebsiteNginx]

    def requests(self, turn):
        return [Request("GET", "/style.css", {"Accept-Encoding": "gzip"}, size=2 * KIB, pattern_offset=0)]


ROWS = [Page, variant(Page, "Page1", name="site1", title="website: GET 1 KiB, 1 connection", connections=1), Compressed]
