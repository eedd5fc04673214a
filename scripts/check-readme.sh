#!/usr/bin/env bash
# The first Swift block of README.md must be Examples/ShareFolder/ShareFolder.swift, which is compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
block=$(awk '/^```swift$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' README.md)
[ -n "$block" ] || { echo "README.md has no Swift block" >&2; exit 1; }
diff <(printf '%s\n' "$block") Examples/ShareFolder/ShareFolder.swift
