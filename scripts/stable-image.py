#!/usr/bin/env python3
"""Makes an archive of a container image independent of the build: without the random names of the build's container.

    scripts/stable-image.py ARCHIVE

ARCHIVE is one of `buildah commit docker-archive:…`, and is replaced. SOURCE_DATE_EPOCH is the time of its members.
"""
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile


def main():
    path = pathlib.Path(sys.argv[1])
    with tarfile.open(path) as archive:
        manifest, = json.load(archive.extractfile("manifest.json"))
        config = json.load(archive.extractfile(manifest["Config"]))
        config.pop("container", None)
        for part in ("config", "container_config"):
            if part in config:
                config[part]["Hostname"] = ""
        content = json.dumps(config, sort_keys=True, separators=(",", ":")).encode()
        manifest["Config"] = f"{hashlib.sha256(content).hexdigest()}.json"
        new = path.with_suffix(".new")
        with tarfile.open(new, "w", format=tarfile.GNU_FORMAT) as stable:
            def add(name, size, source):
                member = tarfile.TarInfo(name)
                member.size, member.mode, member.mtime = size, 0o444, int(os.environ["SOURCE_DATE_EPOCH"])
                stable.addfile(member, source)

            add(manifest["Config"], len(content), io.BytesIO(content))
            for layer in manifest["Layers"]:
                member = archive.getmember(layer)
                add(layer, member.size, archive.extractfile(member))
            listed = json.dumps([manifest], sort_keys=True).encode()
            add("manifest.json", len(listed), io.BytesIO(listed))
    os.replace(new, path)


main()
