#!/usr/bin/env bash
# Prints the path of a Python interpreter with Playwright and axe-core for tests in Chromium; creates the environment if
# necessary. All other output goes to stderr. Chromium is installed from Debian, and the rest from PyPI; the script fails if one
# of them is not available.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit
python=$cache/playwright/bin/python
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
{
    mkdir -p "$cache"
    # Serialize concurrent runs.
    exec {lock}>"$cache/browser.lock"
    flock "$lock"
    "$here/install-packages.sh" browser || { echo "cannot install Debian packages"; exit 1; }
    if ! "$python" -c 'import playwright, axe_core_python' 2>/dev/null; then
        # The environment is missing or incomplete.
        [ -x "$python" ] || python3 -m venv --clear "$cache/playwright"
        "$python" -m pip install -q playwright axe-core-python || { echo "cannot install Playwright from PyPI"; exit 1; }
    fi
} >&2
echo "$python"
