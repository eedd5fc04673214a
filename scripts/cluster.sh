#!/bin/bash
# usage: scripts/cluster.sh: builds with the trait Postgres and runs Tests/Cluster with a server of its own.
# Needs the packages of the group `cluster`; as root, the server runs as the user postgres.
set -euo pipefail
cd "$(dirname "$0")/.."
flags=(--explicit-target-dependency-import-check error --traits default,Postgres --scratch-path .build/cluster)
swift build "${flags[@]}" --product ClusterTests
program=$(swift build "${flags[@]}" --show-bin-path)/ClusterTests

programs=$(find /usr/lib/postgresql -name initdb -printf '%h\n' | sort -V | tail -1)
[[ $programs ]] || { echo "cluster: PostgreSQL is not installed" >&2; exit 69; }
folder=$(mktemp -d /tmp/davit-cluster.XXXXXX)
as=()
if ((EUID == 0)); then
    chown postgres "$folder"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
stop() {
    (cd "$folder" && "${as[@]}" "$programs/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1) || true
    rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
"${as[@]}" "$programs/initdb" -D data -U postgres -A trust -N >/dev/null
"${as[@]}" "$programs/pg_ctl" -D data -w -l log -o "-k $folder -c listen_addresses='' -c fsync=off" start >/dev/null
"$program" "$folder"
