#!/usr/bin/env bash
# Plays the transcripts of this folder against davit, anonymous and with a user, while davit records; then plays each
# recording against a fresh davit, which must answer the same.
#
#   Tests/Recordings/run.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
davit=${DAVIT:-$here/../../.build/release/davit}
work=$(mktemp -d "${TMPDIR:-/tmp}/davit-recordings.XXXXXX")
server=
stop() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    server=
}
trap 'stop; rm -rf "$work"' EXIT

passed=0 failed=0
# start NAME OPTION...: serves a fresh folder, and sets url.
start() {
    local name=$1
    shift
    mkdir -p "$work/$name/share"
    "$davit" serve "$work/$name/share" --state-dir "$work/$name/state" --port 0 --host 127.0.0.1 "$@" \
        >"$work/$name/out" 2>"$work/$name/err" &
    server=$!
    until grep -qs ready "$work/$name/out"; do
        kill -0 "$server" 2>/dev/null || { cat "$work/$name/err"; exit 1; }
        sleep 0.05
    done
    url=$(grep -o 'http://[^ ]*' "$work/$name/out" | head -n 1)
}

# play NAME ARGUMENT...: replays, and counts requests.
play() {
    local name=$1 text
    shift
    text=$("$davit" replay "$@" --to "$url" 2>&1) || true
    if [[ $text =~ ([0-9]+)\ requests:\ ([0-9]+)\ not\ as\ expected ]]; then
        local requests=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
        passed=$((passed + requests - (bad < requests ? bad : requests))) failed=$((failed + bad))
        [ "$bad" -eq 0 ] || printf '%s\n' "$text"
    else
        failed=$((failed + 1))
        printf '%s\n' "$text"
    fi
    echo "$name: $(tail -n 1 <<<"$text")"
}

for user in '' 'anna:open:sesame'; do
    name=${user:+user}
    name=${name:-anonymous}
    options=(${user:+--user "$user"})
    start "$name" --record "$work/$name/recording" "${options[@]}"
    play "transcripts, $name" "$here" --expect "$here/expected-differences.txt" "${options[@]}"
    stop
    if grep -rqiE 'authorization: basic [^*]' "$work/$name/recording"; then
        failed=$((failed + 1))
        echo "FAILED: a recording holds credentials"
    fi
    if [ -n "$(find "$work/$name/recording" -type f ! -perm 600)" ]; then
        failed=$((failed + 1))
        echo "FAILED: others may read a recording"
    fi
    start "$name-again" "${options[@]}"
    play "recording, $name" "$work/$name/recording" "${options[@]}"
    stop
done

echo "recordings: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
