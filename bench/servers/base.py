"""The common base class of all servers."""

import os
import signal
import socket
import subprocess
import time

START_SECONDS = 30


class Server:
    """A running server.

    `root` is the shared folder. `beside` is a folder on the same volume for temporary uploads, so that renames need
    no copy. `state` is a folder on disk for locks, properties, configuration and logs.
    """

    #: The name in tables; unique within a row.
    name = None
    #: Describes what acknowledged locks and properties survive; None if they are only in memory.
    lock_durability = property_durability = None
    #: True if responses to reads may come from a cache that was not validated.
    is_stale = False
    #: True if the server supports only HTTPS.
    is_secure = False
    #: True for a second server of the same kind with different work, which is not described again.
    is_again = False
    #: The signal that stops the server.
    stop_signal = signal.SIGTERM

    def __init__(self, setup, root, beside, state):
        self.setup, self.root, self.beside, self.state = setup, root, beside, state
        self.port = free_port()
        self.started = time.monotonic()
        self.process = self.start()

    def start(self):
        """Starts the server on `self.port` and returns its main process."""
        raise NotImplementedError

    @classmethod
    def settings(cls):
        """Returns the settings that affect speed, for the document."""
        raise NotImplementedError

    @classmethod
    def version(cls, setup):
        raise NotImplementedError

    @classmethod
    def is_peer(cls):
        """Returns whether davit is compared with this server."""
        return True

    def write(self, name, text):
        path = os.path.join(self.state, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def spawn(self, command, environment=None):
        with open(os.path.join(self.state, "output"), "ab") as log:
            # Start a new session, because lighttpd signals its whole process group when it exits.
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                    env={**os.environ, **(environment or {})})

    def wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while not is_listening(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} did not start: {self.last_words()}")
            time.sleep(0.0005)

    def last_words(self):
        words = []
        for name in ("output", "error.log"):
            path = os.path.join(self.state, name)
            if os.path.exists(path):
                with open(path, errors="replace") as file:
                    words += file.read().splitlines()[-3:]
        return " | ".join(words)

    def stop(self):
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(timeout=START_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def make_certificate(setup):
    """Returns the files of a certificate for loopback and its key, which all servers of a run share."""
    certificate, key = (os.path.join(setup.disk, name) for name in ("tls-certificate.pem", "tls-key.pem"))
    if not os.path.exists(certificate):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, stderr=subprocess.DEVNULL)
        os.chmod(key, 0o600)
    return certificate, key


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_listening(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return done.stdout
