"""Describes the machine of a run, without its name."""

import os
import platform
import subprocess


def describe(setup):
    return {
        "cores": setup.cores,
        "processor": field("/proc/cpuinfo", "model name"),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": f"{platform.system()} {platform.release().split('-')[0]}",
        "distribution": field("/etc/os-release", "PRETTY_NAME", "=").strip('"'),
        "memory_volume": volume(setup.memory),
        "disk_volume": volume(setup.disk),
        # The load average of the last minute, which shows other work on the machine.
        "load": os.getloadavg()[0],
    }


def field(path, name, separator=":"):
    """Returns the value of the first line `name: value` of a file; empty if there is no such line."""
    try:
        with open(path) as file:
            return next((line.partition(separator)[2].strip() for line in file if line.startswith(name)), "")
    except FileNotFoundError:
        return ""


def volume(path):
    """Returns the name of the file system."""
    done = subprocess.run(["stat", "-f", "-c", "%T", path], stdout=subprocess.PIPE, text=True)
    return {"ext2/ext3": "ext4"}.get(done.stdout.strip(), done.stdout.strip())


def versions(setup, rows):
    """Returns the version, settings and guarantees of every server in the rows, by name."""
    found = {}
    for kind in (kind for row in rows for kind in row.contenders):
        if kind.name not in found and not kind.is_again:
            found[kind.name] = {"version": kind.version(setup), "settings": kind.settings(),
                                "locks": kind.lock_durability, "properties": kind.property_durability,
                                "is_stale": kind.is_stale, "is_peer": kind.is_peer()}
    return found
