#!/usr/bin/env bash
# rclone: copy, sync twice, check, download, move and purge, with the whole tree.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin rclone "$@"

export RCLONE_CONFIG=$work/rclone.conf
{
    printf '[davit]\ntype = webdav\nurl = %s\nvendor = other\n' "$server_url"
    if [ -n "$user" ]; then printf 'user = %s\npass = %s\n' "$user" "$(rclone obscure "$password")"; fi
} >"$RCLONE_CONFIG"

# Makes a single attempt, so that retries do not hide a refusal.
run_rclone() { timeout "$limit" rclone --retries 1 --low-level-retries 1 "$@"; }

# transfers COUNT COMMAND...: checks that the command succeeds and copies exactly COUNT files.
transfers() {
    local expected=$1 count
    shift
    "$@" -v --stats 0 >"$work/transfers" 2>&1 || { cat "$work/transfers"; return 1; }
    count=$(grep -c ': Copied (' "$work/transfers" || true)
    [ "$count" -eq "$expected" ] || { echo "copied $count files instead of $expected"; tail "$work/transfers"; return 1; }
}

files=$(find "$tree" -type f | wc -l)

check "copy sends every file" transfers "$files" run_rclone copy --create-empty-src-dirs "$tree" davit:copied
check "the share has the copy" same_tree "$tree" "$share/copied"
check "check finds no difference" run_rclone check "$tree" davit:copied
check "the first sync sends every file" transfers "$files" run_rclone sync --create-empty-src-dirs "$tree" davit:synced
check "the second sync sends nothing" transfers 0 run_rclone sync --create-empty-src-dirs "$tree" davit:synced
check "the share has the synced tree" same_tree "$tree" "$share/synced"

printf 'a new file\n' >"$tree/new file"
printf 'longer than before' >>"$tree/folder 00/file 0001.txt"
rm "$tree/folder 00/file 0002.txt"
check "a sync after changes sends the changes" transfers 2 run_rclone sync --create-empty-src-dirs "$tree" davit:synced
check "the share has the changes and the removal" same_tree "$tree" "$share/synced"

check "copy the tree back" run_rclone copy --create-empty-src-dirs davit:synced "$work/back"
check "the downloaded tree is equal" same_tree "$tree" "$work/back"

check "move a folder on the server" run_rclone moveto davit:synced "davit:moved & renamed"
check "the moved folder is complete" same_tree "$tree" "$share/moved & renamed"
check "its old name does not exist" is_absent "$share/synced"
check "copy one file on the server" run_rclone copyto "davit:copied/large.bin" "davit:copy of large.bin"
check "the copy is equal" cmp "$tree/large.bin" "$share/copy of large.bin"

check "about shows the volume" run_rclone about davit:
check "purge" run_rclone purge davit:copied
check "purge the moved folder" run_rclone purge "davit:moved & renamed"
check "the purged folder does not exist" is_absent "$share/copied"

finish
