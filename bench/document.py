"""docs/performance.md, from the figures of a run."""

import json
import os

import report
import targets
from earlier import Earlier
from rows import ROWS

HERE = os.path.dirname(os.path.abspath(__file__))
REASONS = os.path.join(HERE, "reasons.json")
# What `make micro` found last.
MICRO = os.path.join(HERE, "..", "bench-results", "micro.json")


def table(head, lines):
    rows = [head, [":--", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def words_table(head, lines):
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def render(run, earlier=None):
    """The document; `run` is what bench.py keeps as JSON.

    With an earlier document the rows that the run does not have stand as they do there.
    """
    results = run["rows"]
    earlier = (earlier or Earlier()).without({result["row"] for result in results})
    summary = {**earlier.summary, **{line[0]: line for line in report.summary_lines(results)}}
    rows = {**earlier.rows, **{result["row"]: row_part(result) for result in results}}
    parts = [INTRODUCTION, machine_part(run, earlier), servers_part(run["servers"], earlier), targets_part(results, earlier),
             "## Summary\n\nRatios are davit's to the peer's: below 1 davit needs less.\n\n"
             + table(report.SUMMARY_HEAD, in_order(summary)),
             growth_part(run["growth"], earlier), micro_part() or earlier.part("Small parts"),
             "## Rows\n\n" + "\n\n".join(in_order(rows))]
    if run["skipped"]:
        parts.append("## Not run\n\n" + "\n".join(f"- {row}: {reason}" for row, reason in run["skipped"].items()))
    return "\n\n".join(part for part in parts if part) + "\n"


def in_order(by_row):
    """In the order in which rows are run."""
    return [by_row[row.name] for row in ROWS if row.name in by_row]


INTRODUCTION = """# Performance

Written by `make bench DOC=1`; do not edit. How it is measured, and how to read it: [bench/README.md](../bench/README.md).

Processor time is user and system time of the server's whole process tree for one request, and moves by some percent from
run to run. Wall time depends on what else the machine does. The floor is a C program that does only what no server can
leave out, without any check. Peers marked `*` are not equal: they answer from what may be stale, or lose locks or properties
with their process, or do less than asked."""


def machine_part(run, earlier):
    machine = run["machine"]
    again = run.get("again") or [result["row"] for result in run["rows"] if earlier.rows]
    later = f" These rows were run later than the others: {', '.join(again)}." if again else ""
    load = f" When the last run began, the load of the machine was {machine['load']:.0f}." if "load" in machine else ""
    return (f"""## The run

{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB, {machine['kernel']}, {machine['distribution']};
content on {machine['memory_volume']}, state on {machine['disk_volume']}; everything over loopback with segments of 1,460 bytes.
{run['rounds']} rounds besides one that warms up; turns of {run['seconds']:g} s where work can be cut anywhere. Medians;
ratios are made within a round.{later}{load}""")


def servers_part(servers, earlier):
    lines = dict(earlier.servers)
    for name, server in servers.items():
        reads = "may be stale" if server["is_stale"] else "as they are"
        lines[name] = [name, server["version"], server["settings"],
                      *([reads, server["locks"] or "in memory", server["properties"] or "none"]
                        if server["is_peer"] or name.startswith("davit") else ["–"] * 3)]
    return "## The servers\n\n" + words_table(
        ["server", "version", "settings", "reads", "locks survive", "properties survive"], lines.values())


def targets_part(results, earlier):
    with open(REASONS) as file:
        reasons = json.load(file)
    lines, missed = [], []

    def add(row, wording, keys, measured, verdict):
        lines.append([row, wording, measured, verdict])
        if verdict == "**missed**":
            reason = next((reasons[key] for key in keys if key in reasons), "no reason was found yet")
            missed.append(f"- {row}, {wording}: {reason}")

    for target, value, is_met in targets.check(results):
        verdict = "not run" if is_met is None else "met" if is_met else "**missed**"
        # That no row is far behind is said row by row only where it is not so.
        if target.peer == "best equal peer" and is_met is not False:
            continue
        # A digit more than elsewhere: how near to its limit a figure is shows here.
        measured = report.number(value) if value is None else f"{value:.4g}"
        was = earlier.targets.pop((target.row, target.wording()), None) if value is None else None
        measured, verdict = was[2:] if was else (measured, verdict)
        add(target.row, target.wording(), [target.key, target.row], measured, verdict)
    behind = [values for values in earlier.targets.values() if values[1].endswith("best equal peer")]
    for values in behind:
        add(values[0], values[1], [f"{values[0]} {measure} best equal peer" for measure in targets.MEASURES
                                   if values[1].startswith(targets.MEASURES[measure] + " ≤")], *values[2:])
    equal = [is_met for target, _, is_met in targets.check(results) if target.peer == "best equal peer"]
    equal += [False] * len(behind) + [True] * (len(earlier.has_equal_peer()) - len(behind))
    text = "## Targets\n\n" + words_table(["row", "target", "measured", ""], lines)
    text += (f"\n\n{equal.count(True)} of {len(equal)} rows with an equal peer are within {targets.EQUAL_LIMIT} × the best of"
             " them; the others stand in the table.")
    if missed:
        text += "\n\nWhy some are missed:\n\n" + "\n".join(missed)
    return text


def growth_part(growth, earlier):
    found = {**earlier.growth, **{title: [title, ", ".join(f"{name} {value:.2f}" for name, value in exponents.items())]
                                  for title, exponents in growth.items()}}
    if not found:
        return ""
    lines = list(found.values())
    return ("## Growth\n\nExponents of processor time: 1 is linear, 0 does not depend on the number.\n\n"
            + words_table(["work", "exponents"], lines))


def micro_part():
    if not os.path.exists(MICRO):
        return ""
    with open(MICRO) as file:
        found = json.load(file)
    lines = [[name, f"{part['nanoseconds']:.0f}", report.number(part["allocations"]), limit_verdict(name, part)]
             for name, part in found.items()]
    return ("## Small parts\n\nFrom `make micro`: one thread, the quickest of many turns.\n\n"
            + words_table(["part", "ns", "allocations", "target"], lines))


def limit_verdict(name, part):
    limit = targets.micro_limit(name)
    if limit is None:
        return ""
    return f"≤ {limit} ns: " + ("met" if part["nanoseconds"] <= limit else "**missed**")


def row_part(result):
    text = f"### {result['title']}\n\n`{result['row']}`\n\n" + table(*report.cells(result))
    remarks = report.remarks(result)
    return text + ("\n\n" + "\n".join(f"- {remark}" for remark in remarks) if remarks else "")
