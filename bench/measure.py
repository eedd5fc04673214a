"""The processor time and memory of a server's whole process tree, from kernel statistics."""

import os
import time

# The maximum time for work that a server does after its last response, such as delayed removals or writes. This work is counted
# as well.
SETTLE_SECONDS = 0.5
SETTLE_STEP_SECONDS = 0.01
IDLE_SHARE = 0.02


def process_tree(root):
    """Returns the process and all its descendants."""
    tree, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        tree.append(process)
        try:
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/children") as file:
                    waiting += [int(child) for child in file.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return tree


def cpu_seconds(root):
    """Returns the user and system time so far in seconds, with nanosecond precision, including threads that have ended."""
    return sum(process_seconds(process) for process in process_tree(root))


def process_seconds(process):
    # CPUCLOCK_SCHED of a process, as computed by clock_getcpuclockid(3).
    try:
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


def settled_cpu_seconds(root):
    """Returns `cpu_seconds` as soon as the server is idle, but after SETTLE_SECONDS at the latest."""
    cpu, deadline = cpu_seconds(root), time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        time.sleep(SETTLE_STEP_SECONDS)
        before, cpu = cpu, cpu_seconds(root)
        if cpu - before < IDLE_SHARE * SETTLE_STEP_SECONDS:
            break
    return cpu


def forget_peak_memory(root):
    for process in process_tree(root):
        with open(f"/proc/{process}/clear_refs", "w") as file:
            file.write("5")


def status_bytes(root, key):
    """Returns a value of /proc/PID/status in bytes, summed over the tree: `VmRSS`, `VmHWM` (the peak) or `RssAnon`."""
    total = 0
    for process in process_tree(root):
        with open(f"/proc/{process}/status") as file:
            total += next((int(line.split()[1]) for line in file if line.startswith(key + ":")), 0) * 1024
    return total


def proportional_bytes(root):
    """Returns the resident memory in bytes; each of n processes that share a page is charged 1/n of it."""
    total = 0
    for process in process_tree(root):
        with open(f"/proc/{process}/smaps_rollup") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
    return total
