"""The performance targets of davit, checked against a run."""

from dataclasses import dataclass

from report import ratio

MIB = 1 << 20
#: The displayed name of each measure.
MEASURES = {"cpu": "CPU", "wall": "time", "rate": "rate", "over_idle": "memory over idle", "first_byte": "first byte",
            "p99": "p99", "resident": "resident memory", "anonymous": "anonymous memory"}


@dataclass(frozen=True)
class Target:
    """The `measure` of a row must be at most `limit`, or at least `limit` if `is_floor` is set.

    With `peer` it is davit's ratio to that server; `best peer` and `best equal peer` are determined for each row.
    With `row_of` it is the ratio to davit's figure in another row. Otherwise it is davit's figure in `unit`, which is
    `scale` times the stored unit.
    """

    row: str
    measure: str
    limit: float
    peer: str = None
    row_of: str = None
    is_floor: bool = False
    is_aim: bool = False
    unit: str = ""
    scale: float = 1
    who: str = "davit"

    @property
    def key(self):
        """Returns the key in `reasons.json`."""
        return " ".join(filter(None, (self.row, self.measure, self.peer or self.row_of)))

    def wording(self):
        sign = "≥" if self.is_floor else "≤"
        against = f" × {self.peer or 'row ' + self.row_of}" if self.peer or self.row_of else f" {self.unit}"
        who = "" if self.who == "davit" else f" ({self.who})"
        return f"{MEASURES[self.measure]}{who} {sign} {self.limit:g}{against}" + (" (aim)" if self.is_aim else "")

    def value(self, results):
        """Returns the value; None if it is not part of the run."""
        result = results.get(self.row)
        if result is None or self.who not in result["servers"]:
            return None
        if self.peer:
            other = {"best peer": result["best"], "best equal peer": result["best_equal"]}.get(self.peer, self.peer)
            return ratio(result, self.who, other, self.measure)
        mine = result["servers"][self.who].get(self.measure)
        if not self.row_of:
            return mine * self.scale if mine is not None else None
        theirs = results.get(self.row_of, {"servers": {}})["servers"].get(self.who)
        return mine / theirs[self.measure] if mine is not None and theirs else None

    def is_met(self, value):
        return value >= self.limit if self.is_floor else value <= self.limit


def at_most(limit, peer, *rows, measure="cpu", **more):
    return [Target(row, measure, limit, peer, **more) for row in rows]


def at_least(limit, peer, *rows, measure="rate", **more):
    return [Target(row, measure, limit, peer, is_floor=True, **more) for row in rows]


def figure(limit, unit, scale, measure, *rows):
    return [Target(row, measure, limit, unit=unit, scale=scale) for row in rows]


