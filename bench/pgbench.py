"""Scripts of pgbench that repeat the statements of davit.

`Script` takes the statements of several runs of the same work. A value that is the same in all runs becomes a constant. One
that differs becomes a variable: a new number for each transaction, or one that belongs to the connection. Texts of statements
are unchanged but for the names of these variables, and for arrays that contain them.
"""

import collections
import re

# The number of different values in a transaction, and of connections.
VALUES, CONNECTIONS = 16, 64
NUMBER = re.compile(r"-?\d+")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BYTES = re.compile(r"\\x((?:[0-9a-f]{2})*)")
INTEGERS = re.compile(r"\{-?\d+(,-?\d+)*\}")
BYTE_STRINGS = re.compile(r'\{"\\\\x[0-9a-f]*"(,"\\\\x[0-9a-f]*")*\}')
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d")


def ordered(statement):
    """Returns a statement that locks paths with the exclusive locks at the end: its keys are sorted, so that the same lock is
    at another position in each run."""
    if "pg_advisory_xact_lock" not in statement.text:
        return statement
    keys, flags = (value.strip("{}").split(",") for value in statement.values)
    pairs = sorted(zip(flags, keys))
    return statement._replace(values=["{" + ",".join(pair[index] for pair in pairs) + "}" for index in (1, 0)])


class Script:
    """The statements of a unit of work.

    With `is_per_connection`, numbers and names that differ between the runs belong to a connection: run n is that of connection
    n, for work on a file of its own. Otherwise they are new ones in each transaction, for work that creates something.
    """

    def __init__(self, runs, is_per_connection):
        self.is_per_connection = is_per_connection
        self.variables, self.constants, self.lines = {}, {}, []
        runs = [[ordered(statement) for statement in run] for run in runs]
        statements = [self.statement([run[index] for run in runs]) for index in range(len(runs[0]))]
        for trip in round_trips(runs[0], statements):
            self.lines += trip if len(trip) == 1 else ["\\startpipeline", *trip, "\\endpipeline"]

    def text(self):
        sets = [f"\\set {name} {value}" for name, value in [("n", ":n + 1"), *self.variables.values()]]
        return "\n".join([*sets, *self.lines]) + "\n"

    def options(self, base):
        """Returns the options that define the variables; `base` is the first of the new numbers."""
        values = {"n": 0, "base": base, **self.constants}
        return [word for name, value in values.items() for word in ("-D", f"{name}={value}")]

    def statement(self, same):
        """Returns the text for a statement, given that of each run."""
        values = [self.value([statement.values[index] for statement in same]) for index in range(len(same[0].values))]
        return re.sub(r"\$(\d+)", lambda match: values[int(match[1]) - 1], same[0].text) + ";"

    def value(self, values):
        first = values[0]
        if first is None:
            return "NULL"
        if len(set(values)) == 1 or TIME.fullmatch(first):
            return self.constant(first)
        if UUID.fullmatch(first):
            # New ones in each transaction in any case.
            return f"md5({self.new(tuple(values))}::text)::uuid"
        if NUMBER.fullmatch(first):
            return self.varying(tuple(values))
        if INTEGERS.fullmatch(first):
            return self.array(values, r"-?\d+", "bigint", lambda text: text)
        if BYTE_STRINGS.fullmatch(first):
            return self.array(values, r"\\x[0-9a-f]*", "bytea", name)
        if BYTES.fullmatch(first) and all(map(name, values)):
            return self.varying(tuple(map(name, values)))
        return self.constant(first)

    def array(self, values, pattern, kind, number):
        elements = list(zip(*(re.findall(pattern, value) for value in values)))
        return "ARRAY[" + ", ".join(
            f"'{element[0]}'::{kind}" if len(set(element)) == 1 else f"{self.varying(tuple(map(number, element)))}::{kind}"
            for element in elements) + "]"

    def constant(self, value):
        found = BYTES.fullmatch(value)
        if found and len(found[1]) > 200:
            # Content is sent as text that is as long as the binary format in which davit sends it.
            value = bytes.fromhex(found[1]).decode("ascii")
        key = next((key for key, known in self.constants.items() if known == value), f"c{len(self.constants)}")
        self.constants[key] = value
        return f":{key}"

    def varying(self, values):
        if not self.is_per_connection:
            return self.new(values)
        cases = " ".join(f"when :client_id = {index} then {value}" for index, value in enumerate(values))
        return self.variable(values, f"case {cases} end")

    def new(self, values):
        # Ids of davit grow with the time, and so do these.
        return self.variable(values, f":base + (:n * {CONNECTIONS} + :client_id) * {VALUES} + {len(self.variables)}")

    def variable(self, values, text):
        if values not in self.variables:
            self.variables[values] = (f"v{len(self.variables)}", text)
        return ":" + self.variables[values][0]


def name(value):
    """Returns a name that consists of digits, as a number; None for other bytes."""
    text = bytes.fromhex(BYTES.fullmatch(value)[1]).decode(errors="replace")
    return text if text.isdigit() else None


def round_trips(statements, texts):
    """Divides the statements like davit: each one whose result is needed ends a round trip, and so does COMMIT."""
    trips, trip = [], []
    for statement, text in zip(statements, texts):
        trip.append(text)
        if statement.reads or statement.text == "COMMIT":
            trips.append(trip)
            trip = []
    return trips + ([trip] if trip else [])


def usual(runs):
    """Returns the texts of the statements that most runs have."""
    return collections.Counter(tuple(statement.text for statement in run) for run in runs).most_common(1)[0][0]
