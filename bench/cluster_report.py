"""The targets of shares in a database, and the section of the document with the figures of `make bench-cluster`."""

import statistics
import textwrap
from dataclasses import dataclass

import report
from tables import table, words_table

MIB = 1 << 20
TITLE = "Shares in a database"


@dataclass(frozen=True)
class Target:
    """`measure` of `who` in `row`, divided by that of `peer`, if any, must be at most `limit`, or at least, if `is_floor`.

    Without a limit, the figure is only shown. With `row_of`, the peer is one of another row. `scale` converts a figure that is
    not a ratio to `unit`.
    """

    row: str
    what: str
    who: str
    measure: str
    limit: float = None
    peer: str = None
    row_of: str = None
    is_floor: bool = False
    unit: str = "×"
    scale: float = 1

    def values(self, results):
        """Returns the value of each round."""
        result = results.get(self.row)
        if result is None or self.who not in result["servers"]:
            return []
        turns = result["servers"][self.who]["turns"]
        if not self.peer:
            return [turn[self.measure] * self.scale for turn in turns]
        if not self.row_of:
            return report.ratios(result, self.who, self.peer, self.measure)
        other = results.get(self.row_of, {"servers": {}})["servers"].get(self.peer)
        return [turn[self.measure] / other[self.measure] for turn in turns] if other else []

    def wording(self):
        if self.limit is None:
            return "–"
        limit = f"{self.limit:g} {self.unit}"
        return f"{'≥' if self.is_floor else '≤'} {limit}"

    def verdict(self, value):
        if self.limit is None:
            return ""
        return "met" if (value >= self.limit if self.is_floor else value <= self.limit) else "**missed**"


def gets(row):
    return [Target(row, "CPU of davit, to that of the folder share", "database", "cpu", 3, "folder"),
            Target(row, "rate, to that of the same look-ups by pgbench", "database", "rate", 0.6, "pgbench", is_floor=True)]


TARGETS = [
    *gets("get64"),
    *gets("304"),
    Target("get64-accounts", "CPU of davit, to that without accounts", "database, accounts", "cpu", peer="database"),
    Target("get64-accounts", "CPU of davit, to that of the folder share with accounts", "database, accounts", "cpu",
           peer="folder, accounts"),
    Target("get64-accounts", "rate, to that without accounts", "database, accounts", "rate", peer="database"),
    Target("propfind-1k", "time, to that of the folder share", "database", "wall", 2, "folder"),
    Target("propfind-1k", "CPU of davit, to that of the folder share", "database", "cpu", peer="folder"),
    Target("propfind-1k", "first byte", "database", "first_byte", 5, unit="ms", scale=1e3),
    Target("propfind-1k-allprop", "time, to that of the folder share", "database", "wall", peer="folder"),
    Target("propfind-1k-allprop", "CPU of davit, to that of the folder share", "database", "cpu", peer="folder"),
    Target("propfind-100k", "memory over idle", "database", "over_idle", 8, unit="MiB", scale=1 / MIB),
    Target("propfind-100k", "time, to that of the folder share", "database", "wall", peer="folder"),
    *(target for row in ("put-1k", "put-16k", "lock32") for target in (
        Target(row, "rate, to that of pgbench with 32 connections", "database", "rate", 0.7, "pgbench, 32 connections",
               is_floor=True),
        Target(row, "rate, to that of pgbench with as many connections as davit uses", "database", "rate", peer="pgbench"))),
    *(Target(row, "rate, to that of pgbench", "database", "rate", 0.7, "pgbench", is_floor=True) for row in ("lock1", "lock8")),
    Target("lock32", "rate, to that of lighttpd with one connection", "database", "rate", 10, "lighttpd", "lock1",
           is_floor=True),
    *(target for row in ("nodes-get", "nodes-put") for target in (
        Target(row, "CPU of two nodes, to that of one", "two nodes", "cpu", peer="database"),
        Target(row, "CPU of PostgreSQL with two nodes, to that with one", "two nodes", "database_cpu", peer="database"),
        Target(row, "rate of two nodes, to that of one", "two nodes", "rate", peer="database"))),
    *(Target("move", f"time of {size}, to that of PUT", f"database, MOVE of {size}", "wall", 1.3, "database, PUT")
      for size in ("1", "1,000", "100,000")),
    Target("copy", "rate, to that of the folder share", "database", "rate", 50, "folder", is_floor=True),
    Target("s3-up", "rate, to that of rclone", "S3", "rate", 0.8, "rclone", is_floor=True),
    Target("s3-down", "rate, to that of rclone", "S3", "rate", 0.8, "rclone", is_floor=True),
    Target("s3-cached", "CPU of davit, to that of the folder share", "S3", "cpu", 1.2, "folder"),
]


