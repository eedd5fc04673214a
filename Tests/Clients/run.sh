#!/usr/bin/env bash
# Runs clients, each anonymous, with Basic, with Digest and over TLS as far as it can, several at once: most of their time
# is their own waiting. Without arguments those that need little; with --all also those of the packages `lab`.
#
#   Tests/Clients/run.sh [--all | CLIENT...]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
few=(uploads python davfs2 authentication cadaver rclone trash https general git sitecopy lftp)
lab=(gvfs kio backup rclone-mount libreoffice)
not_here=()
case ${1:-} in
    '') clients=("${few[@]}") ;;
    --all)
        # Each of them many times.
        export UPLOAD_MEGABYTES=${UPLOAD_MEGABYTES:-1024}
        clients=("${lab[@]}" "${few[@]}")
        not_here=(
            'SKIPPED: kio: a user: its PUT begins without credentials, and after the 401 it sends nothing more'
            'SKIPPED: gvfs: TLS: its library takes authorities from the system alone'
            'SKIPPED: backup: Digest: what duplicity answers is wrong, and rclone knows none'
        )
        ;;
    *) clients=("$@") ;;
esac
# So many at the same time. They take turns on the processors, and their limits are for a busy machine.
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
for client in "${clients[@]}"; do
    start "$client" "$client"
    case $client in
        authentication | libreoffice | kio) ;;
        uploads | trash) with_basic "$client" ;;
        general) start "$client-tls" "$client" --tls ;;
        rclone | https) start "$client-user" "$client" --user 'anna:open:sesame' ;;
        lftp | rclone-mount)
            with_basic "$client"
            with_tls "$client"
            ;;
        backup)
            with_basic "$client"
            with_tls "$client"
            ;;
        cadaver | davfs2 | sitecopy | gvfs)
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
    # What a session bus says when it ends may stand behind it.
    last=$(grep -E ': [0-9]+ passed, [0-9]+ failed$' "$results/$run" | tail -n 1) || true
    if [[ $last =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    else
        failed=$((failed + 1))
        echo "FAILED: $run did not come to its end"
    fi
done
# Again, where they are seen: what was not tried.
for run in "${runs[@]}"; do grep '^SKIPPED: ' "$results/$run" || true; done
[ ${#not_here[@]} -eq 0 ] || printf '%s\n' "${not_here[@]}"
echo "clients: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
