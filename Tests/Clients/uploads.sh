#!/usr/bin/env bash
# Interrupted and resumed uploads: tuspy from PyPI for tus 1.0, and a small client written from the text of
# draft-ietf-httpbis-resumable-upload. Connections are cut, and servers are killed. UPLOAD_MEGABYTES sets the size of the file.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/davit
begin uploads "$@"
python=$cache/upload-clients/bin/python
make_environment() {
    mkdir -p "$cache"
    # Serializes parallel runs.
    exec {environment_lock}>"$cache/upload-clients.lock"
    flock "$environment_lock"
    "$python" -c 'import tusclient.client' 2>/dev/null || {
        python3 -m venv --clear "$cache/upload-clients" && "$python" -m pip install -q tuspy
    } || return 1
    exec {environment_lock}>&-
}
if make_environment >"$work/environment.log" 2>&1; then
    programs='draft tus both'
else
    skipped tuspy "cannot be installed from PyPI"
    python=python3 programs=draft
fi
# The program starts servers itself, because it kills them.
export USER_NAME=$user PASSWORD=$password MEGABYTES=${UPLOAD_MEGABYTES:-64}
for program in $programs; do
    timeout "$limit" "$python" "$clients_folder/upload_clients.py" "$program" "$DAVIT" "$work/$program" \
        >"$work/$program.out" 2>"$work/$program.err" || true
    check_lines "the session" "$work/$program.out" "$work/$program.err" "$program: "
done

finish
