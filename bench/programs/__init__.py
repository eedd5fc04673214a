"""The C programs of the benchmark, compiled into a temporary folder."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {
    "client": (["client.c", "script.c", "response.c"], ["-lssl", "-lcrypto"]),
    "floor": (["floor.c", "floor_methods.c", "floor_store.c"], ["-lsqlite3"]),
}


def compile_all(folder):
    """Returns the path of each program, by name."""
    paths = {}
    for name, (sources, libraries) in PROGRAMS.items():
        paths[name] = os.path.join(folder, name)
        subprocess.run(["cc", "-O2", "-o", paths[name], *(os.path.join(HERE, source) for source in sources), *libraries],
                       check=True)
    return paths
