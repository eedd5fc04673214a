#!/usr/bin/env bash
# Runs Debian's litmus against davit and compares the results with README.md, which lists every exception.
#
#   litmus/run.sh [--user NAME:PASSWORD [--limited]] [--tls] [--mount] [--davit PATH] [--program PATH]
#
# With --limited, the account has the rights *edit* in one folder, none elsewhere, and litmus runs in that folder. With --mount,
# the tests run in a folder that is mounted in the share.
# With --program, another server is tested: it takes a folder and a state folder, and prints a line with its URL.
set -euo pipefail
export LC_ALL=C.UTF-8

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../scripts/server.sh
. "$here/../scripts/server.sh"

export DAVIT=${DAVIT:-$here/../.build/release/davit}
user=
program=
tls=
limited=
mount=
while [ $# -gt 0 ]; do
    case $1 in
        --user) user=${2:?--user needs NAME:PASSWORD}; shift 2 ;;
        --tls) tls=yes; shift ;;
        --limited) limited=yes; shift ;;
        --mount) mount=yes; shift ;;
        --davit) DAVIT=${2:?--davit needs a path}; shift 2 ;;
        --program) program=${2:?--program needs a path}; shift 2 ;;
        *) echo "usage: litmus/run.sh [--user NAME:PASSWORD [--limited]] [--tls] [--mount] [--davit PATH] [--program PATH]" >&2; exit 64 ;;
    esac
done
server_program=$program
[ -z "$limited" ] || [ -n "$user" ] || { echo "litmus: --limited requires --user" >&2; exit 64; }
[ -x "${program:-$DAVIT}" ] || { echo "litmus: ${program:-$DAVIT} not found; run 'make build' first" >&2; exit 1; }
command -v litmus >/dev/null || { echo "litmus is not installed; run 'make litmus'" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/davit-litmus.XXXXXX")
server_log=$work/server.log
cleanup() {
    local status=$?
    stop_server || true
    [ "$status" -eq 0 ] || { echo "--- end of the server's log"; tail -n 20 "$server_log"; } >&2 2>/dev/null
    rm -rf "$work"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# Reads the table in README.md: | suite | test | outcome | why |, with the outcome in capitals.
exceptions() {
    awk -F'|' '
        function trim(text) { gsub(/^[ \t`]+|[ \t`]+$/, "", text); return text }
        NF >= 5 && trim($4) ~ /^(FAIL|WARNING|SKIPPED)$/ { print trim($2), trim($3), trim($4) }
    ' "$here/README.md"
    # litmus skips this test for every server with TLS.
    [ -z "$tls" ] || echo 'http expect100 SKIPPED'
}

# Converts the output of litmus to lines "suite test OUTCOME" for everything except a plain pass.
outcomes() {
    # A result line is " 3. put_get............... pass". A warning is printed on the line of its test; the final
    # "pass" then follows on a line of dots.
    tr '\r' '\n' <"$1" | awk '
        /^-> running `/ { suite = $3; gsub(/[`\x27:]/, "", suite) }
        /^ *[0-9]+\. / {
            test = $0; sub(/^ *[0-9]+\. /, "", test); sub(/\.\..*/, "", test); sub(/[. ].*/, "", test)
        }
        /\.\. *WARNING:|^ *WARNING:/ { print suite, test, "WARNING" }
        /\. FAIL/ { print suite, test, "FAIL" }
        /\. SKIPPED/ { print suite, test, "SKIPPED" }
    ' | sort -u
}

mkdir "$work/root" "$work/mounted"
account=(${user:+--user "$user"})
place=${mount:+mounted/}
if [ -n "$limited" ]; then
    account=()
    place=team/own/
    limit_account "$work/root" "$work/state" "$user" "$place"
fi
start_server "$work/root" "$work/state" "${account[@]}" ${tls:+--tls-self-signed} ${mount:+--mount "/mounted=$work/mounted"}
arguments=("$server_url$place")
[ -z "$user" ] || arguments+=("${user%%:*}" "${user#*:}")

# litmus writes debug.log to the current folder. The time limit ends a test that hangs.
finished=0
(cd "$work" && timeout 300 litmus --keep-going "${arguments[@]}") >"$work/out" 2>&1 || finished=$?
cat "$work/out"
[ "$finished" -ne 124 ] || echo "litmus timed out after 300 s"

failed=0
report() { failed=$((failed + 1)); echo "NOT AS EXPECTED: $*"; }

outcomes "$work/out" >"$work/seen"
exceptions | sort -u >"$work/allowed"
while read -r line; do report "$line"; done < <(comm -23 "$work/seen" "$work/allowed")
while read -r line; do report "$line is listed in README.md but did not occur"; done \
    < <(comm -13 "$work/seen" "$work/allowed")

# A suite that crashed prints no summary and must count as a failure.
passed=0
for suite in basic copymove props locks http; do
    summary=$(tr '\r' '\n' <"$work/out" | sed -n "s/^<- summary for \`$suite': of //p" | tail -n 1)
    if [[ $summary =~ ^([0-9]+)\ tests\ run:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
        passed=$((passed + BASH_REMATCH[2]))
        # The summary counts a failure that has no result line.
        if [ "${BASH_REMATCH[3]}" -ne "$(grep -c "^$suite .* FAIL$" "$work/seen" || true)" ]; then
            report "$suite: ${BASH_REMATCH[3]} failed"
        fi
    else
        report "$suite did not run to the end"
    fi
done

as_user=${user:+ with a user}
[ -z "$limited" ] || as_user=" with limited rights"
status=0
stop_server || status=$?
[ "$status" -eq 0 ] || report "davit exited with status $status after SIGTERM"

echo "litmus$as_user${tls:+ over TLS}${program:+ below a prefix}: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
