# Starts and stops davit for tests. Sourced by bash scripts; the binary is $DAVIT.
#
# Where server_program is set, that is started instead, with the same arguments.
#
# After `start_server ROOT STATE [ARG...]`, server_url holds `http://127.0.0.1:PORT/`, or `https://…` with TLS, or
# what else the program says.
# shellcheck shell=bash

server_pid=
server_url=
server_program=

# start_server ROOT STATE [ARG...]: returns when the server has printed its ready line.
start_server() {
    local line="" waited=0 ready
    ready=$(mktemp -u "${TMPDIR:-/tmp}/davit-ready.XXXXXX")
    mkfifo "$ready"
    # Opened here, for reading and writing: neither side waits for the other, nobody gets SIGPIPE, and the
    # name can go before the server starts.
    exec {server_ready}<>"$ready"
    rm -f "$ready"
    if [ -n "$server_program" ]; then
        # Its line is to come when it is written, and not when a buffer is full.
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

# stop_server: asks it to end with SIGTERM; returns its exit status, or 1 if it had to be killed.
stop_server() {
    [ -n "$server_pid" ] || return 0
    local pid=$server_pid status=0 guard
    server_pid=
    kill -TERM "$pid" 2>/dev/null || true
    # A net under a server that does not stop; in a good run it ends with the server. It is not told to: a signal
    # that meets it before it has begun would run the traps of the script.
    (
        for _ in {1..300}; do
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
