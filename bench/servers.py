"""The servers that are compared: each serves one folder, on loopback, without users and without an access log."""

import os
import re
import select
import signal
import socket
import subprocess
import time


class Davit:
    name = "davit"

    def __init__(self, binary, root, work):
        self.log = open(os.path.join(work, "davit.log"), "ab")
        self.process = subprocess.Popen(
            [binary, "serve", root, "--host", "127.0.0.1", "--port", "0", "--state-dir",
             os.path.join(work, "state"), "--log-level", "error"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)
        text = b""
        while True:
            if not select.select([self.process.stdout], [], [], 30)[0]:
                raise RuntimeError("davit did not become ready")
            data = os.read(self.process.stdout.fileno(), 4096)
            text += data
            found = re.search(rb"http://127\.0\.0\.1:(\d+)/", text)
            if found:
                self.port = int(found.group(1))
                return
            if not data:
                raise RuntimeError(f"davit ended before it was ready; see {self.log.name}")

    def stop(self):
        stop(self.process)


class Nginx:
    """nginx with its dav and dav-ext modules, as Debian packages them."""

    name = "nginx"
    modules = "/usr/lib/nginx/modules"

    def __init__(self, root, work, workers):
        self.port = free_port()
        folder = os.path.join(work, "nginx")
        os.makedirs(folder, exist_ok=True)
        config = os.path.join(folder, "nginx.conf")
        with open(config, "w") as file:
            file.write(self.config(root, folder, workers))
        self.process = subprocess.Popen(
            ["nginx", "-p", folder, "-c", config, "-e", os.path.join(folder, "error.log")],
            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not is_listening(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("nginx did not start")
            time.sleep(0.02)

    def config(self, root, folder, workers):
        # Uploads are written where the share is, as davit does, so that the rename does not copy.
        user = "user root;" if os.geteuid() == 0 else ""
        return f"""
daemon off; {user} worker_processes {workers}; pid {folder}/pid; error_log {folder}/error.log;
load_module {self.modules}/ngx_http_dav_ext_module.so;
events {{ worker_connections 4096; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; keepalive_timeout 75;
    client_max_body_size 0; client_body_buffer_size 64k;
    client_body_temp_path {root}/.nginx-temp; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    dav_ext_lock_zone zone=locks:10m;
    server {{
        listen 127.0.0.1:{self.port};
        root {root};
        location / {{
            dav_methods PUT DELETE MKCOL COPY MOVE; dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
            dav_ext_lock zone=locks; dav_access user:rw group:r all:r;
        }}
    }}
}}
"""

    def stop(self):
        stop(self.process, signal.SIGQUIT)


def stop(process, number=signal.SIGTERM):
    process.send_signal(number)
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_listening(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
