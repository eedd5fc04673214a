"""docs/performance.md, from the figures of a run."""

import json
import os
import re

import report
import targets
from earlier import Earlier
from rows import ROWS

HERE = os.path.dirname(os.path.abspath(__file__))
REASONS = os.path.join(HERE, "reasons.json")
# What `make micro` found last.
MICRO = os.path.join(HERE, "..", "bench-results", "micro.json")
# What the scripts of `make bench-page` found last.
RESULTS = os.path.join(HERE, "..", "bench-results")


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
             growth_part(run["growth"], earlier), micro_part() or earlier.part("Small parts"), last("browser-page", browser_part) or earlier.part(BROWSER_TITLE),
             last("browser-upload", browser_upload_part) or earlier.part(UPLOAD_TITLE),
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
    again = earlier.again + (run.get("again") or [result["row"] for result in run["rows"] if earlier.rows])
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


BROWSER_TITLE = "The browser page"
BROWSER_COLUMNS = {"paint": "first paint", "rows": "first rows", "whole": "all", "end": "End key", "task": "longest task",
                   "filter_task": "longest task, filtering", "renderer_cpu": "renderer CPU", "browser_cpu": "browser CPU",
                   "server_cpu": "server CPU"}
# Row → column → limit in ms.
BROWSER_LIMITS = {"20 entries": {"paint": 200}, "10000 entries": {"whole": 1000}, "100000 entries": {"whole": 4000},
                  "2000 uploads": {"task": 200}}


def browser_part(run):
    """What bench/browser-page.py keeps as JSON, as a part of the document."""
    lines, verdicts = [], []
    for name, figures in run["rows"].items():
        lines.append([name, *(f"{figures[key]:.0f}" if key in figures else "–" for key in BROWSER_COLUMNS)])
        for key, limit in BROWSER_LIMITS.get(name, {}).items():
            verdicts.append(f"- {name}, {BROWSER_COLUMNS[key]} ≤ {limit} ms: " + ("met" if figures[key] <= limit else "**missed**"))
    return (f"## {BROWSER_TITLE}\n\nFrom `make bench-page`: headless Chromium {run['chromium']} on this machine, nothing stored, "
            f"over loopback; medians of {run['rounds']} visits, in ms from the navigation on.\n\n"
            + table(["", *BROWSER_COLUMNS.values()], lines) + "\n\n" + "\n".join(verdicts))


UPLOAD_TITLE = "Uploads of the browser page"
UPLOAD_REMARK = """What is verified is read once more in the browser, for the SHA-256 of its part, by the browser, and the Adler-32 of the whole, by the
page, while the parts before are on their way; the server makes the same two. The page's own SHA-256, which pages of plain HTTP use for
the parts, is several times slower than that of the browser."""
UPLOAD_LIMITS = {"page": 0.8, "page, verified": 0.5}


def browser_upload_part(run):
    """The same for bench/browser-upload.py."""
    lines, verdicts = [], []
    for name, share in run["shares"].items():
        lines.append([name, f"{share:.2f}", f"{min(run['turns'][name]):.2f} – {max(run['turns'][name]):.2f}"])
        if name in UPLOAD_LIMITS:
            verdicts.append(f"- {name} ≥ {UPLOAD_LIMITS[name]} of the bare fetch: " + ("met" if share >= UPLOAD_LIMITS[name] else "**missed**"))
    return (f"## {UPLOAD_TITLE}\n\nFrom `make bench-page`: {run['mebibytes']} MiB in headless Chromium {run['chromium']} and with curl, in "
            f"turns, content in memory; the rate as a share of a bare `fetch` with PUT of the same browser, median of {run['rounds']} turns "
            "and the turns' range. Verified: with a digest of each part and of the whole.\n\n"
            + table(["", "share", "turns"], lines) + "\n\n" + "\n".join(verdicts) + "\n\n" + UPLOAD_REMARK)


def last(name, part):
    """What a script has kept as JSON in its last run, as its part of the document; "" without one."""
    path = os.path.join(RESULTS, f"{name}.json")
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return part(json.load(file))


def keep(run, name, part, markdown):
    """Keeps a run as JSON for later documents, prints its part, and puts that into `markdown`, if there is one."""
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, f"{name}.json"), "w") as file:
        file.write(json.dumps(run, indent=1) + "\n")
    print(part(run))
    if markdown:
        put(markdown, part(run))


def put(path, part):
    """Puts a part into a document, in place of the one with its title; else in front of the rows."""
    title = part.partition("\n")[0].removeprefix("## ")
    with open(path) as file:
        parts = re.split(r"^(?=## )", file.read(), flags=re.MULTILINE)
    at = next((index for index, one in enumerate(parts) if one.partition("\n")[0] == f"## {title}"), None)
    if at is None:
        at = next((index for index, one in enumerate(parts) if one.startswith("## Rows\n")), len(parts))
        parts.insert(at, "")
    parts[at] = part + "\n\n"
    with open(path, "w") as file:
        file.write("".join(parts).rstrip("\n") + "\n")


def row_part(result):
    text = f"### {result['title']}\n\n`{result['row']}`\n\n" + table(*report.cells(result))
    remarks = report.remarks(result)
    return text + ("\n\n" + "\n".join(f"- {remark}" for remark in remarks) if remarks else "")
