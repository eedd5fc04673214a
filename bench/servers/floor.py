"""The floor: a server that does only the minimum for each request (programs/floor.c)."""

import os

from .base import Server


class Floor(Server):
    name = "floor"

    def start(self):
        return self.spawn([self.setup.programs["floor"], str(self.port), self.root,
                           os.path.join(self.state, "floor.db")])

    @classmethod
    def is_peer(cls):
        return False

    @classmethod
    def settings(cls):
        return "one thread, no checks"

    @classmethod
    def version(cls, setup):
        return "bench/programs/floor.c"
