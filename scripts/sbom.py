#!/usr/bin/env python3
"""Prints a software bill of materials (SPDX 2.3, JSON) of a davit binary: the libraries that it contains or loads.

    scripts/sbom.py --davit PATH

The time is SOURCE_DATE_EPOCH, so that the same binary always has the same document.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Returns the paths of the shared libraries that the program itself names."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "--dynamic", program)))
    paths = dict(re.findall(r"(\S+) => (\S+)", run("ldd", program)))
    return {name: paths[name] for name in sorted(needed) if name in paths}


def debian_package(path):
    """Returns the name and version of the Debian package that contains a library, or None."""
    for candidate in (path, os.path.realpath(path), path.removeprefix("/usr"), "/usr" + path):
        try:
            name = run("dpkg-query", "-S", candidate).split(":")[0]
        except (subprocess.CalledProcessError, FileNotFoundError):
            continue
        return name, run("dpkg-query", "-W", "-f", "${Version}\n", name).split("\n")[0]
    return None


def element(name, version, licence, purl=None):
    found = {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
             "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
             "licenseDeclared": licence, "copyrightText": "NOASSERTION"}
    if purl:
        found["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", required=True)
    program = parser.parse_args().davit
    with open(program, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    version = run(program, "--version").split()[-1]
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    davit = element("davit", version, "MIT")
    davit["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    swift = re.search(r"Swift version (\S+)", run("swift", "--version"))[1]
    packages, relations = [davit], []
    # The standard library is linked into the program.
    static = element("swift-standard-library", swift, "Apache-2.0 WITH Swift-exception")
    packages.append(static)
    relations.append((davit["SPDXID"], "STATIC_LINK", static["SPDXID"]))
    seen = set()
    for path in libraries(program).values():
        package = debian_package(path)
        name, number = package or (os.path.basename(path), "NOASSERTION")
        if name in seen:
            continue
        seen.add(name)
        library = element(name, number, "NOASSERTION", package and f"pkg:deb/debian/{name}@{number}")
        packages.append(library)
        relations.append((davit["SPDXID"], "DYNAMIC_LINK", library["SPDXID"]))
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"davit-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/davit-{version}-{digest}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: davit-sbom"]},
        "packages": packages,
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": davit["SPDXID"]}]
        + [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations],
    }, indent=1))


main()
