"""Records the stacks of a process tree with Linux `perf`."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass

import measure

HERTZ = 2500
EVENT = "cpu-clock"
FEWEST_SAMPLES = 50
# The addresses of the kernel are in the upper half on all 64-bit architectures.
KERNEL_ADDRESS_BIT = 63
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


@dataclass(frozen=True)
class Frame:
    symbol: str
    #: The file name of the program or library.
    module: str
    is_kernel: bool


@dataclass(frozen=True)
class Sample:
    thread: str
    #: The innermost frame comes first.
    frames: tuple


def unavailable():
    """Returns why the kernel and other processes cannot be profiled; None if they can."""
    if not shutil.which("perf"):
        return "perf is not installed"
    with tempfile.NamedTemporaryFile() as file:
        # With `k`, perf fails if it must not observe the kernel. Without it, perf would silently omit the kernel.
        done = subprocess.run(["perf", "record", "-q", "-e", EVENT + ":k", "-o", file.name, "--", "true"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip() not in ("", "Error:")]
    return "perf cannot observe the kernel; see kernel.perf_event_paranoid" + (f" ({lines[0].strip()})" if lines else "")


class Recording:
    """A recording of a process and its descendants, which begins when all of them are attached."""

    def __init__(self, path, root):
        self.path = path
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        self.process = subprocess.Popen(
            ["perf", "record", "-q", "-g", "-F", str(HERTZ), "-e", EVENT, "-o", path, "--delay=-1",
             f"--control=fd:{commands},{answers}", "-p", ",".join(map(str, measure.process_tree(root)))],
            pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        os.close(answers)
        os.write(self.commands, b"enable\n")
        is_attached = os.read(self.answers, 16)
        os.close(commands)
        if not is_attached:
            self.stop()
            raise RuntimeError(f"perf ended: {self.problem.strip()}")

    def stop(self):
        if self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGINT)
        self.problem = self.process.communicate()[1]
        os.close(self.commands)
        os.close(self.answers)

    def samples(self):
        """Returns the recorded samples. Raises an error if they are too few for shares."""
        text = subprocess.run(["perf", "script", "--no-inline", "-F", "comm,ip,sym,dso", "-i", self.path],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", check=True).stdout
        samples = parse(text)
        if len(samples) < FEWEST_SAMPLES:
            raise RuntimeError(f"the turn is too short ({len(samples)} samples)")
        return samples


def parse(text):
    """Returns the samples that have a stack, from the output of `perf script`, where empty lines separate them."""
    samples = []
    for part in text.split("\n\n"):
        head, *lines = part.strip("\n").split("\n")
        frames = tuple(frame(*found.groups()) for found in map(FRAME.match, lines) if found)
        if frames:
            samples.append(Sample(head.strip(), frames))
    return samples


def frame(address, symbol, module):
    return Frame(symbol, os.path.basename(module), bool(int(address, 16) >> KERNEL_ADDRESS_BIT))


def folded(samples):
    """Returns the stacks in the format of flame graphs: the outermost frame first, and the number of samples."""
    stacks = Counter(";".join([sample.thread, *map(label, reversed(sample.frames))]) for sample in samples)
    return demangled("".join(f"{stack} {count}\n" for stack, count in sorted(stacks.items())))


def label(frame):
    name = f"[{frame.module}]" if frame.symbol == "[unknown]" else frame.symbol
    return name.replace(";", ",") + ("_[k]" if frame.is_kernel else "")


def demangled(text):
    """Returns the text with readable names of Swift functions, if the compiler is installed."""
    if not shutil.which("swift"):
        return text
    return subprocess.run(["swift", "demangle", "-simplified"], input=text, stdout=subprocess.PIPE, text=True,
                          check=True).stdout
