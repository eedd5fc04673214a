#!/usr/bin/env bash
# Replays the transcripts in this folder against davit, anonymously and with a user, while davit records the requests; then
# replays each recording against a new davit, which must send the same responses. Finally replays each session in
# ../RecordedSessions, which davit must still answer as recorded.
#
#   Tests/Recordings/run.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
davit=${DAVIT:-$here/../../.build/release/davit}
work=$(mktemp -d "${TMPDIR:-/tmp}/davit-recordings.XXXXXX")
server= proxy= passed=0 failed=0
stop() {
    local status=0
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null || true
    wait "$server" || status=$?
    server=
    if [ "$status" -ne 0 ]; then
        failed=$((failed + 1))
        echo "FAILED: the server ended with status $status"
    fi
}
trap 'stop; [ -z "$proxy" ] || kill "$proxy" || true; rm -rf "$work"' EXIT

# The origin of a page in one transcript.
pages=(--allow-origin https://app.example)
# start NAME OPTION...: serves a new folder, and sets url.
start() {
    local name=$1
    shift
    mkdir -p "$work/$name/share"
    "$davit" serve "$work/$name/share" --state-dir "$work/$name/state" --port 0 --host 127.0.0.1 \
        "${pages[@]}" "$@" >"$work/$name/out" 2>"$work/$name/err" &
    server=$!
    until grep -qs ready "$work/$name/out"; do
        kill -0 "$server" 2>/dev/null || { cat "$work/$name/err"; exit 1; }
        sleep 0.05
    done
    url=$(grep -o 'http://[^ ]*' "$work/$name/out" | head -n 1)
}

# play NAME ARGUMENT...: replays recordings, and counts the passed and failed requests.
play() {
    local name=$1 text
    shift
    text=$("$davit" replay "$@" --to "$url" 2>&1) || true
    if [[ $text =~ requests:\ ([0-9]+),\ unexpected\ differences:\ ([0-9]+) ]]; then
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
        echo "FAILED: a recording contains credentials"
    fi
    if [ -n "$(find "$work/$name/recording" -type f ! -perm 600)" ]; then
        failed=$((failed + 1))
        echo "FAILED: a recording is readable by other users"
    fi
    start "$name-again" "${options[@]}"
    play "recording, $name" "$work/$name/recording" "${options[@]}"
    stop
done

# An account with rights to one folder, below a folder that it may not list, can do everything there.
mkdir -p "$work/limited"
. "$here/../../scripts/server.sh"
DAVIT=$davit limit_account "$work/limited/share" "$work/limited/state" 'anna:open:sesame' team/own/
start limited
url+=team/own/
play "transcripts, limited rights" "$here" --expect "$here/expected-differences.txt" --user 'anna:open:sesame'
stop

# Each session begins with an empty share, and a server whose only options are its state folder and its address.
with_pages=("${pages[@]}")
pages=()
for session in "$here"/../RecordedSessions/*/; do
    name=recorded-$(basename "$session")
    start "$name"
    play "$name" "$session"
    stop
done
pages=("${with_pages[@]}")

# If macOS metadata files are hidden or stored elsewhere, only listings may differ.
for policy in hide aside; do
    start "litter-$policy" --mac-metadata "$policy"
    play "transcripts, litter: $policy" "$here" --expect "$here/expected-differences.txt"
    for name in ._left .DS_Store; do curl -sS -o "$work/answer" -T /dev/null "$url$name"; done
    listing=$(curl -sS -X PROPFIND -H 'Depth: infinity' "$url")
    if grep -q '\._\|DS_Store' <<<"$listing" || ! grep -q multistatus <<<"$listing" || ! curl -sSf "$url._left"; then
        failed=$((failed + 1))
        echo "FAILED: a listing contains hidden files, or the files are missing from the folder where they are stored"
    else
        passed=$((passed + 1))
    fi
    stop
done

# Over TLS, behind a proxy that terminates TLS, the responses must equal those of a recording without TLS.
if grep -q 'this build does not include TLS' <<<"$("$davit" replay "$work/anonymous/recording" --to https://127.0.0.1:1/ 2>&1)"; then
    echo "over TLS: not supported by this build"
else
    mkdir -p "$work/tls"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=test \
        -addext 'subjectAltName=IP:127.0.0.1' -keyout "$work/tls/key" -out "$work/tls/certificate" 2>/dev/null
    python3 "$here/tls-proxy.py" "$work/tls" >"$work/tls/port" &
    proxy=$!
    until [ -s "$work/tls/port" ]; do
        kill -0 "$proxy" || exit 1
        sleep 0.05
    done
    secure=https://127.0.0.1:$(cat "$work/tls/port")
    start tls-share --public-url "$secure"
    port=${url##*:}
    echo "${port%/}" >"$work/tls/backend"
    url=$secure/
    play "recording, through TLS" "$work/anonymous/recording" --ca "$work/tls/certificate"
    refusal=$("$davit" replay "$work/anonymous/recording" --to "$url" 2>&1) || true
    if grep -q 'certificate verify failed' <<<"$refusal"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: an untrusted certificate was accepted: $refusal"
    fi
    kill "$proxy"
    wait "$proxy" 2>/dev/null || true
    proxy=
    stop
fi

echo "recordings: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