def target_lines(results):
    lines = []
    for target in TARGETS:
        values = target.values(results)
        if not values:
            continue
        value = statistics.median(values)
        unit = "" if target.unit == "×" else f" {target.unit}"
        lines.append([target.row, target.what, target.wording(), f"{value:.3g}{unit}",
                      f"{min(values):.3g} – {max(values):.3g}", target.verdict(value)])
    return lines


def figure_lines(results):
    lines = []
    for name, result in results.items():
        for server, figures in result["servers"].items():
            is_pgbench = figures["cpu"] == 0
            lines.append([name, server, "–" if is_pgbench else report.number(figures["cpu"] * 1e6),
                          report.number(figures["database_cpu"] * 1e6) if server != "folder" else "–",
                          report.number(figures["wall"] * 1e6), report.number(figures["rate"]),
                          spread(figures["turns"], "rate"),
                          report.number(figures["p99"] * 1e3) if "p99" in figures else "–"])
    return lines


def spread(turns, key):
    """Returns the lowest and the highest value, relative to the median."""
    values = [turn[key] for turn in turns]
    middle = statistics.median(values)
    return f"{min(values) / middle - 1:+.0%} – {max(values) / middle - 1:+.0%}"


REMARK = """From `make bench-cluster` on {date}: {machine}; the load of the machine was {load:.0f} at the start. {rounds} rounds
after a warm-up round, turns of {seconds:g} s or more; ratios are computed within a round. PostgreSQL {postgres} is on the same
machine, with its data on {disk}, and {settings}; the database also contains a share of {files:,} other files. *Folder* is a share
in a folder, served by the same program, on {memory} unless the row is on disk. *pgbench* (`-M prepared`) runs the statements that
the requests of the row run, as recorded by PostgreSQL, with parameters of the same kind and in the same round trips. It uses 16
connections, as many as a node uses for requests, or fewer if the clients are fewer, unless its name says otherwise. Client, davit
and PostgreSQL share the processors, so that rates are also limited by the client.

Nextcloud and SFTPGo are not in Debian's packages, and were not measured here. Published figures: developers of Nextcloud measured
5.1 to 5.4 s for a PUT of 1 GiB with curl on one machine with a Ryzen 5800X and an NVMe disk
([nextcloud/server#47682](https://github.com/nextcloud/server/issues/47682), 2024). SFTPGo publishes figures of SFTP, and none of WebDAV
([performance.md](https://github.com/drakkan/sftpgo/blob/main/docs/performance.md))."""


def part(run):
    """Returns the section of the document."""
    results = {result["row"]: result for result in run["rows"]}
    described, settings = run["machine"], run["settings"]
    titles = "\n".join(f"- `{name}`: {result['title']}" for name, result in results.items())
    failures = "".join(f"\n- {name}, {server}: {text}" for name, result in results.items()
                       for server, text in result["failures"].items())
    machine = (f"{described['cores']} cores ({described['processor']}), {described['memory_gib']} GiB, {described['kernel']}, "
               f"{described['distribution']}")
    text = REMARK.format(
        **{**run, "machine": machine, "load": described["load"], "disk": described["disk_volume"],
           "memory": described["memory_volume"],
           "settings": ", ".join(f"{name} = {value}" for name, value in settings.items())})
    remark = "\n\n".join("\n".join(textwrap.wrap(paragraph, 128)) for paragraph in text.split("\n\n"))
    return f"""## {TITLE}

{remark}

{words_table(["row", "measure", "target", "measured", "range of the rounds", ""], target_lines(results))}

{titles}

Medians of the rounds; units are requests, pairs of LOCK and UNLOCK, or GiB:

{table(["row and server", "", "CPU of davit, µs", "CPU of PostgreSQL, µs", "time, µs", "per second", "range", "p99 ms"],
                figure_lines(results))}""" + (f"\n\nWithout figures:\n{failures}" if failures else "")
