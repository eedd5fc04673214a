# Shared functions of the client tests. A test sources this file, and calls `begin NAME "$@"`, `check` for each check, and
# finally `finish`.
#
# After `begin`, $work is a temporary folder, $share the folder that davit serves at $server_url, $tree the source tree, $user
# and $password the credentials or "" for anonymous access, $schemes the offered schemes or "", and $authority the certificate
# to trust or "" without TLS. A test that sets recorded=yes first is recorded; at its end the recording is replayed against a
# new davit, which must give the same responses. KEEP_RECORDINGS=FOLDER keeps the recording.
# shellcheck shell=bash

set -euo pipefail
export LC_ALL=C.UTF-8

clients_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../scripts/server.sh
. "$clients_folder/../../scripts/server.sh"

# in_session_bus "$@": runs the test again in a private session bus, for clients that need one.
in_session_bus() {
    [ -z "${DAVIT_SESSION_BUS:-}" ] && command -v dbus-run-session >/dev/null || return 0
    # Programs started by the bus would otherwise mount their FUSE file system in the home folder of the user.
    DAVIT_SESSION_BUS=yes GVFS_DISABLE_FUSE=1 exec dbus-run-session -- "$0" "$@"
}

# The time limit of a single client call, in seconds; only a call that hangs reaches it.
limit=${LIMIT_SECONDS:-240}

recorded=no
# begin CLIENT [--user NAME:PASSWORD [--limited]] [--auth SCHEMES] [--tls] [--davit PATH]
#
# With --limited, the account may only use one folder; $share and $server_url are that folder.
begin() {
    client=$1 user='' password='' schemes='' authority='' limited=''
    shift
    export DAVIT=${DAVIT:-$clients_folder/../../.build/release/davit}
    local login=()
    while [ $# -gt 0 ]; do
        case $1 in
            --user) user=${2%%:*} password=${2#*:}; login=(--user "$2"); shift 2 ;;
            --auth) schemes=$2; shift 2 ;;
            --tls) authority=yes; shift ;;
            --limited) limited=yes; shift ;;
            --davit) DAVIT=$2; shift 2 ;;
            *) echo "usage: $client.sh [--user NAME:PASSWORD [--limited]] [--auth SCHEMES] [--tls] [--davit PATH]" >&2; exit 64 ;;
        esac
    done
    [ -z "$schemes" ] || login+=(--auth "$schemes")
    [ -x "$DAVIT" ] || { echo "$client: davit not found at $DAVIT; run 'make build' first" >&2; exit 1; }
    passed=0 failed=0 is_finished=no
    work=$(mktemp -d "${TMPDIR:-/tmp}/davit-$client.XXXXXX")
    share=$work/share tree=$work/tree server_log=$work/server.log output=$work/output
    trap leave EXIT
    trap 'exit 130' INT TERM
    # Clients read their settings and secrets only from this home folder.
    export HOME=$work/home
    mkdir "$share" "$HOME"
    python3 "$clients_folder/make_tree.py" "$tree" "${TREE_FILES:-2000}"
    # A test may define server_options, whose options can refer to files in $work.
    local options=()
    if [ "$(type -t server_options)" = function ]; then readarray -t options < <(server_options); fi
    if [ -n "$authority" ]; then
        authority=$work/state/tls/authority.pem
        login+=(--tls-self-signed)
    fi
    local root=$share
    if [ -n "$limited" ]; then
        login=() recorded=no
        limit_account "$root" "$work/state" "$user:$password" team/own/
        share=$root/team/own
        # Neither this file nor its folder may be visible.
        mkdir "$root/private"
        printf 'private\n' >"$root/private/file"
    fi
    # Digest responses contain nonces that expire, so they cannot be replayed.
    [ -z "$user" ] || [ "$schemes" = basic ] || recorded=no
    [ "$recorded" = no ] || options+=(--record "$work/recording")
    start_server "$root" "$work/state" "${login[@]}" "${options[@]}"
    root_url=$server_url
    [ -z "$limited" ] || server_url+=team/own/
    login_options=("${login[@]}")
}

# `leave` runs on every exit, and calls `clean_up_client`, which a test may override.
clean_up_client() { :; }
leave() {
    local status=$?
    trap - EXIT
    clean_up_client || true
    stop_server || true
    if [ "$is_finished" = no ]; then echo "$client$(as_user): $passed passed, $((failed + 1)) failed"; fi
    rm -rf "$work"
    exit "$status"
}
as_user() {
    [ -z "$user" ] || if [ -n "$limited" ]; then printf ' with limited rights'; else printf ' with a user'; fi
    [ -z "$schemes" ] || printf ' and %s' "$schemes"
    [ -z "$authority" ] || printf ' over TLS'
}

