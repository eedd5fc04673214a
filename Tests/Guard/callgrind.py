"""Runs davit under valgrind's callgrind and counts its instructions, by function."""

import os
import re
import shutil
import socket
import subprocess

from client import Client
from server import Server, build, prepared_folders, serve_command

# --fair-sched: threads run in the order in which they become ready, so that races mostly have the same winner.
# --instr-atstart: counting begins with the command "i", because it slows the program down.
CALLGRIND = ["valgrind", "-q", "--tool=callgrind", "--fair-sched=yes", "--instr-atstart=no", "--vgdb=no",
             "--read-inline-info=no", "--dump-line=no"]
SWIFT = os.environ.get("SWIFT", "swift")


def build_control(folder):
    """Returns the library that controls callgrind, for LD_PRELOAD."""
    return build(os.path.join(folder, "instructions.so"), "instructions.c", "-shared", "-fPIC")


class CallgrindServer(Server):
    """Runs davit under callgrind, which also makes addresses reproducible, and without random hash seeds."""

    # Under callgrind, each request takes a few milliseconds. A busy loop would take processor time from other servers.
    pause_seconds = 0.0002

    def __init__(self, preload, binary, root, work, options=(), program=None):
        self.output = os.path.join(work, "profile")
        self.dumps = 0
        self.control, theirs = socket.socketpair()
        prefix = [*CALLGRIND, f"--callgrind-out-file={self.output}",
                  f"--log-file={os.path.join(work, 'valgrind.log')}"]
        command = serve_command(binary, root, os.path.join(work, "state"), options, program, prefix)
        environment = {"LD_PRELOAD": preload, "SWIFT_DETERMINISTIC_HASHING": "1",
                       "DAVIT_GUARD_CONTROL": str(theirs.fileno())}
        with theirs:
            super().__init__(command, environment, pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL)

    def instrument(self):
        """Begins to count instructions."""
        self._command(b"i")

    def dump(self):
        """Returns the instructions since the last dump, by function."""
        self._command(b"d")
        self.dumps += 1
        return read_profile(f"{self.output}.{self.dumps}")

    def _command(self, command):
        self.control.sendall(command)
        if self.control.recv(1) != command:
            raise RuntimeError("davit exited")
        self.settle()

    def kill(self):
        """Kills the server, so that callgrind writes no profile at its exit."""
        self.control.close()
        super().kill()


def read_profile(path):
    """Returns the instructions that each function executed itself, from a file in the format of callgrind."""
    names, objects, costs = {}, {}, {}
    function = program = called = None
    is_call = False
    with open(path) as file:
        for line in file:
            if found := re.fullmatch(r"(c?)(fn|ob)=\((\d+)\)(?: (.*))?\n", line):
                is_callee, kind, key, name = found.groups()
                # At its first use, a name is written after its number; later, only the number is written.
                if kind == "ob":
                    objects[key] = name or objects[key]
                    program, called = (program, key) if is_callee else (key, key)
                    continue
                if name:
                    names[key] = function_name(name, objects[called if is_callee else program])
                if not is_callee:
                    function = key
                called = program
            elif line.startswith("calls="):
                is_call = True
            elif line[0] in "0123456789+-*":
                # The line after a call has the cost of the callee.
                if not is_call:
                    name = names[function]
                    costs[name] = costs.get(name, 0) + int(line.split()[1])
                is_call = False
    return costs


def function_name(name, path):
    """Returns a name without the depth of a recursion. A library without symbols is one function."""
    return os.path.basename(path) if name.startswith("0x") else re.sub(r"'\d+$", "", name)


def measure(case, preload, binary, place):
    """Returns the instructions of one request, by function."""
    with prepared_folders(place, binary, [case]) as (root, work):
        server = CallgrindServer(preload, binary, root, work, case.options, case.program)
        try:
            client = Client(server.port, server.settle, case.is_secure)
            case.begin(client)
            server.instrument()
            for turn in range(case.warm):
                case.ask(client, turn)
            server.dump()
            for turn in range(case.warm, case.turns):
                case.ask(client, turn)
            costs = server.dump()
            client.close()
        finally:
            server.kill()
    return {name: cost / case.count for name, cost in costs.items()}


def demangle(names):
    """Returns the readable names of functions, by their names in the program. Specializations may have the same one."""
    program = os.path.join(os.path.dirname(shutil.which(SWIFT) or ""), "swift-demangle")
    run = subprocess.run([program, "--compact", "--simplified"], input="".join(f"{name}\n" for name in names),
                         check=True, capture_output=True, text=True)
    return dict(zip(names, run.stdout.splitlines(), strict=True))
