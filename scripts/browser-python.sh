#!/usr/bin/env bash
# Prints the Python that drives Chromium, with Playwright and axe-core, and makes it where it is not there. What it says
# otherwise goes to stderr. Chromium comes from Debian, the rest from PyPI; where those cannot be had, it fails.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit
python=$cache/playwright/bin/python
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
{
    mkdir -p "$cache"
    # Two at the same time wait for each other.
    exec {lock}>"$cache/browser.lock"
    flock "$lock"
    "$here/install-packages.sh" browser || { echo "Debian's packages cannot be had"; exit 1; }
    if ! "$python" -c 'import playwright, axe_core_python' 2>/dev/null; then
        # There is none, or one that is not finished.
        [ -x "$python" ] || python3 -m venv --clear "$cache/playwright"
        "$python" -m pip install -q playwright axe-core-python || { echo "Playwright cannot be had from PyPI"; exit 1; }
    fi
} >&2
echo "$python"