# check WHAT COMMAND...: runs a check; the output of the command is shown if it fails.
check() {
    local what=$1
    shift
    if timeout_aware "$@" >"$output" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $client$(as_user): $what"
        head -n 30 "$output" | sed 's/^/    /'
    fi
}

# timeout_aware COMMAND...: runs functions and builtins directly, and programs with the time limit.
timeout_aware() {
    if [ "$(type -t "$1")" = file ]; then timeout "$limit" "$@"; else "$@"; fi
}

# check_lines PROGRAM OUT ERR [PREFIX]: counts the checks of a program from its lines `ok WHAT` and `not ok WHAT`,
# with `done` at the end. ERR is shown for failed checks.
check_lines() {
    local program=$1 out=$2 log=$3 prefix=${4:-} line
    while IFS= read -r line; do
        case $line in
            'ok '*) check "$prefix${line#ok }" true ;;
            'not ok '*) check "$prefix${line#not ok }" show_and_fail "$log" ;;
        esac
    done <"$out"
    check "$prefix$program ran to the end" ended "$out" "$log"
}
show_and_fail() { tail -n 25 "$1"; return 1; }
ended() { grep -qx done "$1" || show_and_fail "$2"; }

# no_locks URL [CURL OPTION...]: checks that nothing at or below the URL is locked.
no_locks() {
    local answer body='<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>'
    answer=$(curl -sS -f "${@:2}" -X PROPFIND -H 'Depth: infinity' -H 'Content-Type: text/xml' --data "$body" "$1") || return 1
    [[ $answer != *activelock* ]] || { echo "$answer"; return 1; }
}

# same_tree A B: checks that names, types and content are equal.
same_tree() { diff -r --no-dereference "$1" "$2"; }

# no_leftovers: checks that the server left nothing in the share, except the folder of its trash.
no_leftovers() {
    local found
    found=$(find "$share" -name '.davit-*' ! -name .davit-trashofthisshare)
    [ -z "$found" ] || { echo "$found"; return 1; }
}

is_absent() { [ ! -e "$1" ]; }
holds() { [ "$(cat "$1")" = "$2" ]; }

play_again() {
    local status=0 log=$work/replay.log
    mkdir -p "$work/again/share"
    start_server "$work/again/share" "$work/again/state" "${login_options[@]}" || return 1
    timeout "$limit" "$DAVIT" replay "$work/recording" --to "$server_url" ${user:+--user "$user:$password"} \
        ${authority:+--ca "$work/again/state/tls/authority.pem"} || status=$?
    stop_server || status=$?
    [ -z "${KEEP_RECORDINGS:-}" ] || cp -r "$work/recording/." "$KEEP_RECORDINGS"
    return "$status"
}

# skipped WHAT WHY: reports a part that cannot run here, or that the client does not support; not a failure. run.sh
# repeats it at the end.
skipped() { echo "SKIPPED: $client$(as_user): $1: $2"; }
# skip WHY: skips the whole test.
skip() {
    skipped "the whole test" "$1"
    stop_server || true
    is_finished=yes
    echo "$client$(as_user): 0 passed, 0 failed"
    exit 0
}

# require PROGRAM...: skips the test if a program is missing.
require() {
    local program
    for program in "$@"; do command -v "$program" >/dev/null || skip "$program is not installed"; done
}

# sees_only_own: checks that the root, which clients open first, shows only the way to the folder of the account.
sees_only_own() {
    local hrefs
    hrefs=$(curl -sS -f -u "$user:$password" -X PROPFIND -H 'Depth: 1' "$root_url" | grep -o '<D:href>[^<]*' | sort | tr '\n' ' ')
    [ "$hrefs" = '<D:href>/ <D:href>/team/ ' ] || { echo "$hrefs"; return 1; }
}

# stops: stops the server; shows the end of its log if its status is not 0.
stops() {
    local status=0
    stop_server || status=$?
    [ "$status" -eq 0 ] || { echo "status $status"; tail -n 20 "$server_log"; }
    return "$status"
}

finish() {
    [ -z "$limited" ] || check "the root shows only the way to the account's folder" sees_only_own
    check "the server leaves nothing in the share" no_leftovers
    check "the server exits with status 0" stops
    [ "$recorded" = no ] || check "a replay of the session gets the same answers" play_again
    is_finished=yes
    echo "$client$(as_user): $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
