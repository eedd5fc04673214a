"""docs/performance.md, from the figures of a run."""

import json
import os

import report
import targets

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


def render(run):
    """The document; `run` is what bench.py keeps as JSON."""
    results = run["rows"]
    parts = [INTRODUCTION, machine_part(run), servers_part(run["servers"]), targets_part(results),
             "## Summary\n\nRatios are davit's to the peer's: below 1 davit needs less.\n\n"
             + table(report.SUMMARY_HEAD, report.summary_lines(results)),
             growth_part(run["growth"]), micro_part(), "## Rows\n\n" + "\n\n".join(row_part(result) for result in results)]
    if run["skipped"]:
        parts.append("## Not run\n\n" + "\n".join(f"- {row}: {reason}" for row, reason in run["skipped"].items()))
    return "\n\n".join(part for part in parts if part) + "\n"


INTRODUCTION = """# Performance

Written by `make bench DOC=1`; do not edit. How it is measured, and how to read it: [bench/README.md](../bench/README.md).

Processor time is user and system time of the server's whole process tree for one request, and moves by some percent from
run to run. Wall time depends on what else the machine does. The floor is a C program that does only what no server can
leave out, without any check. Peers marked `*` are not equal: they answer from what may be stale, or lose locks or properties
with their process, or do less than asked."""


def machine_part(run):
    machine = run["machine"]
    again = run.get("again")
    later = f" These rows were run again later: {', '.join(again)}." if again else ""
    return (f"""## The run

{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB, {machine['kernel']}, {machine['distribution']};
content on {machine['memory_volume']}, state on {machine['disk_volume']}; everything over loopback with segments of 1,460 bytes.
{run['rounds']} rounds besides one that warms up; turns of {run['seconds']:g} s where work can be cut anywhere. Medians;
ratios are made within a round.{later}""")


def servers_part(servers):
    lines = []
    for name, server in servers.items():
        reads = "may be stale" if server["is_stale"] else "as they are"
        lines.append([name, server["version"], server["settings"],
                      *([reads, server["locks"] or "in memory", server["properties"] or "none"]
                        if server["is_peer"] or name.startswith("davit") else ["–"] * 3)])
    return "## The servers\n\n" + words_table(
        ["server", "version", "settings", "reads", "locks survive", "properties survive"], lines)


def targets_part(results):
    with open(REASONS) as file:
        reasons = json.load(file)
    lines, missed = [], []
    for target, value, is_met in targets.check(results):
        verdict = "not run" if is_met is None else "met" if is_met else "**missed**"
        # That no row is far behind is said row by row only where it is not so.
        if target.peer == "best equal peer" and is_met is not False:
            continue
        # A digit more than elsewhere: how near to its limit a figure is shows here.
        measured = report.number(value) if value is None else f"{value:.4g}"
        lines.append([target.row, target.wording(), measured, verdict])
        if is_met is False:
            reason = reasons.get(target.key) or reasons.get(target.row) or "no reason was found yet"
            missed.append(f"- {target.row}, {target.wording()}: {reason}")
    equal = [is_met for target, _, is_met in targets.check(results) if target.peer == "best equal peer"]
    text = "## Targets\n\n" + words_table(["row", "target", "measured", ""], lines)
    text += (f"\n\n{equal.count(True)} of {len(equal)} rows with an equal peer are within {targets.EQUAL_LIMIT} × the best of"
             " them; the others stand in the table.")
    if missed:
        text += "\n\nWhy some are missed:\n\n" + "\n".join(missed)
    return text


def growth_part(growth):
    if not growth:
        return ""
    lines = [[title, ", ".join(f"{name} {value:.2f}" for name, value in exponents.items())]
             for title, exponents in growth.items()]
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