TARGETS = [
    *at_most(0.8, "nginx", "get64", "get1000"),
    *at_most(1.0, "lighttpd", "get64", "get1000", is_aim=True),
    Target("get64-full", "cpu", 1.15, "davit", who="davit full"),
    *at_most(1.0, "nginx", "304"),
    *at_most(1.0, "lighttpd", "304", is_aim=True),
    *at_most(1.0, "best peer", "down1", "down8", "range"),
    *at_most(1.0, "nginx", "tls-get64", "tls-100k"),
    *at_least(0.9, "nginx", "tls-down"),
    *at_most(1.0, "nginx", "put-new", "put-over", "up1", "up-chunked"),
    *at_most(1.25, "nginx", "put-new-disk", "put-over-disk"),
    *at_least(1.0, "nginx", "put-new-disk", "put-over-disk"),
    *figure(16, "MiB", 1 / MIB, "over_idle", "up1", "up-chunked"),
    *figure(8 * 16, "MiB", 1 / MIB, "over_idle", "up8"),
    *at_most(1.3, "nginx", "mkcol", "delete", "move"),
    # The additional cost of a resumable upload, compared with a plain one of the same run.
    Target("up1-resumable", "cpu", 1.15, row_of="up1"),
    *at_least(0.6, "zip", "zip"),
    *at_most(1.05, "cp", "copy-100m", "copy-tree"),
    # A copy of a hundred times the content must have the same cost, except for noise.
    Target("copy-xfs-100m", "cpu", 1.3, row_of="copy-xfs-1m"),
    *at_most(1.0, "nginx", "propfind0", "propfind-1k", "propfind-100k"),
    *at_most(1.0, "nginx", "propfind-1k", "propfind-100k", measure="wall"),
    *figure(3, "ms", 1e3, "first_byte", "propfind-100", "propfind-1k", "propfind-10k", "propfind-100k", "propfind-gzip"),
    *figure(8, "MiB", 1 / MIB, "over_idle", "propfind-100k", "propfind-gzip"),
    *at_least(0.8, "davit", "up-form", who="davit form"),
    Target("up-form", "over_idle", 16, unit="MiB", scale=1 / MIB, who="davit form"),
    *at_least(1.2, "lighttpd", "propfind-tree"),
    *at_least(4, "Apache", "dead", "proppatch"),
    *at_least(30, "lighttpd", "lock", "lock8"),
    # These rows are compared by processor time, because they are run at different times.
    Target("lock-10000", "cpu", 1.1, row_of="lock"),
    *at_least(1, "lighttpd", "sync-lock1", who="davit --sync full"),
    *at_least(3, "lighttpd", "sync-lock8", who="davit --sync full"),
    # These rows are compared with davit itself, to measure the cost that a feature adds.
    *at_most(1.15, "davit, plain", "put-mtime"),
    *at_most(1.25, "davit, plain", "put-digest"),
    *at_most(1.3, "davit, 1 MiB", "patch-append"),
    *at_most(1.3, "davit, Depth 1", "propfind-deep"),
    *figure(8, "MiB", 1 / MIB, "over_idle", "propfind-deep", "search"),
    *at_most(1.0, "davit, PROPFIND", "search"),
    *at_most(1.5, "davit, not asked for", "propfind-5dead"),
    *figure(5, "ms", 1e3, "wall", "sync-collection"),
    Target("put-journal", "cpu", 1.1, "davit", who="davit, journal awake"),
    *at_most(1.3, "davit, journal asleep", "start-100k", "start-1m", measure="wall"),
    *at_most(1.0, "Apache", "rclone-up", "rclone-down"),
    *at_most(0.5, "rclone", "rclone-up", "rclone-down"),
    # A stub server with 1,000 rules: at least 20,000 responses in a second of one core.
    *figure(50, "µs", 1e6, "cpu", "stub"),
    # The latency of short requests during long requests of other clients.
    *figure(100, "ms", 1e3, "p99", "fair-put", "fair-propfind"),
    *figure(10, "MiB", 1 / MIB, "resident", "idle"),
    *figure(4, "MiB", 1 / MIB, "anonymous", "idle"),
    *figure(30, "ms", 1e3, "wall", "start"),
    *figure(36, "MiB", 1 / MIB, "resident", "idle-10k"),
]
#: Limits of micro-benchmarks (`make micro`) in nanoseconds, by the beginning of their name.
MICRO_LIMITS = {"Router, ": 2000}
#: The maximum ratio of any row to the best equal peer: 0.9 times as good.
EQUAL_LIMIT = 1.11


def micro_limit(name):
    return next((limit for start, limit in MICRO_LIMITS.items() if name.startswith(start)), None)


def equal_targets(results):
    """Returns a target of EQUAL_LIMIT for each row that has an equal peer."""
    return [Target(name, result["measure"], EQUAL_LIMIT, "best equal peer") for name, result in results.items()
            if result["best_equal"] and "davit" in result["servers"]]


def check(results):
    """Returns every target with its value, and whether the target is met; both are None if the row was not run."""
    by_name = {result["row"]: result for result in results}
    checked = []
    for target in [*TARGETS, *equal_targets(by_name)]:
        value = target.value(by_name)
        checked.append((target, value, None if value is None else target.is_met(value)))
    return checked
