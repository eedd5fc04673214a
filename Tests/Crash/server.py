"""Starts, stops and kills davit."""

import os
import re
import select
import signal
import subprocess


class Died(Exception):
    """The server killed itself before it was ready."""


class Server:
    """A run of davit for `root`, killed at the end of the block if it is still running.

    The faults are environment variables of a debug build: kill_at, kill_start_at, fail_call.
    """

    def __init__(self, binary, root, state, log, sync="none", options=(), **faults):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DAVIT_")}
        for name, value in faults.items():
            if value is not None:
                environment[f"DAVIT_{name.upper()}"] = str(value)
        self.status = None
        self.process = subprocess.Popen(
            [binary, "serve", root, "--host", "127.0.0.1", "--port", "0", "--state-dir", state, "--sync", sync,
             *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=environment)
        try:
            self.port = self._read_port()
        except BaseException:
            self.kill()
            raise

    def _read_port(self):
        """Returns the port in the ready line."""
        text = b""
        descriptor = self.process.stdout.fileno()
        while True:
            if not select.select([descriptor], [], [], 30)[0]:
                raise RuntimeError("davit did not become ready within 30 s")
            data = os.read(descriptor, 4096)
            text += data
            found = re.search(rb"http://127\.0\.0\.1:(\d+)/", text)
            if found:
                return int(found.group(1))
            if not data:
                status = self._wait()
                if status == -signal.SIGKILL:
                    raise Died
                raise RuntimeError(f"davit ended with status {status} before it was ready")

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.kill()

    def stop(self):
        """Sends SIGTERM and returns the exit status: 0 for a clean exit, -9 if it killed itself."""
        if self.status is None:
            self.process.terminate()
        return self._wait()

    def kill(self):
        if self.status is None:
            self.process.kill()
        return self._wait()

    def _wait(self):
        if self.status is None:
            try:
                self.status = self.process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                self.status = "did not stop within 120 s"
            self.process.stdout.close()
        return self.status
