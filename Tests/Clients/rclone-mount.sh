#!/usr/bin/env bash
# rclone in everyday use: bisync, a mount with its cache, and checksums and times as for ownCloud and Nextcloud.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-200}
begin rclone-mount "$@"
require rclone
[ "$schemes" != digest ] || skip "no support for Digest"
mount_point=$work/mount
clean_up_client() {
    mountpoint -q "$mount_point" 2>/dev/null || return 0
    fusermount -u "$mount_point" 2>/dev/null || fusermount3 -u "$mount_point" 2>/dev/null || umount -l "$mount_point"
}

export RCLONE_CONFIG=$work/rclone.conf RCLONE_CACHE_DIR=$work/cache
[ -z "$authority" ] || export RCLONE_CA_CERT=$authority
for vendor in owncloud nextcloud; do
    printf '[%s]\ntype = webdav\nurl = %s\nvendor = %s\n' "$vendor" "$server_url" "$vendor"
    if [ -n "$user" ]; then printf 'user = %s\npass = %s\n' "$user" "$(rclone obscure "$password")"; fi
done >"$RCLONE_CONFIG"
run_rclone() { timeout "$limit" rclone --retries 1 --low-level-retries 1 "$@"; }
# transfers COUNT COMMAND...: checks that the command succeeds and copies exactly COUNT files.
transfers() {
    local expected=$1 count
    shift
    "$@" -v --stats 0 >"$work/transfers" 2>&1 || { cat "$work/transfers"; return 1; }
    count=$(grep -c ': Copied (' "$work/transfers" || true)
    [ "$count" -eq "$expected" ] || { echo "copied $count files instead of $expected"; tail "$work/transfers"; return 1; }
}
# WebDAV times have a resolution of seconds.
same_times() {
    diff <(cd "$1" && find . -type f -printf '%p %T@\n' | sed 's/\.[0-9]*$//' | sort) \
        <(cd "$2" && find . -type f -printf '%p %T@\n' | sed 's/\.[0-9]*$//' | sort)
}
files=$(find "$tree" -type f | wc -l)
find "$tree" -type f -exec touch -d '2021-03-04 05:06:07 UTC' {} +

for vendor in owncloud nextcloud; do
    check "$vendor: copy" transfers "$files" run_rclone copy --create-empty-src-dirs "$tree" "$vendor:$vendor"
    check "$vendor: the content is equal" same_tree "$tree" "$share/$vendor"
    check "$vendor: the times are equal" same_times "$tree" "$share/$vendor"
    check "$vendor: check by checksum" run_rclone check --checksum "$tree" "$vendor:$vendor"
    touch -d '2022-01-01 00:00:00 UTC' "$tree/large.bin"
    check "$vendor: a file with only a newer time is not sent again" transfers 0 run_rclone sync --checksum "$tree" "$vendor:$vendor"
    check "$vendor: purge" run_rclone purge "$vendor:$vendor"
    touch -d '2021-03-04 05:06:07 UTC' "$tree/large.bin"
done

# Changes on both sides.
cp -rp "$tree" "$work/side"
# bisync syncs files, and the folders that contain them.
find "$work/side" -type d -empty -delete
run_bisync() { run_rclone bisync --workdir "$work/bisync" "$work/side" nextcloud:both "$@"; }
check "create a folder for both sides" run_rclone mkdir nextcloud:both
check "the first bisync" run_bisync --resync
check "both sides are equal" same_tree "$work/side" "$share/both"
printf 'here\n' >"$work/side/here"
rm "$work/side/large.bin"
printf 'there\n' >"$work/there" && check "a change on the other side" run_rclone copyto "$work/there" nextcloud:both/there
check "bisync" run_bisync
check "both sides have both changes" same_tree "$work/side" "$share/both"
check "the change of the other side arrived" holds "$work/side/there" there
check "bisync has nothing to do" run_bisync

if [ ! -e /dev/fuse ]; then
    skipped "the mount" "/dev/fuse is missing"
else
    mkdir "$mount_point"
    mount_share() {
        timeout "$limit" rclone mount nextcloud:both "$mount_point" --vfs-cache-mode writes --vfs-write-back 0s --dir-cache-time 1s \
            --log-file "$work/mount.log" --daemon && mountpoint -q "$mount_point"
    }
    # The mount uploads files from its cache in the background.
    is_written() {
        local _
        for _ in {1..1200}; do
            [ "$(cat "$1" 2>/dev/null)" = "$2" ] && return 0
            sleep 0.1
        done
        tail "$work/mount.log"
        return 1
    }
    check "mount" mount_share
    check "read through the mount" same_tree "$work/side" "$mount_point"
    check "write through the mount" eval 'printf "one\ntwo\n" >"$mount_point/written"'
    check "the file arrives" is_written "$share/both/written" $'one\ntwo'
    check "append through the mount" eval 'printf "three\n" >>"$mount_point/written"'
    check "the appended data arrives" is_written "$share/both/written" $'one\ntwo\nthree'
    check "rename through the mount" mv "$mount_point/written" "$mount_point/renamed"
    check "the share has the name" is_written "$share/both/renamed" $'one\ntwo\nthree'
    check "remove through the mount" rm "$mount_point/renamed"
    check "the removed file does not exist" is_absent "$share/both/renamed"
    check "the mount reports the size of the volume" eval '[ "$(df --output=size -B1 "$mount_point" | tail -n 1)" -eq "$(df --output=size -B1 "$share" | tail -n 1)" ] ||
        [ "$(df --output=avail -B1M "$mount_point" | tail -n 1)" -gt 0 ]'
    check "unmount" clean_up_client
fi

finish
