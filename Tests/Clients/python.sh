#!/usr/bin/env bash
# Python: webdav4 (with fsspec) and webdavclient3, from PyPI.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=60 recorded=yes
cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit
begin python "$@"
# Names that these libraries put into URLs as they are, or change: left to other clients.
find "$tree" -depth -name '*[%#?\\]*' -exec rm -r {} +
python=$cache/python-clients/bin/python
make_environment() {
    mkdir -p "$cache"
    # Several at the same time wait for each other.
    exec {environment_lock}>"$cache/python-clients.lock"
    flock "$environment_lock"
    "$python" -c 'import webdav3.client, webdav4.client, fsspec' 2>/dev/null || {
        python3 -m venv --clear "$cache/python-clients" && "$python" -m pip install -q 'webdav4[fsspec]' webdavclient3
    } || return 1
    exec {environment_lock}>&-
}
make_environment >"$work/environment.log" 2>&1 || skip "webdav4 and webdavclient3 cannot be had from PyPI"
export USER_NAME=$user PASSWORD=$password SCHEMES=$schemes AUTHORITY=$authority
# Each line of the programs: ok or not ok, and what was checked.
run_program() {
    local name=$1 line
    timeout "$limit" "$python" "$clients_folder/python_clients.py" "$name" "$server_url" "$tree" "$work" \
        >"$work/$name.out" 2>"$work/$name.err" || true
    while IFS= read -r line; do
        case $line in
            'ok '*) check "$name: ${line#ok }" true ;;
            'not ok '*) check "$name: ${line#not ok }" fails "$name" ;;
        esac
    done <"$work/$name.out"
    check "$name: the session came to its end" came_to_end "$name"
}
fails() { tail -n 25 "$work/$1.err"; return 1; }
came_to_end() { grep -qx done "$work/$1.out" || fails "$1"; }
run_program webdav4
check "webdav4: the share has the tree" same_tree "$tree" "$share/four/tree"
# It sends Basic without being asked.
if [ "$schemes" = digest ]; then
    echo "python: skipped webdavclient3: it knows no Digest"
else
    run_program webdavclient3
    check "webdavclient3: the share has the tree" same_tree "$tree" "$share/three/tree"
fi

finish
