"""The rows of the benchmark, in the order they are run and printed."""

from . import copy, forms, journal, large, locks, process, propfind, properties, read, secure, site, sync, tools, write

FAMILIES = [read, secure, write, large, forms, copy, propfind, properties, locks, sync, journal, site, tools, process]
ROWS = [row for family in FAMILIES for row in family.ROWS]
