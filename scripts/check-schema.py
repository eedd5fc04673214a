#!/usr/bin/env python3
"""Checks docs/davit.schema.json: it is a valid JSON Schema that accepts the documented files and refuses wrong ones.

`ConfigurationSourcesTests` verifies that the file is the output of `davit config schema`. Without the Python packages
jsonschema and yaml, only the form of the file is checked.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Parts of files, and whether the schema accepts them.
FILES = [
    ("port: 80", True), ("port: '80'", False), ("port: 65536", False), ("prot: 80", False), ("title: no", True),
    ("title: 1.10", True), ("title: ''", False), ("read-only: true", True), ("read-only: 'true'", False),
    ("host: [a, b]", True), ("host: a", True), ("host: {a: b}", False), ("sync: full", True), ("sync: some", False),
    ("max-file-size: 2G", True), ("max-file-size: 100", True), ("max-file-size: 2X", False), ("auth: [digest]", True),
    ("users: [{name: a, password: b}]", True), ("users: [{name: a}]", False),
    ("users: [{name: a, password: b, hash: c}]", False), ("rules: [{who: everyone, path: /, rights: view}]", True),
    ("rules: [{who: everyone, path: /}]", False), ("shares: [{path: /a, folder: /b, read-only: true}]", True),
    ("shares: [{path: /a, folder: /b, port: 1}]", False), ("shares: []", False), ("groups: {a: [b]}", True),
    ("groups: {a: b}", False), ("mounts: [{path: /a, folder: /b}]", True), ("user: a:b", False),
]


def documented():
    """Yields the files of the documentation; the defaults without their comment signs, except placeholders."""
    page = (ROOT / "docs/configuration.md").read_text()
    yield from re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    defaults = re.findall(r"^#([^ #\n].*|  .*)$", (ROOT / "docs/davit.yaml").read_text(), re.M)
    yield "\n".join(line for line in defaults if not re.search(r": [A-Z]+$", line))


def main():
    schema = json.loads((ROOT / "docs/davit.schema.json").read_text())
    try:
        import jsonschema
        import yaml
    except ImportError as error:
        print(f"check-schema: not checked in full: {error}", file=sys.stderr)
        return 0
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    errors = []
    files = list(documented())
    if len(files) < 2:
        errors.append("no documented files found")
    for text in files:
        errors += [f"documented file: {error.message}" for error in validator.iter_errors(yaml.safe_load(text))]
    for text, accepted in FILES:
        if validator.is_valid(yaml.safe_load(text)) != accepted:
            errors.append(f"'{text}' is {'refused' if accepted else 'accepted'}")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


sys.exit(main())
