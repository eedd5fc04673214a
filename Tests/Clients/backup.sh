#!/usr/bin/env bash
# Backup programs: duplicity with its WebDAV backend, and restic through rclone. They back up, change, back up again, verify and
# restore.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-200}
begin backup "$@"

export PASSPHRASE=open-sesame RESTIC_PASSWORD=open-sesame XDG_CACHE_HOME=$work/cache
change() { printf 'changed\n' >>"$tree/large.bin" && rm -r "$tree/folder 00" && printf 'new\n' >"$tree/new file"; }

# duplicity supports Basic and Digest.
if command -v duplicity >/dev/null; then
    target=${server_url/http/webdav}
    [ -z "$user" ] || target=${target/:\/\//://$user:${password/:/%3A}@}
    # duplicity requires a password even without a user.
    [ -n "$user" ] || export FTP_PASSWORD=none
    options=(--no-encryption --archive-dir "$work/archive" --volsize 1 --num-retries 1 --timeout 120)
    [ -z "$authority" ] || options+=(--ssl-cacert-file "$authority")
    run_duplicity() { timeout "$limit" duplicity "$@"; }
    cp -r "$tree" "$work/tree before"
    check "duplicity backs up" run_duplicity full "${options[@]}" "$tree" "${target}duplicity"
    check "duplicity verifies" run_duplicity verify "${options[@]}" --compare-data "${target}duplicity" "$tree"
    change
    check "duplicity backs up the changes" run_duplicity incremental "${options[@]}" "$tree" "${target}duplicity"
    check "duplicity lists both backups" eval '[ "$(run_duplicity collection-status "${options[@]}" "${target}duplicity" | grep -cE "^ *(Full|Incremental) ")" -ge 2 ]'
    check "duplicity restores" run_duplicity restore "${options[@]}" "${target}duplicity" "$work/restored"
    check "the restored files equal the tree" same_tree "$tree" "$work/restored"
    check "duplicity removes old backups" run_duplicity remove-all-but-n-full 1 --force "${options[@]}" "${target}duplicity"
    rm -rf "$tree"
    mv "$work/tree before" "$tree"
else
    skipped duplicity "not installed"
fi

# restic has no WebDAV backend and uses rclone, which does not support Digest.
if ! command -v restic >/dev/null; then
    skipped restic "not installed"
elif [ "$schemes" = digest ]; then
    skipped restic "rclone does not support Digest"
else
    export RCLONE_CONFIG=$work/rclone.conf
    {
        printf '[davit]\ntype = webdav\nurl = %s\nvendor = other\n' "$server_url"
        if [ -n "$user" ]; then printf 'user = %s\npass = %s\n' "$user" "$(rclone obscure "$password")"; fi
    } >"$RCLONE_CONFIG"
    [ -z "$authority" ] || export RCLONE_CA_CERT=$authority
    export RESTIC_REPOSITORY=rclone:davit:restic
    run_restic() { timeout "$limit" restic -q "$@"; }
    check "restic creates a repository" run_restic init
    check "restic backs up" run_restic backup "$tree"
    change
    check "restic backs up the changes" run_restic backup "$tree"
    check "restic has two snapshots" eval '[ "$(timeout "$limit" restic snapshots --json | grep -o "\"short_id\"" | wc -l)" = 2 ]'
    check "restic finds no errors in the repository" run_restic check --read-data
    check "restic restores" run_restic restore latest --target "$work/restic"
    check "the restored files equal the tree" same_tree "$tree" "$work/restic$tree"
    check "restic forgets and prunes" run_restic forget --keep-last 1 --prune
    check "restic finds no errors after pruning" run_restic check --read-data
fi

finish
