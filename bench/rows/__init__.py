"""The rows of the benchmark, in the order they are run and printed."""

from . import copy, large, locks, process, propfind, properties, read, secure, site, sync, tools, write

FAMILIES = [read, secure, write, large, copy, propfind, properties, locks, sync, site, tools, process]
ROWS = [row for family in FAMILIES for row in family.ROWS]
