"""Computes figures, ratios and tables from the results of the turns."""

import math
import statistics

MIB = 1 << 20
#: The heading and factor of each column, by key. Processor time and wall time are scaled by the factor of the row.
COLUMNS = {"p99": ("p99 ms", 1e3), "first_byte": ("first byte ms", 1e3), "over_idle": ("over idle MiB", 1 / MIB),
           "peak": ("peak MiB", 1 / MIB), "rate": ("per second", 1), "resident": ("resident MiB", 1 / MIB),
           "proportional": ("shared pages divided MiB", 1 / MIB), "anonymous": ("anonymous MiB", 1 / MIB),
           "database_cpu": ("PostgreSQL CPU µs", 1e6), "passed": ("tests passed", 1), "failed": ("tests failed", 1)}


def summarize(row, contest):
    """Returns the result of one row: for each server its turns and their medians (maxima for `peak` and `over_idle`),
    and the best peers."""
    servers = {}
    kinds = {kind.name: kind for kind in row.contenders}
    for name in (kind.name for kind in row.contenders if kind.name in contest.turns):
        turns = contest.turns[name]
        keys = turns[0].keys()
        figures = {key: statistics.median(turn[key] for turn in turns) for key in keys}
        figures["peak"] = max(turn["peak"] for turn in turns)
        figures["over_idle"] = max(turn["over_idle"] for turn in turns)
        kind = kinds[name]
        servers[name] = {**figures, "turns": turns, "is_peer": kind.is_peer(), "is_equal": is_equal(row, kind)}
    result = {"row": row.name, "title": row.title, "unit": row.unit, "scale": row.scale, "kind": row.kind,
              "figures": list(row.figures), "measure": row.measure, "is_only_memory": row.is_only_memory,
              "floor": row.floor, "notes": dict(row.notes), "failures": dict(contest.failures),
              "servers": servers}
    result["best"] = best(servers, row.measure, lambda server: server["is_peer"])
    result["best_equal"] = best(servers, row.measure, lambda server: server["is_peer"] and server["is_equal"])
    return result


def is_equal(row, kind):
    """Returns whether a peer gives the same guarantees as davit: no stale data, and locks and properties that survive
    the process."""
    durable = {"lock": kind.lock_durability, "property": kind.property_durability}.get(row.kind, True)
    stale = row.kind == "read" and kind.is_stale
    return bool(durable) and not stale and kind.name not in row.unequal


def best(servers, measure, condition):
    names = [name for name, server in servers.items() if condition(server)]
    return min(names, key=lambda name: servers[name][measure], default=None)


def ratio(result, name, other, key=None):
    """Returns the figure of `name` relative to that of `other`: the median of the ratios of all rounds, because the speed of
    the machine changes between rounds.

    Uses the row's own measure unless another is given; None if one of the two has no figures.
    """
    values = ratios(result, name, other, key)
    return statistics.median(values) if values else None


def ratios(result, name, other, key=None):
    """Returns the ratio of each round; empty if one of the two has no figures."""
    key = key or result["measure"]
    servers = result["servers"]
    if name not in servers or other not in servers:
        return []
    pairs = zip(servers[name]["turns"], servers[other]["turns"])
    return [mine[key] / theirs[key] for mine, theirs in pairs if key in mine and theirs.get(key)]


def exponent(points):
    """Returns the slope of a regression line through the logarithms: 1 is linear, 0 is constant."""
    points = [(math.log(size), math.log(value)) for size, value in points]
    middle = [statistics.mean(axis) for axis in zip(*points)]
    above = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return above / sum((x - middle[0]) ** 2 for x, _ in points)


GROWTH = {
    "PROPFIND Depth 1 over members": {"propfind-100": 100, "propfind-1k": 1000, "propfind-10k": 10_000,
                                      "propfind-100k": 100_000},
    "LOCK + UNLOCK over other locks": {"lock-100": 100, "lock-1000": 1000, "lock-10000": 10_000},
}


def growth(results):
    """Returns the exponents of processor time by title and server, for titles of which all sizes were run."""
    by_name = {result["row"]: result for result in results}
    found = {}
    for title, rows in GROWTH.items():
        if not all(row in by_name for row in rows):
            continue
        names = set.intersection(*(set(by_name[row]["servers"]) for row in rows))
        order = [name for name in by_name[next(iter(rows))]["servers"] if name in names]
        found[title] = {name: exponent([(size, by_name[row]["servers"][name]["cpu"]) for row, size in rows.items()])
                        for name in order}
    return found


def number(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) >= 0.001 or value == 0 else f"{value:.1e}"


def own(result, server):
    """Returns a server's figure for the row's measure, in the row's unit."""
    scale = COLUMNS[result["measure"]][1] if result["is_only_memory"] else result["scale"]
    return server[result["measure"]] * scale


def cells(result):
    """Returns the head and lines of a row's table, as texts."""
    extra, times = list(result["figures"]), []
    if not result["is_only_memory"]:
        times = ["cpu", "wall"]
        extra += ["rate", "peak"]
    head = ["", "× best peer", *(["× floor"] if times else []),
            *(f"{'CPU' if key == 'cpu' else key} {result['unit']}" for key in times), *(COLUMNS[key][0] for key in extra)]
    lines = []
    for name, server in result["servers"].items():
        marks = "" if server["is_equal"] or not server["is_peer"] else " *"
        lines.append([name + marks, number(ratio(result, name, result["best"])),
                      *([number(ratio(result, name, result["floor"]))] if times else []),
                      *(number(server[key] * result["scale"]) for key in times),
                      *(number(server[key] * COLUMNS[key][1]) if key in server else "–" for key in extra)])
    return head, lines


def text_table(head, lines):
    widths = [max(len(line[index]) for line in [head, *lines]) for index in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) if index == 0 else cell.rjust(width)
                               for index, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in [head, *lines])


def remarks(result):
    """Returns the notes below a row's table."""
    lines = [f"{name} {text}" for name, text in result["notes"].items()]
    lines += [f"{name} failed: {text}" for name, text in result["failures"].items()]
    return lines


def row_text(result):
    lines = [f"{result['row']}: {result['title']}", text_table(*cells(result)), *remarks(result)]
    return "\n".join(lines) + "\n"


SUMMARY_HEAD = ["row", "davit", "unit", "best peer", "ratio", "best equal peer", "ratio", "× floor", "wall ratio"]


def summary_lines(results):
    lines = []
    for result in results:
        mine = result["servers"].get("davit")
        peer, equal = result["best"], result["best_equal"]
        lines.append([result["row"], number(mine and own(result, mine)), result["unit"], peer or "–",
                      number(ratio(result, "davit", peer)), equal or "–", number(ratio(result, "davit", equal)),
                      number(ratio(result, "davit", result["floor"])), number(None if result["is_only_memory"] else ratio(result, "davit", peer, "wall"))])
    return lines


def summary_text(results):
    return text_table(SUMMARY_HEAD, summary_lines(results)) + "\n"
