"""The rows of the benchmark, in the order they are run and printed."""

from . import (copy, forms, journal, large, locks, parts, process, propfind, properties, read, search, secure, site, sync,
               tools, write)

FAMILIES = [read, secure, write, large, parts, forms, copy, propfind, search, properties, locks, sync, journal, site, tools,
            process]
ROWS = [row for family in FAMILIES for row in family.ROWS]
