#!/usr/bin/env bash
# Python: webdav4 (with fsspec) and webdavclient3, from PyPI. PYTHON_CLIENTS=NAME runs only one of them.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-60} recorded=yes
cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit
begin python "$@"
programs=${PYTHON_CLIENTS:-webdav4 webdavclient3}
# The libraries change names with these characters, or do not escape them in URLs; other clients test such names.
find "$tree" -depth -name '*[%#?\\]*' -exec rm -r {} +
python=$cache/python-clients/bin/python
make_environment() {
    mkdir -p "$cache"
    # Serializes parallel runs.
    exec {environment_lock}>"$cache/python-clients.lock"
    flock "$environment_lock"
    "$python" -c 'import webdav3.client, webdav4.client, fsspec' 2>/dev/null || {
        python3 -m venv --clear "$cache/python-clients" && "$python" -m pip install -q 'webdav4[fsspec]' webdavclient3
    } || return 1
    exec {environment_lock}>&-
}
make_environment >"$work/environment.log" 2>&1 || skip "webdav4 and webdavclient3 cannot be installed from PyPI"
export USER_NAME=$user PASSWORD=$password SCHEMES=$schemes AUTHORITY=$authority
run_program() {
    local name=$1
    timeout "$limit" "$python" "$clients_folder/python_clients.py" "$name" "$server_url" "$tree" "$work" \
        >"$work/$name.out" 2>"$work/$name.err" || true
    check_lines "the session" "$work/$name.out" "$work/$name.err" "$name: "
}
if [[ $programs == *webdav4* ]]; then
    run_program webdav4
    check "webdav4: the share has the tree" same_tree "$tree" "$share/four/tree"
fi
# webdavclient3 sends Basic credentials preemptively.
if [[ $programs != *webdavclient3* ]]; then
    :
elif [ "$schemes" = digest ]; then
    skipped webdavclient3 "no support for Digest"
else
    run_program webdavclient3
    check "webdavclient3: the share has the tree" same_tree "$tree" "$share/three/tree"
fi

finish
