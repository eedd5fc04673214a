#!/usr/bin/env python3
"""Checks and builds the API reference of `import Davit` as a DocC archive.

    scripts/reference.py check    check that every public symbol has a description
    scripts/reference.py build    also build .build/docs/Davit.doccarchive; warnings are errors

Reads the modules of the debug build. Declarations that Davit exports from other modules are shown as part of Davit, because
applications import them that way. DavitJSON, the only other library product, is also shown as part of Davit.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPORTS = ROOT / "Sources/Davit/Exports.swift"
PAGES = [
    "embedding", "coming-from-gcdwebserver", "configuration", "browser", "websites", "lifecycle", "proxies", "searching",
    "syncing", "live", "locks", "trash", "uploads", "systemd", "recording", "clients", "downloads",
]
LANDING = ROOT / "docs/Davit.docc"


def run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def tools():
    """Returns the folder of the compiler and the target triple."""
    info = json.loads(run(os.environ.get("SWIFT", "swift"), "-print-target-info"))
    return pathlib.Path(info["paths"]["runtimeResourcePath"]).parents[1] / "bin", info["target"]["triple"]


def exported():
    """Returns the exported modules, each with the set of exported names, or None for the complete module."""
    modules = {"Davit": None, "DavitJSON": None}
    for line in EXPORTS.read_text().splitlines():
        if match := re.match(r"@_exported public import (?:\w+ )?(\w+)(?:\.(\w+))?$", line):
            module, name = match.groups()
            if name is None:
                modules[module] = None
            else:
                modules.setdefault(module, set()).add(name)
    return modules


def extract(modules, folder):
    binaries, triple = tools()
    # The build creates the module maps of targets with sources.
    maps = [*(ROOT / "Sources").glob("C*/module.modulemap"), *(ROOT / ".build/debug").glob("C*.build/module.modulemap")]
    headers = [flag for path in sorted(maps) for flag in ("-I", str(path.parent))]
    packages = re.findall(r'pkgConfig: "([^"]+)"', (ROOT / "Package.swift").read_text())
    found = subprocess.run(["pkg-config", "--cflags-only-I", *packages], capture_output=True, text=True).stdout.split()
    headers += [flag for path in found for flag in ("-I", path[2:])]
    for module in modules:
        run(
            str(binaries / "swift-symbolgraph-extract"), "-module-name", module, "-I", str(ROOT / ".build/debug/Modules"),
            *headers, "-target", triple, "-minimum-access-level", "public", "-omit-extension-block-symbols",
            "-skip-inherited-docs", "-skip-synthesized-members", "-output-dir", folder,
        )


def merge(modules, folder):
    """Returns one symbol graph of everything that `import Davit` makes available."""
    symbols, relationships, head = {}, [], None
    prefix = re.compile(f"``(?:{'|'.join(modules)})/")
    for path in sorted(pathlib.Path(folder).glob("*.symbols.json")):
        module, _, extended = path.name.removesuffix(".symbols.json").partition("@")
        graph = json.loads(path.read_text())
        if module == "Davit" and not extended:
            head = graph
        for symbol in graph["symbols"]:
            names = modules[module]
            if names is None or symbol["pathComponents"][0] in names:
                # All symbols are merged into one module, so remove module names from links.
                for line in symbol.get("docComment", {}).get("lines", []):
                    line["text"] = prefix.sub("``", line["text"])
                symbols[symbol["identifier"]["precise"]] = symbol
        relationships += graph["relationships"]
    if head is None:
        sys.exit("no symbols for the module Davit; run a debug build first")
    head["symbols"] = list(symbols.values())
    head["relationships"] = [one for one in relationships if one["source"] in symbols]
    return head


def where(symbol):
    location = symbol.get("location")
    if not location:
        return "?"
    path = pathlib.Path(location["uri"].removeprefix("file://"))
    line = location["position"]["line"] + 1
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line}"


def undocumented(graph):
    """Yields symbols without a description.

    Ignores symbols that the compiler synthesizes, and implementations of protocol requirements, which are described with
    the protocol.
    """
    implied = {one["source"] for one in graph["relationships"] if "sourceOrigin" in one}
    for symbol in graph["symbols"]:
        precise = symbol["identifier"]["precise"]
        if "::SYNTHESIZED::" in precise or precise in implied or "location" not in symbol:
            continue
        lines = symbol.get("docComment", {}).get("lines", [])
        if not any(line["text"].strip() for line in lines):
            yield where(symbol), ".".join(symbol["pathComponents"])


def check(graph):
    missing = sorted(undocumented(graph))
    for place, name in missing:
        print(f"{place}: {name} has no description", file=sys.stderr)
    print(f"{len(graph['symbols'])} public symbols, {len(missing)} without a description")
    return not missing


def article(text, headings):
    """Converts a page of docs/ for DocC: links between pages become DocC links, and links to files become plain text."""

    def link(match):
        label, target = match.groups()
        page, _, section = target.partition("#")
        if re.match(r"[a-z]+:", target):
            return match.group(0)
        name = pathlib.PurePath(page).stem
        if page in ("", f"{name}.md") and (not name or name in headings):
            title = headings[name or None].get(section) if section else None
            return f"[{label}](doc:{name}{'#' + title if title else ''})"
        return label

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, parts[index])
    return "".join(parts)


def sections(text):
    """Returns the anchors of a page's headings: a map from GitHub's form to DocC's."""
    found = {}
    for heading in re.findall(r"^##+ (.*)$", text, re.M):
        plain = heading.replace("`", "")
        github = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found[github] = re.sub(r"[^\w\-]+", "-", plain.replace("'", "").replace("’", "")).strip("-")
    return found


def build(graph):
    binaries, _ = tools()
    output = ROOT / ".build/docs"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="davit-docs.") as folder:
        catalog = pathlib.Path(folder) / "Davit.docc"
        shutil.copytree(LANDING, catalog)
        pages = {name: (ROOT / f"docs/{name}.md").read_text() for name in PAGES}
        headings = {name: sections(text) for name, text in pages.items()}
        for name, text in pages.items():
            (catalog / f"{name}.md").write_text(article(text, headings | {None: headings[name]}))
        (catalog / "Davit.symbols.json").write_text(json.dumps(graph))
        run(
            str(binaries / "docc"), "convert", str(catalog), "--output-path", str(output / "Davit.doccarchive"),
            "--fallback-display-name", "Davit", "--fallback-bundle-identifier", "davit",
            "--fallback-default-module-kind", "Library", "--warnings-as-errors",
        )
    print(f"the API reference is in {(output / 'Davit.doccarchive').relative_to(ROOT)}")


def main():
    if sys.argv[1:] not in (["check"], ["build"]):
        sys.exit(__doc__)
    modules = exported()
    with tempfile.TemporaryDirectory(prefix="davit-symbols.") as folder:
        extract(modules, folder)
        graph = merge(modules, folder)
    good = check(graph)
    if sys.argv[1] == "build":
        build(graph)
    return 0 if good else 1


sys.exit(main())
