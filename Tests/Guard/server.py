"""Runs davit, and counts its allocations and system calls."""

import contextlib
import mmap
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_SECONDS = 120
CALL_NUMBERS = 1024
COMPILER = os.environ.get("CC", "cc")


def build(name, source, *flags):
    """Compiles a C file in this folder."""
    subprocess.run([COMPILER, "-O2", "-Wall", "-Wextra", "-Werror", *flags, "-o", name, os.path.join(HERE, source)],
                   check=True)
    return name


def build_preload(folder):
    """Returns the library that counts allocations, for LD_PRELOAD."""
    return build(os.path.join(folder, "allocations.so"), "allocations.c", "-shared", "-fPIC")


class Tools:
    """The compiled C library and C program, and the names of the system calls by their numbers on this machine."""

    def __init__(self, folder):
        self.preload = build_preload(folder)
        self.tracer = build(os.path.join(folder, "calls"), "calls.c")
        list_numbers = [COMPILER, "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", os.devnull]
        macros = subprocess.run(list_numbers, check=True, capture_output=True, text=True).stdout
        self.names = {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)\n", macros)}
        # The headers of Debian 12 lack this name.
        self.names.setdefault(465, "listxattrat")
        probe = subprocess.run([self.tracer, "--probe"], capture_output=True, text=True)
        self.can_trace = probe.returncode == 0
        self.refusal = probe.stderr.strip()


class Counts:
    """A file of 8-byte counters, mapped by this script and by the library or program that counts."""

    def __init__(self, path, count):
        self.path = path
        self.format = struct.Struct(f"={count}Q")
        with open(path, "wb+") as file:
            file.truncate(self.format.size)
            self.memory = mmap.mmap(file.fileno(), self.format.size)

    def read(self):
        return self.format.unpack(self.memory)


@contextlib.contextmanager
def prepared_folders(place, binary, cases):
    """Creates a shared folder that is prepared for the cases, and a folder for everything else, and deletes both at the end."""
    root, work = os.path.join(place, "root"), os.path.join(place, "work")
    os.makedirs(root)
    os.makedirs(work)
    try:
        for case in cases:
            case.prepare(root)
            case.set_up(binary, root, os.path.join(work, "state"))
        yield root, work
    finally:
        shutil.rmtree(place)


def serve_command(binary, root, state, options=(), program=None, prefix=()):
    """Returns the command of `davit serve`, or of a program that takes a folder and a state folder and prints its URL."""
    if program:
        return ["stdbuf", "-oL", *prefix, os.path.join(os.path.dirname(binary), program), root, state]
    return [*prefix, binary, "serve", root, "--host", "127.0.0.1", "--port", "0", "--state-dir", state,
            "--log-level", "error", *options]


class Server:
    """Runs a command that prints a URL when it is ready."""

    # The pause between two checks of a server that is not idle yet.
    pause_seconds = 0

    def __init__(self, command, environment, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        env=dict(os.environ, **environment), **options)
        try:
            self.port = self._read_port()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self):
        return self.process.pid

    def _read_port(self):
        text = b""
        descriptor = self.process.stdout.fileno()
        while select.select([descriptor], [], [], PATIENCE_SECONDS)[0]:
            data = os.read(descriptor, 4096)
            text += data
            found = re.search(rb"https?://(?:127\.0\.0\.1|localhost):(\d+)/", text)
            if found:
                return int(found.group(1))
            if not data:
                break
        raise RuntimeError("the server did not become ready")

    def settle(self):
        """Waits until all threads are idle, so that the last request causes no more work.

        Two consecutive samples must find all threads asleep, and none may have run in between. At the end of the first
        sample all of them were then asleep at the same time, and none can wake another.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        before = None
        while True:
            now = self._sleepers()
            if now is not None and now == before:
                return
            if now is None and self.pause_seconds:
                time.sleep(self.pause_seconds)
            before = now
            if time.monotonic() > deadline:
                raise RuntimeError("the server did not become idle")

    def _sleepers(self):
        """Returns the numbers of context switches of each thread; None if a thread is not asleep."""
        tasks = f"/proc/{self.pid}/task"
        sleepers = {}
        try:
            for thread in os.listdir(tasks):
                with open(f"{tasks}/{thread}/status") as file:
                    status = file.read()
                if "\nState:\tS" not in status:
                    return None
                sleepers[thread] = re.findall(r"ctxt_switches:\t(\d+)", status)
        except (FileNotFoundError, ProcessLookupError):
            return None
        return sleepers

    def stop(self):
        """Sends SIGTERM and returns davit's exit status."""
        if self.pid and self.process.poll() is None:
            os.kill(self.pid, signal.SIGTERM)
        try:
            status = self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class CountingServer(Server):
    """Counts allocations and, if tracing is allowed, system calls."""

    def __init__(self, tools, binary, root, work, options=(), program=None):
        self.heap = Counts(os.path.join(work, "allocations"), 2)
        self.calls = Counts(os.path.join(work, "calls"), CALL_NUMBERS) if tools.can_trace else None
        command = serve_command(binary, root, os.path.join(work, "state"), options, program)
        environment = {"DAVIT_GUARD_ALLOCATIONS": self.heap.path}
        if tools.can_trace:
            command = [tools.tracer, self.calls.path, tools.preload, *command]
        else:
            environment["LD_PRELOAD"] = tools.preload
        super().__init__(command, environment)

    @property
    def pid(self):
        return self.calls.read()[0] if self.calls else self.process.pid

    def read(self):
        """Returns the allocations and bytes so far, and system calls by number."""
        allocations, size = self.heap.read()
        return allocations, size, self.calls.read()[1:] if self.calls else None
