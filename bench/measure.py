"""What a server costs: processor time and memory of its whole process tree, from /proc."""

import os

TICKS = os.sysconf("SC_CLK_TCK")


def process_tree(root):
    """The process and all below it."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(name))
    tree, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        tree.append(process)
        waiting += children.get(process, [])
    return tree


def cpu_seconds(root):
    """User and system time so far.

    The scheduler's own account where the kernel keeps it, which has nanoseconds; else the ticks of /proc/PID/stat.
    """
    total = 0.0
    for process in process_tree(root):
        exact = scheduler_seconds(process)
        total += exact if exact is not None else tick_seconds(process)
    return total


def scheduler_seconds(process):
    """Sum over the threads that live; the servers here keep theirs. None without schedstat."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None
    return total / 1e9 if total else None


def tick_seconds(process):
    with open(f"/proc/{process}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def forget_peak_memory(root):
    for process in process_tree(root):
        with open(f"/proc/{process}/clear_refs", "w") as file:
            file.write("5")


def peak_memory(root):
    """The largest resident size since the last `forget_peak_memory`, in bytes, summed over the tree."""
    total = 0
    for process in process_tree(root):
        with open(f"/proc/{process}/status") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) * 1024
    return total
