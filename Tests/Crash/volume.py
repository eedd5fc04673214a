"""Mounts a second volume inside a share."""

import ctypes
import os
import subprocess

CLONE_NEWNS = 0x00020000


def become_private():
    """Gives this process a private mount namespace. Returns the reason if that fails, or None.

    Must be called before threads are started.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare"):
        return "this system does not support mount namespaces"
    if libc.unshare(CLONE_NEWNS) != 0:
        return f"mounting is not permitted: {os.strerror(ctypes.get_errno())}"
    done = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, text=True)
    return None if done.returncode == 0 else f"mounting is not permitted: {done.stderr.strip()}"


def mount(path):
    os.mkdir(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs", path], check=True)


def unmount(path):
    if os.path.ismount(path):
        subprocess.run(["umount", path], check=True)
