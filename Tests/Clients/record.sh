#!/usr/bin/env bash
# Records the sessions of ../RecordedSessions anew, for when davit is to answer otherwise than it did. What lftp and
# webdavclient3 do can be recorded as well, and is not kept: the one reads folders' pages, whose every change would be a
# difference, and the other makes a connection, and so a file, for each request.
#
#   Tests/Clients/record.sh [git | sitecopy | webdav4 | libreoffice | lftp | webdavclient3]...
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sessions=("$@")
[ ${#sessions[@]} -gt 0 ] || sessions=(git sitecopy webdav4 libreoffice)
work=$(mktemp -d "${TMPDIR:-/tmp}/davit-sessions.XXXXXX")
trap 'rm -rf "$work"' EXIT

for session in "${sessions[@]}"; do
    client=$session
    case $session in webdav*) client=python ;; esac
    mkdir "$work/$session"
    TREE_FILES=small PYTHON_CLIENTS=$session KEEP_RECORDINGS=$work/$session "$here/$client.sh"
    if [ -z "$(ls "$work/$session")" ]; then
        echo "record.sh: there is no recording of $session" >&2
        exit 1
    fi
    mkdir -p "$here/../RecordedSessions"
    rm -rf "$here/../RecordedSessions/$session"
    cp -r "$work/$session" "$here/../RecordedSessions/$session"
    # Recordings are private when they are made.
    chmod -R u=rwX,go=rX "$here/../RecordedSessions/$session"
done
