#!/usr/bin/env bash
# KDE's KIO: lists, copies, renames, moves and removes with kioclient.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Programs started by the session bus have no display, either, so set this before the bus starts.
export QT_QPA_PLATFORM=offscreen
in_session_bus "$@"
# kioclient starts for each file, so use few files.
TREE_FILES=small
begin kio "$@"
require dbus-run-session kioclient5
limit=${LIMIT_SECONDS:-240}
export XDG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache
mkdir -m 700 "$XDG_RUNTIME_DIR"
[ -z "$authority" ] || skip "asks in a window whether to trust the certificate"
place=${server_url/http/webdav}
[ -z "$user" ] || place=${place/:\/\//://$user:${password/:/%3A}@}
# Output goes to a file, because the daemons that kioclient starts would inherit a pipe and keep it open.
run_kio() { timeout "$limit" kioclient5 --noninteractive "$@" 2>>"$work/kio.err"; }

mkdir "$work/made"
check "copy a folder in" run_kio copy "$work/made" "$place"
check "the copied folder exists" [ -d "$share/made" ]
check "copy a tree in" run_kio copy "$tree" "${place}made/"
check "the share has the tree" same_tree "$tree" "$share/made/tree"
lists() {
    run_kio ls "${place}made/tree/folder%2000/" >"$work/list" || return 1
    diff <(grep -vxE "\.?" "$work/list" | sort) <(ls "$tree/folder 00" | sort)
}
check "a listing has the names" lists
name=$(ls "$tree/folder 00" | head -n 1)
check "read a file" eval 'run_kio cat "${place}made/tree/folder%2000/${name// /%20}" >"$work/got" && cmp "$work/got" "$tree/folder 00/$name"'
check "copy a tree out" run_kio copy "${place}made/tree" "$work/back"
check "the copy equals the tree" eval 'same_tree "$tree" "$work/back" || same_tree "$tree" "$work/back/tree"'
check "copy over a file" run_kio --overwrite copy "$tree/folder 00/$(ls "$tree/folder 00" | head -n 1)" "${place}made/tree/large.bin"
check "the file has the new content" cmp "$tree/folder 00/$(ls "$tree/folder 00" | head -n 1)" "$share/made/tree/large.bin"
check "move a file" run_kio move "${place}made/tree/large.bin" "${place}made/new%20name.bin"
check "the file has the new name" [ -f "$share/made/new name.bin" ]
check "move a folder" run_kio move "${place}made/tree/odd%20names" "${place}made/moved"
check "the moved folder is complete" same_tree "$tree/odd names" "$share/made/moved"
check "stat has the size" eval 'run_kio stat "${place}made/new%20name.bin" >"$work/stat" && [[ $(cat "$work/stat") == *"$(stat -c %s "$share/made/new name.bin")"* ]]'
check "remove a file" run_kio remove "${place}made/new%20name.bin"
check "the removed file does not exist" is_absent "$share/made/new name.bin"
check "remove a folder recursively" run_kio remove "${place}made"
check "the removed folder does not exist" is_absent "$share/made"

finish
