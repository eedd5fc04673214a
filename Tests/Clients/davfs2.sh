#!/usr/bin/env bash
# davfs2: mounts the share, copies the tree, edits, renames, removes and unmounts, then checks the share.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin davfs2 "$@"
mount_point=$work/mount

clean_up_client() {
    mountpoint -q "$mount_point" 2>/dev/null || return 0
    timeout 120 umount "$mount_point" || umount -l "$mount_point"
}

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

mkdir "$mount_point" "$work/cache"
# The cache folder is owned by the mounting user and writable by the group of the daemon, like the system-wide one.
"${as_root[@]}" chown "$(id -un)":davfs2 "$work/cache"
"${as_root[@]}" chmod 775 "$work/cache"
chmod 755 "$work"
{
    # With the default buffer size, reading folders fails with EINVAL on recent kernels.
    printf 'use_locks 1\ndelay_upload 0\nask_auth 0\nbuf_size 256\n'
    printf 'cache_dir %s\nsecrets %s\n' "$work/cache" "$work/secrets"
} >"$work/davfs2.conf"
if [ -n "$user" ]; then printf '"%s" "%s" "%s"\n' "$server_url" "$user" "$password"; fi >"$work/secrets"
chmod 600 "$work/secrets"
"${as_root[@]}" chown root "$work/secrets"

mount_share() {
    "${as_root[@]}" timeout 120 mount -t davfs -o "conf=$work/davfs2.conf,uid=$(id -u)" \
        "$server_url" "$mount_point" </dev/null
}
# umount.davfs returns after the last upload.
unmount_share() { "${as_root[@]}" timeout "$limit" umount "$mount_point"; }

# davfs2 moves refused uploads to lost+found.
nothing_lost() {
    local found
    found=$("${as_root[@]}" find "$work/cache" -path '*/lost+found/*')
    [ -z "$found" ] || { echo "$found"; return 1; }
}

if [ ! -e /dev/fuse ]; then
    echo "davfs2: /dev/fuse is missing"
    exit 1
fi

# systemd creates this link at boot; a chroot lacks it, and mount.davfs requires it.
[ -e /etc/mtab ] || "${as_root[@]}" ln -sf ../proc/self/mounts /etc/mtab

check "mount" mount_share
# Without the mount, the commands below would only test a local folder.
mountpoint -q "$mount_point" || { tail -n 20 "$server_log"; exit 1; }

check "copy the tree in" cp -r "$tree" "$mount_point/tree"
check "the copied tree is equal through the mount" same_tree "$tree" "$mount_point/tree"

edit() { printf 'edited\n' >>"$1/folder 00/file 0003.txt" && printf 'replaced\n' >"$1/folder 00/file 0004.txt"; }
rename() {
    mv "$1/folder 01" "$1/renamed & moved" \
        && mv "$1/folder 00/file 0005.txt" "$1/renamed & moved/a+b %41.txt" \
        && mv -f "$1/folder 00/file 0006.txt" "$1/folder 00/file 0007.txt"
}
remove() { rm "$1/folder 00/file 0008.txt" && rm -r "$1/folder 02"; }
# Applies each change to the mount and to the source, which must stay equal.
both() { "$1" "$tree" && "$1" "$mount_point/tree"; }

check "edit files" both edit
check "rename files and a folder" both rename
check "remove a file and a folder" both remove
check "unmount, which waits for uploads" unmount_share
check "lost+found is empty" nothing_lost
check "the share holds the tree with the changes" same_tree "$tree" "$share/tree"

# The second mount starts with the existing cache, which must be consistent with the server.
check "mount again" mount_share
check "the tree is unchanged after the second mount" same_tree "$tree" "$mount_point/tree"
check "remove everything" rm -r "$mount_point/tree"
check "unmount again" unmount_share
check "lost+found is empty again" nothing_lost
check "the share is empty" is_absent "$share/tree"

finish
