#!/usr/bin/env bash
# sitecopy: initializes, updates, changes and fetches a site.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-160} recorded=yes
begin sitecopy "$@"
require sitecopy curl
[ -z "$authority" ] || skip "asks the user whether to trust the certificate"

port=${server_url##*:} port=${port%/}
mkdir -m 700 "$HOME/.sitecopy"
{
    printf 'site test\n  server 127.0.0.1\n  port %s\n  protocol webdav\n  local %s\n  remote /site/\n  permissions ignore\n' \
        "$port" "$tree"
    [ -z "$user" ] || printf '  username %s\n  password %s\n' "$user" "$password"
} >"$HOME/.sitecopyrc"
chmod 600 "$HOME/.sitecopyrc"
run_sitecopy() { timeout "$limit" sitecopy --rcfile="$HOME/.sitecopyrc" --storepath="$HOME/.sitecopy" "$@" test </dev/null; }
login=(${user:+--anyauth --user "$user:$password"})

# sitecopy cannot represent these names.
rm -rf "$tree/odd names/"*'"'* "$tree/odd names/"*'*'* "$tree/odd folders"
printf '<p>Start' >"$tree/index.html"

check "create the folder of the site" curl -sS -f "${login[@]}" -X MKCOL "${server_url}site"
check "sitecopy --initialize" run_sitecopy --initialize
check "sitecopy --update sends everything" run_sitecopy --update
check "the share has the site" same_tree "$tree" "$share/site"
printf 'changed\n' >>"$tree/folder 00/$(ls "$tree/folder 00" | head -n 1)"
mv "$tree/large.bin" "$tree/renamed.bin"
rm -r "$tree/level 0"
check "sitecopy --update sends changes" run_sitecopy --update
check "the share has the changes" same_tree "$tree" "$share/site"
# --fetch only reads the state of the server, as required for a new copy of the site.
check "sitecopy --fetch" run_sitecopy --fetch
cp -r "$tree" "$work/before"
rm -r "$tree/folder 00" "$tree/index.html"
check "sitecopy --synchronize restores the site" run_sitecopy --synchronize
check "the site is equal" same_tree "$work/before" "$tree"

finish
