#!/usr/bin/env bash
# Runs the client tests anonymously, with Basic, with Digest, with limited rights and over TLS, as far as each client supports them. They run in
# parallel, because they mostly wait. Without arguments, runs the tests of clients with few dependencies; with --all, also those
# of clients in the package group `lab`.
#
#   Tests/Clients/run.sh [--all | CLIENT...]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
few=(uploads python davfs2 authentication cadaver rclone trash https general git sitecopy lftp stub)
lab=(gvfs kio backup rclone-mount libreoffice)
not_here=()
case ${1:-} in
    '') clients=("${few[@]}") ;;
    --all)
        # The size of the file that each of several uploads sends.
        export UPLOAD_MEGABYTES=${UPLOAD_MEGABYTES:-1024}
        clients=("${lab[@]}" "${few[@]}")
        not_here=(
            'SKIPPED: kio: a user: its PUT starts without credentials, and it does not send the content again after the 401'
            'SKIPPED: gvfs: TLS: its library only uses the authorities of the system'
            'SKIPPED: backup: Digest: duplicity sends wrong responses, and rclone does not support Digest'
        )
        ;;
    *) clients=("$@") ;;
esac
# The number of tests that run in parallel. The time limits are long enough for a busy machine.
width=12

results=$(mktemp -d "${TMPDIR:-/tmp}/davit-clients.XXXXXX")
trap 'rm -rf "$results"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

runs=()
# start NAME CLIENT [ARGUMENT...]
start() {
    local name=$1 client=$2
    shift 2
    runs+=("$name")
    while [ "$(jobs -pr | wc -l)" -ge "$width" ]; do wait -n || true; done
    "$here/$client.sh" "$@" >"$results/$name" 2>&1 </dev/null &
}
with_basic() { start "$1-basic" "$1" --user 'anna:open:sesame' --auth basic; }
with_digest() { start "$1-digest" "$1" --user 'anna:open:sesame' --auth digest; }
with_tls() { start "$1-tls" "$1" --user 'anna:open:sesame' --auth basic --tls; }
with_limits() { start "$1-limited" "$1" --user 'anna:open:sesame' --limited; }
for client in "${clients[@]}"; do
    start "$client" "$client"
    case $client in
        authentication | libreoffice | kio | stub) ;;
        uploads | trash) with_basic "$client" ;;
        general) start "$client-tls" "$client" --tls ;;
        rclone)
            start "$client-user" "$client" --user 'anna:open:sesame'
            with_limits "$client"
            ;;
        https) start "$client-user" "$client" --user 'anna:open:sesame' ;;
        lftp | rclone-mount)
            with_basic "$client"
            with_tls "$client"
            ;;
        backup)
            with_basic "$client"
            with_tls "$client"
            ;;
        cadaver | davfs2 | gvfs)
            with_basic "$client"
            with_digest "$client"
            with_limits "$client"
            ;;
        sitecopy)
            with_basic "$client"
            with_digest "$client"
            ;;
        *)
            with_basic "$client"
            with_digest "$client"
            with_tls "$client"
            ;;
    esac
done
wait

passed=0 failed=0
for run in "${runs[@]}"; do
    cat "$results/$run"
    # Messages of the session bus may follow this line.
    last=$(grep -E ': [0-9]+ passed, [0-9]+ failed$' "$results/$run" | tail -n 1) || true
    if [[ $last =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
        failed=$((failed + 1))
        echo "FAILED: $run did not run to the end"
    fi
done
# Repeats the skipped tests at the end of the output.
for run in "${runs[@]}"; do grep '^SKIPPED: ' "$results/$run" || true; done
[ ${#not_here[@]} -eq 0 ] || printf '%s\n' "${not_here[@]}"
echo "clients: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
