#!/usr/bin/env bash
# lftp: mirrors a tree in both directions, changes, renames and removes. lftp reads listings from the HTML pages of folders
# here, because with http:use-propfind, it mixes up the responses to pipelined requests.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-120} recorded=yes
begin lftp "$@"
require lftp
[ "$schemes" != digest ] || skip "answers SHA-256 challenges with MD5"

# lftp escapes some characters in file names in its own way; other clients test these names.
rm -rf "$tree/odd names" "$tree/odd folders"
mkdir "$tree/names"
for name in 'with space' 'a+b' 'a&b' 'a=b' 'ü composed' '日本語' 'x,y' "a'b"; do printf '%s' "$name" >"$tree/names/$name"; done

run_lftp() {
    local settings='set net:max-retries 3; set net:reconnect-interval-base 0;
        set cmd:fail-exit yes; set net:timeout 60; set xfer:clobber yes;'
    [ -z "$authority" ] || settings+="set ssl:ca-file $authority;"
    timeout "$limit" lftp -c "$settings open ${user:+-u '$user,$password'} ${server_url%/}; $1"
}

check "mirror up" run_lftp "mirror -R '$tree' tree"
check "the share has the tree" same_tree "$tree" "$share/tree"
check "mirror down" run_lftp "mirror tree '$work/back'"
check "the downloaded tree is equal" same_tree "$tree" "$work/back"
lists() { [ "$(run_lftp "cls -1 tree/names/" | sort)" = "$(find "$tree/names" -type f -printf 'tree/names/%f\n' | sort)" ]; }
check "a listing has the names" lists
check "create a folder" run_lftp "mkdir made"
check "put a file into it" run_lftp "put -O made '$tree/large.bin'"
check "the file is complete" cmp "$tree/large.bin" "$share/made/large.bin"
check "resume a download" eval 'head -c 1000000 "$tree/large.bin" >"$work/large.bin" &&
    run_lftp "get -c made/large.bin -o $work/large.bin" && cmp "$tree/large.bin" "$work/large.bin"'
check "rename the file" run_lftp "mv made/large.bin 'made/new name.bin'"
check "the file has the new name" cmp "$tree/large.bin" "$share/made/new name.bin"
check "remove the file" run_lftp "rm 'made/new name.bin'"
check "the removed file does not exist" is_absent "$share/made/new name.bin"
check "remove folders recursively" run_lftp "rm -r made tree"
check "the removed folders do not exist" is_absent "$share/tree"

finish
