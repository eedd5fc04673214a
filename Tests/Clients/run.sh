#!/usr/bin/env bash
# Runs every client, anonymous, with a user, and where it knows Digest with nothing but that, all at once: most of
# their time is their own waiting.
#
#   Tests/Clients/run.sh [CLIENT...]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clients=("$@")
[ ${#clients[@]} -gt 0 ] || clients=(authentication cadaver rclone davfs2 https general)

results=$(mktemp -d "${TMPDIR:-/tmp}/davit-clients.XXXXXX")
trap 'rm -rf "$results"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

runs=()
# start NAME CLIENT [ARGUMENT...]
start() {
    local name=$1 client=$2
    shift 2
    runs+=("$name")
    "$here/$client.sh" "$@" >"$results/$name" 2>&1 </dev/null &
}
for client in "${clients[@]}"; do
    start "$client" "$client"
    case $client in
        authentication) ;;
        general) start "$client-tls" "$client" --tls ;;
        rclone | https) start "$client-user" "$client" --user 'anna:open:sesame' ;;
        *)
            start "$client-basic" "$client" --user 'anna:open:sesame' --auth basic
            start "$client-digest" "$client" --user 'anna:open:sesame' --auth digest
            ;;
    esac
done
wait

passed=0 failed=0
for run in "${runs[@]}"; do
    cat "$results/$run"
    if [[ $(tail -n 1 "$results/$run") =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
        failed=$((failed + 1))
        echo "FAILED: $run did not come to its end"
    fi
done
echo "clients: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
