"""Requests that change names: PUT of small content, MKCOL, DELETE, MOVE."""

import os
import subprocess

from client import WrongAnswer

from .base import KIB, Load, Request, give, variant, write_members


class Folder(Load):
    """Each turn uses a new folder, which is removed afterwards if that is cheap."""

    kind = "write"
    connections = 32

    def folder(self, turn):
        return os.path.join(turn.root, self.target(turn).strip("/"))

    def target(self, turn):
        return f"/turn-{turn.number}/"

    def before(self, turn):
        os.mkdir(self.folder(turn))
        give(turn.server, self.folder(turn))

    def after(self, turn):
        self.check(turn)
        if self.place == "memory":
            subprocess.run(["rm", "-rf", self.folder(turn)], check=True)

    def check(self, turn):
        names = os.listdir(self.folder(turn))
        if len(names) != turn.outcome["units"]:
            raise WrongAnswer(f"{turn.outcome['units']} requests succeeded, but {len(names)} files exist")
        return names


class PutNew(Folder):
    name = "put-new"
    title = "PUT 1 KiB, new names, tmpfs, 32 connections"

    def requests(self, turn):
        return [Request("PUT", self.target(turn) + "{unit}", generated=KIB, statuses=(201,))]

    def check(self, turn):
        for name in super().check(turn)[:200]:
            check_content(os.path.join(self.folder(turn), name), turn)


class PutOver(PutNew):
    name = "put-over"
    title = "PUT 1 KiB, replacing, tmpfs, 32 connections"

    def before(self, turn):
        super().before(turn)
        for connection in range(self.connections):
            with open(os.path.join(self.folder(turn), f"{connection:05d}"), "wb") as file:
                file.write(b"old")
        give(turn.server, self.folder(turn))

    def requests(self, turn):
        return [Request("PUT", self.target(turn) + "{connection}", generated=KIB, statuses=(204, 200, 201))]

    def check(self, turn):
        for connection in range(self.connections):
            check_content(os.path.join(self.folder(turn), f"{connection:05d}"), turn)


class MakeCollection(Folder):
    name = "mkcol"
    title = "MKCOL, 32 connections"

    def requests(self, turn):
        return [Request("MKCOL", self.target(turn) + "{unit}/", statuses=(201,))]


class Delete(Folder):
    name = "delete"
    title = "DELETE of 1 KiB files, 32 connections"
    count = 15_000

    def before(self, turn):
        write_members(self.folder(turn), self.count, KIB)
        give(turn.server, self.folder(turn))

    def requests(self, turn):
        return [Request("DELETE", self.target(turn) + "member-{unit}.txt",
                        statuses=(204,))]

    def run(self, turn):
        return turn.play(self.requests(turn), self.connections, seconds=60, count=self.count)

    def check(self, turn):
        left = os.listdir(self.folder(turn))
        if left:
            raise WrongAnswer(f"{len(left)} files still exist")


class Move(PutOver):
    name = "move"
    title = "MOVE of a 1 KiB file to a new name, 32 connections"

    def requests(self, turn):
        names = (self.target(turn) + "{connection}", self.target(turn) + "moved-{connection}")
        return [Request("MOVE", names[source], {"Destination": "http://127.0.0.1:{port}" + names[1 - source]},
                        statuses=(201, 204)) for source in (0, 1)]

    def run(self, turn):
        # A unit consists of two requests: a move to the new name, and a move back.
        return 2 * super().run(turn)

    def check(self, turn):
        names = sorted(os.listdir(self.folder(turn)))
        if names != [f"{connection:05d}" for connection in range(self.connections)]:
            raise WrongAnswer(f"files were lost: {len(names)} remain")


def check_content(path, turn):
    with open(path, "rb") as file:
        if file.read() != turn.setup.client.pattern[:KIB]:
            raise WrongAnswer(f"{os.path.basename(path)} has the wrong content")


ROWS = [
    PutNew,
    PutOver,
    variant(PutNew, "PutNewDisk", name="put-new-disk", title="PUT 1 KiB, new names, disk, 32 connections",
            place="disk", count=6000),
    variant(PutOver, "PutOverDisk", name="put-over-disk", title="PUT 1 KiB, replacing, disk, 32 connections",
            place="disk"),
    MakeCollection,
    Delete,
    Move,
]
