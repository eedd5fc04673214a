#!/usr/bin/env bash
# GNOME's gvfs: mounts, lists, copies, saves, renames, moves and removes with gio, and through the FUSE mount.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

in_session_bus "$@"

TREE_FILES=${TREE_FILES:-160}
begin gvfs "$@"
require dbus-run-session gio /usr/libexec/gvfsd-dav
export XDG_RUNTIME_DIR=$work/run XDG_DATA_HOME=$work/data GVFS_DISABLE_FUSE='' GIO_USE_VFS=gvfs
mkdir -m 700 "$XDG_RUNTIME_DIR"
export SSL_CERT_FILE=${authority:-/etc/ssl/certs/ca-certificates.crt}

place=dav://127.0.0.1:${server_url##*:}
if [ -n "$authority" ]; then place=davs://localhost:${server_url##*:}; fi
[ -z "$user" ] || place=${place/:\/\//://$user@}
run_gio() { timeout "$limit" gio "$@"; }
clean_up_client() {
    timeout 120 gio mount -u "$place" >/dev/null 2>&1
    while mountpoint -q "$XDG_RUNTIME_DIR/gvfs"; do umount -l "$XDG_RUNTIME_DIR/gvfs" || fusermount3 -uz "$XDG_RUNTIME_DIR/gvfs" || break; done
    return 0
}
# gio reads the answers to its questions, including the password, from standard input.
mount_share() {
    if [ -n "$user" ]; then
        printf '%s\n' "$password" | run_gio mount "$place"
    else
        run_gio mount "$place"
    fi
}
check "mount" mount_share
# gio does not copy folders recursively.
copy_tree() {
    local from=$1 to=$2 path
    run_gio mkdir "$to" || return 1
    (cd "$from" && find . -mindepth 1 -type d | sort) | sed 's,^\./,,' >"$work/folders"
    while IFS= read -r path; do run_gio mkdir "$to/$(escape "$path")" || return 1; done <"$work/folders"
    (cd "$from" && find . -type f | sort) | sed 's,^\./,,' >"$work/files"
    while IFS= read -r path; do run_gio copy "$from/$path" "$to/$(escape "$path")" || return 1; done <"$work/files"
}
escape() { python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1]))' "$1"; }
check "copy a tree in" copy_tree "$tree" "${place}tree"
check "the share has the tree" same_tree "$tree" "$share/tree"
lists() { [ "$(run_gio list -h "${place}tree/odd%20names" 2>/dev/null | sort)" = "$(ls -A "$tree/odd names" | sort)" ]; }
check "a listing has the names" lists
check "read a file" eval 'run_gio cat "${place}tree/large.bin" | cmp - "$tree/large.bin"'
check "replace the content of a file" eval 'printf saved | run_gio save "${place}tree/large.bin"'
check "the file has the new content" holds "$share/tree/large.bin" saved
stale() { ! printf lost | run_gio save --etag '"stale"' "${place}tree/large.bin"; }
check "a save with an outdated entity tag fails" stale
check "the content is unchanged" holds "$share/tree/large.bin" saved
check "create a folder" run_gio mkdir "${place}made"
check "rename a file" run_gio rename "${place}tree/large.bin" "name with ü & +.bin"
check "the file has the new name" holds "$share/tree/name with ü & +.bin" saved
check "move a folder" run_gio move "${place}tree/odd%20names" "${place}made/moved"
check "the moved folder is complete" same_tree "$tree/odd names" "$share/made/moved"
check "remove a file" run_gio remove "${place}tree/$(escape 'name with ü & +.bin')"
check "the removed file does not exist" is_absent "$share/tree/name with ü & +.bin"
check "information has size and type" eval '[[ $(run_gio info "${place}tree/folder%2000/file%200000.txt" 2>&1 || run_gio info "$(run_gio list -u "${place}tree/folder%2000" | head -n 1)") == *standard::size* ]]'
check "the free space is reported" eval '[[ $(run_gio info -f "$place") == *filesystem::free* ]]'

# Repeats these steps through the FUSE mount, which programs without support for gvfs use.
view=
for _ in {1..1200}; do
    mkdir -p "$XDG_RUNTIME_DIR/gvfs"
    view=$(find "$XDG_RUNTIME_DIR/gvfs" -mindepth 1 -maxdepth 1 2>/dev/null | head -n 1) || true
    [ -z "$view" ] || break
    mountpoint -q "$XDG_RUNTIME_DIR/gvfs" || /usr/libexec/gvfsd-fuse "$XDG_RUNTIME_DIR/gvfs" 2>/dev/null || true
    sleep 0.1
done
if [ -n "$view" ]; then
    # gvfs mounts the highest folder that answers, which is the root.
    [ -z "$limited" ] || view+=/team/own
    check "FUSE: the folder exists" same_tree "$tree/folder 00" "$view/tree/folder 00"
    check "FUSE: copy a file" cp "$tree/folder 00/$(ls "$tree/folder 00" | head -n 1)" "$view/made/copy"
    # The upload starts when a file is closed, and close returns before the upload is complete.
    arrives() { for _ in {1..1200}; do cmp -s "$@" && return 0; sleep 0.1; done; cmp "$@"; }
    check "FUSE: the copied file is complete" arrives "$tree/folder 00/$(ls "$tree/folder 00" | head -n 1)" "$share/made/copy"
    check "FUSE: rename" mv "$view/made/copy" "$view/made/copy 2"
    check "FUSE: remove" rm "$view/made/copy 2"
    check "FUSE: the removed file does not exist" is_absent "$share/made/copy 2"
else
    skipped "the FUSE view" "not available"
fi
check "unmount" run_gio mount -u "$place"

finish
