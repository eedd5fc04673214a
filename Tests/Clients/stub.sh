#!/usr/bin/env bash
# davit stub: a session of rclone with a share is recorded and imported; the share is stopped, and rclone does the same with
# the stub server. Then the commands of davit stub, and their exit statuses.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

server_options() { printf '%s\n' --record "$work/recording"; }
TREE_FILES=small begin stub "$@"
require rclone
export RCLONE_CONFIG=$work/rclone.conf
touch "$RCLONE_CONFIG"
run_rclone() { timeout "$limit" rclone --retries 1 --low-level-retries 1 "$@"; }
# One transfer at a time, so that the order of the requests is the same.
session() {
    local remote=":webdav,url='$server_url',vendor=other:"
    run_rclone copy --transfers 1 --checkers 1 "$work/files" "$remote"
    run_rclone lsf -R "$remote" | sort >"$work/list"
    run_rclone cat "$remote/folder/b.txt" >"$work/b.txt"
}
mkdir -p "$work/files/folder"
head -c 3000 /dev/urandom >"$work/files/a.bin"
echo 'hello' >"$work/files/folder/b.txt"
# What the session has to find.
printf 'a.bin\nfolder/\nfolder/b.txt\n' >"$work/expected"
found() { diff "$work/expected" "$work/list" && diff "$work/files/folder/b.txt" "$work/b.txt"; }

check "rclone uses the share" session
check "it finds its files" found
check "the share exits with status 0" stop_server
rules=$work/rules.sqlite
check "the recording is imported" "$DAVIT" stub import "$work/recording" --into "$rules"

start_stub() {
    cat >"$work/stub" <<EOF
#!/bin/sh
exec "$DAVIT" stub "$rules" --port 0 "\$@"
EOF
    chmod +x "$work/stub"
    server_program=$work/stub
    start_server "$@"
}
rm "$work/list" "$work/b.txt"
check "the stub server starts" start_stub
check "rclone uses the stub server" session
check "it finds the same" found

stub() { "$DAVIT" stub "$@" --to "$server_url"; }
# status EXPECTED COMMAND...: checks the exit status.
status() {
    local expected=$1 actual=0
    shift
    "$@" || actual=$?
    [ "$actual" -eq "$expected" ] || { echo "status $actual instead of $expected"; return 1; }
}
no_misses() {
    local list
    list=$(stub requests)
    [ -n "$list" ] || return 1
    ! grep -P '\t404\t-$' <<<"$list"
}
check "every request had a rule" no_misses
check "verify counts requests" status 0 stub verify PUT /a.bin --count 1
check "verify fails for another number" status 1 stub verify PUT /a.bin --count 2
check "verify has conditions" status 0 stub verify PROPFIND '/**' --when '{"field": "Depth", "is": "1"}' --at-least 1
check "a rule is added" status 0 stub rules add '{"name": "one", "path": "/one", "replies": [{"text": "1"}]}'
check "a rule that cannot work is refused" status 1 stub rules add '{"name": "two", "path": "two", "replies": [{}]}'
one() { [ "$(curl -sS "${server_url}one")" = 1 ]; }
check "the rule answers" one
check "requests are forgotten" status 0 stub reset
check "verify finds no requests" status 0 stub verify '*' '/**' --count 0
in_use() { status 1 "$DAVIT" stub "$rules" --port 0 2>"$work/error" && grep 'in use by another process' "$work/error"; }
check "a second process refuses the file" in_use
check "the stub server exits with status 0" stop_server
check "the rules are kept" start_stub
check "the added rule answers after a restart" one
check "a rule is removed" status 0 stub rules remove one
check "it does not answer any more" status 1 one
newer() {
    check "the stub server stops" stop_server
    python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("PRAGMA user_version = 99"); c.commit()' "$rules"
    local sum
    sum=$(sha256sum "$rules")
    status 1 "$DAVIT" stub "$rules" --port 0 2>"$work/error" && grep 'schema version 99' "$work/error" && [ "$sum" = "$(sha256sum "$rules")" ]
}
check "a newer schema is refused and left unchanged" newer

# The faults of a certificate, as curl reports them.
refused() {
    local text=$1
    shift
    status 60 curl -sS --cacert "$rules.tls/authority.pem" "$@" "${server_url}one" 2>"$work/error" && grep -i "$text" "$work/error"
}
trusted() { [ "$(curl -sS --cacert "$rules.tls/authority.pem" "${server_url}one")" = 1 ]; }
secure() { status 0 "$DAVIT" stub "$@" --to "$server_url" --ca "$rules.tls/authority.pem"; }
rules=$work/secure.sqlite
check "an HTTPS server starts" start_stub --tls-self-signed
check "rules are added over HTTPS" secure rules add '{"name": "one", "path": "/one", "replies": [{"text": "1"}]}'
check "curl trusts its certificate" trusted
check "it stops" stop_server
for fault in 'expired/has expired' 'not-yet-valid/not yet valid' 'wrong-name/subject name' 'untrusted/local issuer'; do
    check "a server with the fault ${fault%/*} starts" start_stub --tls-self-signed --tls-fault "${fault%/*}"
    check "curl sees the fault ${fault%/*}" refused "${fault#*/}"
    check "it stops" stop_server
done
server_program=''
printf 'tls=expired\n' >"$work/faults"
check "a share has the fault of its fault rules" start_server "$share" "$work/state" --tls-self-signed --faults "$work/faults"
rules=$work/share
mkdir "$rules.tls"
cp "$work/state/tls/authority.pem" "$rules.tls/"
check "curl sees it" refused 'has expired'
check "the share stops" stop_server
refuses_faults() {
    status 1 "$DAVIT" serve "$share" --state-dir "$work/state" --port 0 --faults "$work/faults" 2>"$work/error"
    grep 'requires --tls-self-signed' "$work/error"
}
check "without HTTPS, the fault is refused" refuses_faults

is_finished=yes
echo "stub: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
