"""The rows of the benchmark, in the order in which they are run and printed."""

from . import (archive, copy, fair, forms, journal, large, locks, parts, process, propfind, properties, read, search, secure,
               site, stub, sync, tools, uploads, write)

FAMILIES = [read, secure, write, large, uploads, parts, forms, archive, copy, propfind, search, properties, locks, sync, journal,
            fair, site, stub, tools, process]
ROWS = [row for family in FAMILIES for row in family.ROWS]
