"""The costs of the levels of `--sync`: none, data and full."""

from servers import Davit, Nginx, SingleLighttpd

from .base import variant
from .locks import Lock
from .write import PutNew

LEVELS = [Davit, Davit.synced("data"), Davit.synced("full")]


def unavailable(self, setup):
    return None if Davit.has_sync(setup) else "this version of davit has no --sync"


ROWS = [
    variant(PutNew, "SyncPut", name="sync-put", title="PUT 1 KiB, new names, disk, 32 connections, by --sync",
            place="disk", count=3000, contenders=[*LEVELS, Nginx], unavailable=unavailable,
            notes={"nginx": "syncs nothing"}),
    *(variant(Lock, f"SyncLock{connections}", name=f"sync-lock{connections}", connections=connections,
              title=f"LOCK + UNLOCK, {connections} connection{'s' * (connections > 1)}, by --sync",
              contenders=[*LEVELS, SingleLighttpd], notes={}, unavailable=unavailable) for connections in (1, 8)),
]
