#!/usr/bin/env bash
# Records the sessions in ../RecordedSessions again, after intended changes of davit's responses. Sessions of lftp and
# webdavclient3 can also be recorded, but are not kept: lftp reads the HTML pages of folders, so that every change of a page
# would be a difference, and webdavclient3 opens a connection for each request, so that each request would be a file.
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
        echo "record.sh: $session was not recorded" >&2
        exit 1
    fi
    mkdir -p "$here/../RecordedSessions"
    rm -rf "$here/../RecordedSessions/$session"
    cp -r "$work/$session" "$here/../RecordedSessions/$session"
    # Recordings are created with private permissions.
    chmod -R u=rwX,go=rX "$here/../RecordedSessions/$session"
done
