#!/usr/bin/env bash
# Tests the browser page in Chromium:
#
#   Tests/Browser/run.sh [--short] [--every K --seed TEXT] [--davit PATH] [--files FOLDER] [--screenshots FOLDER] [NAME...]
#
# NAME is a file (test_browse) or a test. `--files Sources/DavitPage/Files` uses the page's files from the working tree, so
# that changes of scripts need no build. The last line is `browser: N passed, M failed`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! python=$("$here/../../scripts/browser-python.sh"); then
    echo "SKIPPED: browser: Chromium or Playwright is not installed"
    echo "browser: 0 passed, 0 failed"
    exit 0
fi
exec "$python" "$here/browser.py" "$@"
