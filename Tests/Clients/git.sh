#!/usr/bin/env bash
# git: a bare repository in the share; clone, push with locks (git http-push), fetch, branches, a tag, forced push.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-60} recorded=yes
begin git "$@"
require git curl
# A recording is replayed against an empty share, so the repository is uploaded over WebDAV, too.
export GIT_CONFIG_GLOBAL=$HOME/gitconfig GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
git config --global user.name Anna
git config --global user.email anna@example.com
git config --global init.defaultBranch main
git config --global gc.auto 0
# Set the environment variable, because it takes precedence over the setting.
[ -z "$authority" ] || export GIT_SSL_CAINFO=$authority
# git http-push only uses credentials in the URL: the credential helper is called for the first request only.
set_remote() {
    local address=${server_url}repository.git
    [ -z "$user" ] || address=${address/:\/\//://$user:${password/:/%3A}@}
    remote=$address
}
set_remote
curl_options=(-sS -f ${authority:+--cacert "$authority"} ${user:+--anyauth --user "$user:$password"})

# upload FOLDER URL: uploads the folder recursively.
upload() {
    local folder=$1 url=$2 path
    (cd "$folder" && find . -mindepth 1 -type d | sort) | sed 's,^\./,,' >"$work/folders"
    curl "${curl_options[@]}" -X MKCOL "$url" || return 1
    while IFS= read -r path; do curl "${curl_options[@]}" -X MKCOL "$url/$path" || return 1; done <"$work/folders"
    (cd "$folder" && find . -type f | sort) | sed 's,^\./,,' >"$work/files"
    while IFS= read -r path; do curl "${curl_options[@]}" -T "$folder/$path" "$url/$path" || return 1; done <"$work/files"
}
run_git() { timeout "$limit" git "$@"; }
head_of() { git --git-dir "$share/repository.git" rev-parse "$1"; }
same_head() { [ "$(git -C "$work/$1" rev-parse HEAD)" = "$(head_of "$2")" ]; }

git init -q --bare "$work/repository.git"
rm -rf "$work/repository.git/hooks"
git --git-dir "$work/repository.git" update-server-info
check "the repository is put into the share" upload "$work/repository.git" "${server_url}repository.git"

git init -q "$work/first"
cp -r "$tree/odd names" "$work/first/odd names"
git -C "$work/first" add -A
git -C "$work/first" commit -qm first
check "git push" run_git -C "$work/first" push -q "$remote" main
check "the share has the commit" same_head first main
check "no lock remains" no_locks "${server_url}repository.git/" "${curl_options[@]}"
git --git-dir "$share/repository.git" update-server-info
check "git fsck finds nothing wrong" run_git --git-dir "$share/repository.git" fsck --full --strict

echo second >"$work/first/second"
git -C "$work/first" add -A
git -C "$work/first" commit -qm second
git -C "$work/first" branch other
git -C "$work/first" tag v1
check "git push of a branch and a tag" run_git -C "$work/first" push -q "$remote" main other v1
check "the share has the branch" same_head first other
git -C "$work/first" commit -q --amend -m 'second, rewritten'
refused() { ! run_git -C "$work/first" push -q "$remote" main; }
check "a push that loses commits is refused" refused
check "the same push succeeds with force" run_git -C "$work/first" push -q "$remote" +main
check "the share has the forced commit" same_head first main
check "git push deletes a branch" run_git -C "$work/first" push -q "$remote" :other
gone() { ! git --git-dir "$share/repository.git" rev-parse -q --verify other; }
check "the branch is deleted" gone

# Writes the files for the dumb protocol, as a hook of the repository would.
git --git-dir "$share/repository.git" update-server-info
# The command has changed the share directly, which a replay cannot repeat, so the recording ends here.
stop_recording() { stop_server && start_server "$share" "$work/state" "${login_options[@]}"; }
check "the server starts again" stop_recording
set_remote
check "git clone" run_git clone -q "$remote" "$work/clone"
check "the clone has the commit" same_head clone main
check "the clone has the files" same_tree "$work/first/odd names" "$work/clone/odd names"
check "git fetch" run_git -C "$work/clone" fetch -q --tags
check "the tag was fetched" run_git -C "$work/clone" rev-parse -q --verify v1

finish
