# Starts and stops davit for tests. Sourced by Bash scripts; $DAVIT is the binary.
#
# If server_program is set, that program is started instead, with the same arguments.
#
# After `start_server ROOT STATE [ARG...]`, server_url contains `http://127.0.0.1:PORT/`, or `https://…` with
# TLS, or the URL that the program prints.
# shellcheck shell=bash

server_pid=
server_url=
server_program=

# start_server ROOT STATE [ARG...]: returns when the server has printed its ready line.
start_server() {
    local line="" waited=0 ready
    ready=$(mktemp -u "${TMPDIR:-/tmp}/davit-ready.XXXXXX")
    mkfifo "$ready"
    # Open the FIFO for reading and writing, so that neither side blocks or gets SIGPIPE, and its name can be
    # removed before the server starts.
    exec {server_ready}<>"$ready"
    rm -f "$ready"
    if [ -n "$server_program" ]; then
        # Flush each line immediately.
        stdbuf -oL "$server_program" "$@" >&"$server_ready" 2>>"${server_log:-/dev/null}" &
    else
        "${DAVIT:?}" serve "$1" --host 127.0.0.1 --port 0 --state-dir "$2" "${@:3}" \
            >&"$server_ready" 2>>"${server_log:-/dev/null}" &
    fi
    server_pid=$!
    server_url=
    while [ -z "$server_url" ]; do
        if IFS= read -r -t 1 -u "$server_ready" line; then
            if [[ $line =~ https?://[^[:space:]]*/ ]]; then server_url=${BASH_REMATCH[0]}; fi
        elif ! kill -0 "$server_pid" 2>/dev/null || [ $((waited += 1)) -ge 30 ]; then
            echo "davit did not become ready" >&2
            [ -z "${server_log:-}" ] || tail -n 20 "$server_log" >&2
            return 1
        fi
    done
}

# limit_account ROOT STATE NAME:PASSWORD FOLDER: creates a database with an account that may only edit the files in a folder of the
# share, and an account with all rights.
limit_account() {
    local root=$1 state=$2 name=${3%%:*} folder=$4
    mkdir -p "$root/$folder"
    printf '%s\n' "${3#*:}" | "${DAVIT:?}" account add "$root" "$name" --state-dir "$state"
    printf 'open all\n' | "$DAVIT" account add "$root" admin --rights all --state-dir "$state"
    "$DAVIT" access set "$root" "user:$name" "/$folder" edit --state-dir "$state"
} >/dev/null

# stop_server: stops the server with SIGTERM; returns its exit status, or 1 if it had to be killed.
stop_server() {
    [ -n "$server_pid" ] || return 0
    local pid=$server_pid status=0 guard
    server_pid=
    kill -TERM "$pid" 2>/dev/null || true
    # Kill a server that does not stop. This subshell ends by itself after the server. It is not ended by a signal, because a
    # signal that arrives before the subshell has started would run the traps of the script.
    (
        for _ in {1..1200}; do
            sleep 0.1
            kill -0 "$pid" 2>/dev/null || exit 0
        done
        kill -KILL "$pid" 2>/dev/null
    ) &
    guard=$!
    wait "$pid" || status=$?
    wait "$guard" || true
    exec {server_ready}>&-
    return "$status"
}
