#!/usr/bin/env bash
# Runs every client, anonymous and with a user, all at once: most of their time is their own waiting.
#
#   Tests/Clients/run.sh [CLIENT...]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clients=("$@")
[ ${#clients[@]} -gt 0 ] || clients=(cadaver rclone davfs2 https)

results=$(mktemp -d "${TMPDIR:-/tmp}/davit-clients.XXXXXX")
trap 'rm -rf "$results"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

for client in "${clients[@]}"; do
    "$here/$client.sh" >"$results/$client" 2>&1 </dev/null &
    "$here/$client.sh" --user 'anna:open:sesame' >"$results/$client-user" 2>&1 </dev/null &
done
wait

passed=0 failed=0
for client in "${clients[@]}"; do
    for result in "$results/$client" "$results/$client-user"; do
        cat "$result"
        if [[ $(tail -n 1 "$result") =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        else
            failed=$((failed + 1))
            echo "FAILED: ${result##*/} did not come to its end"
        fi
    done
done
echo "clients: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
