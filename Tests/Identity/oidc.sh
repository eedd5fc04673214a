#!/usr/bin/env bash
# Signing in with OpenID Connect: Tests/Identity/oidc.sh [NAME...]. DAVIT is a davit with the trait OIDC. The packages of the
# providers are from PyPI; without them, the tests are skipped.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit
python=$cache/oidc/bin/python
make_environment() {
    mkdir -p "$cache"
    # Serializes concurrent runs.
    exec {lock}>"$cache/oidc.lock"
    flock "$lock"
    "$python" -c 'import cryptography, oidc_provider_mock, requests' 2>/dev/null || {
        python3 -m venv --clear "$cache/oidc" && "$python" -m pip install -q cryptography oidc-provider-mock requests
    } || return 1
    exec {lock}>&-
}
if ! make_environment >&2; then
    echo "SKIPPED: OpenID Connect: the providers cannot be installed from PyPI"
    echo "oidc: 0 passed, 0 failed"
    exit 0
fi
# Playwright is part of the environment of the browser tests; without it, the test in Chromium is skipped.
if browser=$("$here/../../scripts/browser-python.sh" 2>/dev/null); then
    PYTHONPATH=$("$browser" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    export PYTHONPATH
fi
# Authlib refuses http unless this variable is set; the provider is on this machine.
AUTHLIB_INSECURE_TRANSPORT=1 NO_PROXY=localhost,127.0.0.1 exec "$python" "$here/oidc.py" "$@"
