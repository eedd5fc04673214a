"""What the scripts of the guard have in common: their options, their baselines, and how they print their results."""

import argparse
import json
import os
import platform
import sys

from server import HERE


def option_parser(description, details=""):
    """Returns a parser of the options that all scripts of the guard have.

    `details` continues the help of --verbose."""
    build_folder = os.path.normpath(os.path.join(HERE, "..", "..", ".build"))
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT", f"{build_folder}/release/davit"))
    parser.add_argument("--only", default="", help="only cases whose name contains this text")
    parser.add_argument("--accept", action="store_true", help="save the results as the baseline")
    parser.add_argument("--verbose", action="store_true", help=f"print all results{details}")
    return parser


def run_script(name, run):
    """Calls `run`, which returns the number of passed and failed cases, prints both for scripts/test.sh, and exits."""
    if platform.system() != "Linux" or not os.access("/dev/shm", os.W_OK):
        print(f"SKIPPED: {name}: requires Linux and a writable /dev/shm")
        passed, failed = 0, 0
    else:
        passed, failed = run()
    print(f"{name}: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


class Baseline:
    """The accepted results by the names of the cases, and the versions on which they depend.

    `machine` contains the versions on this machine, and `recorded` those in the file. Without a file, nothing is accepted."""

    # The name of the versions in the file; None if the file contains them next to the results.
    key = "machine"

    def __init__(self, path, machine):
        self.path, self.machine = path, machine
        self.recorded, self.requests = machine, {}
        if os.path.exists(path):
            with open(path) as file:
                content = json.load(file)
            self.requests = content.pop("requests")
            self.recorded = content[self.key] if self.key else content

    def differs(self, *versions):
        """Returns whether one of these versions is not the one of the baseline."""
        return any(self.recorded[version] != self.machine[version] for version in versions)

    @property
    def is_comparable(self):
        return not self.differs("architecture")

    def store(self, results, is_complete):
        """Replaces the results of the measured cases. If all cases were measured, this removes the results of former cases."""
        merged = ({} if is_complete else self.requests) | results
        self.recorded, self.requests = self.machine, dict(sorted(merged.items()))
        versions = {self.key: self.machine} if self.key else self.machine
        with open(self.path, "w") as file:
            json.dump({**versions, "requests": self.requests}, file, indent=1)
            file.write("\n")


def print_advice(failed, improved):
    """Prints what to do about these numbers of cases that failed and that improved."""
    if failed:
        print("If this is intended, run 'make guard-accept' to update the baseline, and explain it in the commit.")
    elif improved:
        print("Run 'make guard-accept' to update the baseline.")
