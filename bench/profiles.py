"""Shows where the processor time of missed rows goes: runs them once more under `perf`, for davit and the best equal peer."""

import copy
import os
from collections import Counter

import categories
import perf
import report
import targets
from contest import PROBLEMS, Contest, Turn
from tables import table

TITLE = "Where the time of missed rows goes"
# The share of the time of a server from which a system call for files has a line of its own.
LISTED_SHARE = 0.03
OTHER_CALLS = f"{categories.FILES}, other calls"
REMARK = f"""From `make bench PROFILE=1`: one more turn of each row, not counted elsewhere, in which `perf` samples the stacks
of the server {perf.HERTZ:,} times per second of processor time. This makes the turn slower, so only shares and differences are
meaningful.

Time in the kernel is divided by system call, including the work of the network stack during the call; variants such as `open`
and `openat`, or `fstat` and `statx`, count as one. Calls for files that take less than {LISTED_SHARE:.0%} of the time of both
servers are added up. The rest of the kernel is the entry and exit of calls, preemption, interrupts, page faults, and calls for
threads, memory and time. The time outside the kernel is divided by the innermost function, or by its program or library."""


class ProfiledTurn(Turn):
    """A turn whose work is recorded."""

    recording = None

    def start(self):
        path = os.path.join(self.setup.disk, f"{self.server.port}.perf")
        self.recording = perf.Recording(path, self.server.process.pid)
        super().start()

    def end(self):
        super().end()
        self.recording.stop()


class ProfiledContest(Contest):
    """One recorded round of some contenders of a row, after a round for warming up."""

    def __init__(self, row, setup, names):
        setup = copy.copy(setup)
        setup.rounds = 1
        # The folders of the row still exist.
        setup.memory, setup.disk = (os.path.join(folder, "profile") for folder in (setup.memory, setup.disk))
        for folder in (setup.memory, setup.disk):
            os.makedirs(folder, exist_ok=True)
        row.contenders = [kind for kind in row.contenders if kind.name in names]
        super().__init__(row, setup)
        self.recorded = {}

    def turn(self, server, number):
        if not server.process:
            raise RuntimeError("commands cannot be profiled")
        if number == 0:
            return super().turn(server, number)
        self.recorded[server.name] = ProfiledTurn(self.setup, server, number)
        return self.recorded[server.name]

    def take(self, server, number):
        try:
            super().take(server, number)
        finally:
            turn = self.recorded.get(server.name)
            if turn and turn.recording:
                turn.recording.stop()


def run(results, kinds, setup, folder):
    """Profiles the rows that miss their target and returns the profiles by row. Writes the stacks to files in `folder`."""
    wanted = [result for result in results if result["row"] in missed(results)]
    reason = perf.unavailable() if wanted else None
    if reason:
        print(f"profiles: {reason}", flush=True)
        return {}
    rows, profiles = {kind.name: kind for kind in kinds}, {}
    for result in wanted:
        try:
            profiles[result["row"]] = profile(result, rows[result["row"]](), setup, folder)
        except PROBLEMS as problem:
            print(f"{result['row']}: not profiled: {problem}", flush=True)
    return profiles


def missed(results):
    """Returns the names of the rows in which davit needs too much processor time compared with the best equal peer."""
    return {target.row for target, _, is_met in targets.check(results)
            if target.peer == "best equal peer" and target.measure == "cpu" and is_met is False}


def profile(result, row, setup, folder):
    """Runs a row and returns for each server its processor time in seconds for a unit of work, in total and by category."""
    names, servers = ["davit", result["best_equal"]], {}
    contest = ProfiledContest(row, setup, names)
    contest.run()
    if contest.failures:
        raise RuntimeError("; ".join(f"{name} failed: {problem}" for name, problem in contest.failures.items()))
    os.makedirs(folder, exist_ok=True)
    for name in names:
        samples = contest.recorded[name].recording.samples()
        with open(os.path.join(folder, f"{result['row']}-{name.replace(' ', '-')}.folded"), "w") as file:
            file.write(perf.folded(samples))
        counts, cpu = Counter(map(categories.category, samples)), contest.turns[name][0]["cpu"]
        servers[name] = {"cpu": cpu, "samples": len(samples),
                         "categories": {key: cpu * count / len(samples) for key, count in counts.most_common()}}
    return {**{key: result[key] for key in ("row", "unit", "scale")}, "servers": servers}


def cells(profile):
    """Returns the head and lines of a profile's table, as texts."""
    times = [listed(server, profile) for server in profile["servers"].values()]
    lines = [[key, *(found[key] for found in times)] for key in in_order(set().union(*times), times)]
    lines.append(["all", *(server["cpu"] for server in profile["servers"].values())])
    return ([profile["unit"], *profile["servers"], "difference"],
            [[key, *figures(mine, theirs, profile["scale"])] for key, mine, theirs in lines])


def figures(mine, theirs, scale):
    return [report.number(value * scale) for value in (mine, theirs, mine - theirs)]


def listed(server, profile):
    """Returns the times of a server by category. Calls for files that take little of the time of both servers are added up."""
    times = Counter()
    for key, value in server["categories"].items():
        is_listed = not key.startswith(categories.FILES) or any(
            other["categories"].get(key, 0) >= LISTED_SHARE * other["cpu"] for other in profile["servers"].values())
        times[key if is_listed else OTHER_CALLS] += value
    return times


def in_order(keys, times):
    """Returns the categories: the kernel's first, and the largest calls for files before the smaller ones."""
    calls = sorted((key for key in keys if key.startswith(categories.FILES) and key != OTHER_CALLS),
                   key=lambda key: -max(found[key] for found in times))
    order = [categories.SOCKETS, *calls, OTHER_CALLS, categories.REST, *categories.USER]
    return [key for key in order if key in keys]


def sizes(profile):
    return ", ".join(f"{server['samples']:,} samples of {name}" for name, server in profile["servers"].items())


def text(profile):
    return f"{profile['row']}: where the time goes; {sizes(profile)}\n" + report.text_table(*cells(profile)) + "\n"


def part(profiles):
    """Returns the section of the document; "" without profiles."""
    if not profiles:
        return ""
    tables = [f"`{profile['row']}`; {sizes(profile)}\n\n" + table(*cells(profile)) for profile in profiles]
    return "\n\n".join([f"## {TITLE}", REMARK, *tables])
