"""lighttpd with mod_webdav, locks and properties in SQLite."""

import os
import signal

from .base import Server, output_of


class Lighttpd(Server):
    name = "lighttpd"
    lock_durability = property_durability = "SQLite: power loss"
    is_stale = True
    stop_signal = signal.SIGINT
    stat_cache = "simple"

    def start(self):
        path = self.write("lighttpd.conf", self.config())
        return self.spawn(["lighttpd", "-D", "-f", path])

    @staticmethod
    def workers(cores):
        return cores

    def config(self):
        return f"""
server.modules = ("mod_webdav")
server.document-root = "{self.root}"
server.bind = "127.0.0.1"
server.port = {self.port}
server.errorlog = "{self.state}/error.log"
server.upload-dirs = ("{self.beside}")
server.max-worker = {self.workers(self.setup.cores)}
server.max-fds = 16384
server.max-connections = 12288
server.listen-backlog = 4096
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 3600
server.max-read-idle = 3600
server.max-request-size = 0
server.stat-cache-engine = "{self.stat_cache}"
mimetype.assign = ("" => "application/octet-stream")
webdav.activate = "enable"
webdav.is-readonly = "disable"
webdav.sqlite-db-name = "{os.path.join(self.state, 'webdav.db')}"
webdav.opts = ("propfind-depth-infinity" => "enable")
"""

    @classmethod
    def settings(cls):
        return ("a worker for each core (one where the database is written), no access log, sendfile (the default), keep-alive for 65,535 requests (its "
                f"limit), uploads on the share's volume, stat-cache-engine {cls.stat_cache}")

    @classmethod
    def version(cls, setup):
        return output_of("lighttpd", "-v").split()[0].partition("/")[2]


class FreshLighttpd(Lighttpd):
    """Does not cache file status."""

    name = "lighttpd fresh"
    is_stale = False
    stat_cache = "disable"


class SingleLighttpd(Lighttpd):
    """Has one worker: with two, concurrent writes to the database fail with 500."""

    @staticmethod
    def workers(cores):
        return 0
