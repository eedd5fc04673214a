"""The rows of the benchmark, in the order they are run and printed."""

from . import read, write, propfind, locks, properties

ROWS = [*read.ROWS, *write.ROWS, *propfind.ROWS, *properties.ROWS, *locks.ROWS]
