"""nginx with its dav and dav-ext modules, as Debian packages them."""

import os
import signal

from .base import Server, make_certificate, output_of


class Nginx(Server):
    name = "nginx"
    lock_durability = None
    stop_signal = signal.SIGQUIT
    modules = "/usr/lib/nginx/modules"
    connections = 2048
    cache = ""
    #: Additional parameters of `listen`, and the directives for TLS.
    listen, tls = "", ""

    def start(self):
        path = self.write("nginx.conf", self.config())
        return self.spawn(["nginx", "-p", self.state, "-c", path, "-e", os.path.join(self.state, "error.log")])

    def config(self):
        user = "user root;" if os.geteuid() == 0 else ""
        return f"""
daemon off; {user} worker_processes {self.setup.cores}; worker_rlimit_nofile {self.connections + 2048};
pid {self.state}/pid; error_log {self.state}/error.log;
load_module {self.modules}/ngx_http_dav_ext_module.so;
events {{ worker_connections {self.connections}; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 3600;
    {self.cache}
    client_max_body_size 0; client_body_buffer_size 64k;
    client_body_temp_path {self.beside}/body; proxy_temp_path {self.state}/p; fastcgi_temp_path {self.state}/f;
    uwsgi_temp_path {self.state}/u; scgi_temp_path {self.state}/s;
    dav_ext_lock_zone zone=locks:64m;
    server {{
        listen 127.0.0.1:{self.port} backlog=4096{self.listen};
        {self.tls}
        root {self.root};
        location / {{
            dav_methods PUT DELETE MKCOL COPY MOVE; dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
            dav_ext_lock zone=locks; dav_access user:rw group:r all:r;
        }}
    }}
}}
"""

    @classmethod
    def settings(cls):
        return ("a worker for each core with a table of 2,048 connections (12,288 for 10,000), access_log off, sendfile on, tcp_nopush on, keep-alive without limit, uploads "
                f"on the share's volume, {cls.cache.rstrip(';') or 'open_file_cache off (the default)'}")

    @classmethod
    def version(cls, setup):
        return output_of("nginx", "-v").rpartition("/")[2].strip()


class SecureNginx(Nginx):
    """Uses the same key, TLS version, cipher and curve as all the other servers."""

    is_secure = True
    listen = " ssl"

    @property
    def tls(self):
        certificate, key = make_certificate(self.setup)
        return (f"ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.3; "
                "ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256; ssl_ecdh_curve X25519;")


class CachingNginx(Nginx):
    """Caches descriptors and sizes for up to 60 seconds."""

    name = "nginx cache"
    is_stale = True
    cache = "open_file_cache max=10000 inactive=60s; open_file_cache_valid 60s;"


class RoomyNginx(Nginx):
    """Has a connection table that is large enough for all idle connections; the size of the table determines the memory use."""

    connections = 12_288


class WebsiteNginx(Nginx):
    """Sends the precompressed file that is stored next to the plain one."""

    cache = "gzip_static on; gzip_vary on;"
