"""Mounts a file system that can share blocks between copies, stored in a file."""

import os
import subprocess

IMAGE_BYTES = 6 << 30


class Xfs:
    """XFS on a loop device, for the duration of a run; requires root."""

    def __init__(self, folder):
        self.image, self.path = os.path.join(folder, "xfs.image"), os.path.join(folder, "xfs")
        self.is_mounted = False

    def mount(self):
        """Mounts the volume once; returns the reason if that fails, or None."""
        if self.is_mounted:
            return None
        if os.geteuid() != 0:
            return "only root may mount an XFS volume"
        with open(self.image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        os.makedirs(self.path, exist_ok=True)
        for command in (["mkfs.xfs", "-q", "-f", "-m", "reflink=1", self.image],
                        ["mount", "-o", "loop", self.image, self.path]):
            try:
                done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            except FileNotFoundError:
                return f"{command[0]} is not installed"
            if done.returncode != 0:
                return f"{command[0]}: {(done.stderr.strip().splitlines() or ['failed'])[0].replace(self.path, 'XFS')}"
        self.is_mounted = True
        return None

    def unmount(self):
        if self.is_mounted:
            subprocess.run(["umount", self.path], check=True)
            self.is_mounted = False
