#!/usr/bin/env bash
# The trash: a tree deleted by rclone, as a whole and file by file, is restored unchanged.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

server_options() { echo --trash; }
begin trash "$@"
require rclone curl

export RCLONE_CONFIG=$work/rclone.conf
{
    printf '[davit]\ntype = webdav\nurl = %s\nvendor = other\n' "$server_url"
    if [ -n "$user" ]; then printf 'user = %s\npass = %s\n' "$user" "$(rclone obscure "$password")"; fi
} >"$RCLONE_CONFIG"
run_rclone() { timeout "$limit" rclone --retries 1 --low-level-retries 1 "$@"; }
run_curl() { curl -sS -f ${user:+--user "$user:$password" --basic} "$@"; }
trash() { timeout "$limit" "$DAVIT" trash "$1" "$share" --state-dir "$work/state" "${@:2}"; }

# Prints names, types, lengths, modes, times in nanoseconds and inodes.
facts() { (cd "$share/kept" && find . "$@" -printf '%p %y %s %m %T@ %i\n' | sort); }
is_as_before() { diff "$work/before" <(facts); }
files_are_as_before() { diff "$work/files" <(facts -type f); }
property='<propertyupdate xmlns="DAV:"><set><prop><p xmlns="urn:x">kept</p></prop></set></propertyupdate>'
question='<propfind xmlns="DAV:"><prop><p xmlns="urn:x"/></prop></propfind>'
marked="$server_url"'kept/folder%2000/file%200001.txt'
has_property() { run_curl -X PROPFIND -H 'Depth: 0' --data "$question" "$marked" | grep -q '>kept<'; }
# lists COUNT REASON: checks the number of entries, and that all of them have this reason.
lists() {
    local table
    table=$(trash list | tail -n +2)
    [ "$(grep -c . <<<"$table")" -eq "$1" ] && [ "$(grep -c " $2 " <<<"$table")" -eq "$1" ] || { head <<<"$table"; return 1; }
}
restore_all() { trash list | tail -n +2 | cut -d ' ' -f 1 | xargs timeout "$limit" "$DAVIT" trash restore --state-dir "$work/state" "$share"; }

# The trash does not keep macOS metadata files separately.
find "$tree" \( -name .DS_Store -o -name '._*' \) -delete
check "copy sends the tree" run_rclone copy --create-empty-src-dirs "$tree" davit:kept
check "a property is set" run_curl -o /dev/null -X PROPPATCH --data "$property" "$marked"
facts >"$work/before"
facts -type f >"$work/files"

check "purge" run_rclone purge davit:kept
check "the purged folder does not exist" is_absent "$share/kept"
check "the trash has one entry" lists 1 deleted
check "the folder is restored by its path" trash restore kept
check "everything is restored" is_as_before
check "the property is restored" has_property
check "the copy equals the tree" same_tree "$tree" "$share/kept"

check "delete, file by file" run_rclone delete davit:kept
check "no file remains" [ -z "$(find "$share/kept" -type f)" ]
check "the trash has all files" lists "$(wc -l <"$work/files")" deleted
check "all files are restored by ID" restore_all
check "each file is restored" files_are_as_before
check "the property is restored" has_property

printf 'other content' >"$tree/large.bin"
check "copy over a file" run_rclone copyto "$tree/large.bin" davit:kept/large.bin
check "the old file is in the trash" lists 1 overwritten
check "the old file is restored next to the new one" trash restore kept/large.bin
check "the restored file is the old one" [ "$(stat -c %i "$share/kept/large (1).bin")" = "$(awk '/large.bin/ { print $NF }' "$work/files")" ]

check "purge again" run_rclone purge davit:kept
check "empty keeps recent entries" trash empty --older-than 1
check "the entry remains" lists 1 deleted
check "empty the trash" trash empty
check "the trash folder is empty" [ -z "$(ls -A "$share/.davit-trashofthisshare")" ]
finish
