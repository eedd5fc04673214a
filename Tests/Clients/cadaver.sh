#!/usr/bin/env bash
# cadaver: uses its commands for files, properties and locks, and checks the share; then uploads the plain folders of the
# tree, file by file.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin cadaver "$@"

if [ -n "$user" ]; then
    printf 'machine 127.0.0.1\nlogin %s\npassword %s\n' "$user" "$password" >"$HOME/.netrc"
    chmod 600 "$HOME/.netrc"
fi
mkdir "$work/local"
cd "$work/local"

# session WANTED: runs the commands on standard input. Each line of WANTED is a basic regular expression that must match the
# output, and no command may fail. cadaver's exit status is not reliable.
session() {
    local wanted=$1 line
    timeout "$limit" cadaver "$server_url" >"$work/session" 2>&1 </dev/stdin || true
    if grep -i -E 'failed|error|could not|not found|refused|aborted' "$work/session"; then return 1; fi
    while IFS= read -r line; do
        [ -z "$line" ] || grep -q -e "$line" "$work/session" \
            || { echo "no line like: $line"; cat "$work/session"; return 1; }
    done <<<"$wanted"
}
# refused WHAT: checks that the command on standard input fails with the message WHAT.
refused() {
    timeout "$limit" cadaver "$server_url" >"$work/session" 2>&1 </dev/stdin || true
    grep -q -e "$1" "$work/session" || { cat "$work/session"; return 1; }
}

printf 'first version\n' >one.txt
printf 'second\n' >two.txt

check "mkcol, cd, put" session 'succeeded' <<'END'
mkcol work
cd work
put one.txt
mput one.txt two.txt
END
check "put wrote the bytes" cmp one.txt "$share/work/one.txt"
check "mput wrote the bytes" cmp two.txt "$share/work/two.txt"

check "ls shows names and sizes" session $'one.txt *14\ntwo.txt *7\nColl: *work' <<'END'
ls
ls work
END
check "get" session 'succeeded' <<'END'
get work/one.txt fetched.txt
END
check "get fetched the bytes" cmp one.txt fetched.txt
check "cat prints the content" session 'first version' <<'END'
cat work/one.txt
END

check "copy a file and a folder" session 'succeeded' <<'END'
copy work/one.txt work/three.txt
copy work "odd & name + 100%"
END
check "the copy of the file" cmp one.txt "$share/work/three.txt"
check "the copy of the folder" same_tree "$share/work" "$share/odd & name + 100%"
check "move a file and a folder" session 'succeeded' <<'END'
move work/three.txt work/four.txt
move "odd & name + 100%" moved
END
check "the moved file" cmp one.txt "$share/work/four.txt"
check "the old name does not exist" is_absent "$share/work/three.txt"
check "the moved folder" cmp one.txt "$share/moved/one.txt"

check "propset, propget, propnames, propdel" session $'Value of author.*the author\nauthor' <<'END'
propset work/one.txt author "the author"
propget work/one.txt author
propnames work/one.txt
END
check "a property moves with its file" session 'Value of author.*the author' <<'END'
move work/one.txt work/named.txt
propget work/named.txt author
move work/named.txt work/one.txt
END
check "propdel" session 'succeeded' <<'END'
propdel work/one.txt author
END
check "the property is removed" refused 'does not exist\|not defined\|[Nn]ot found\|no value\|404' <<'END'
propget work/one.txt author
END

check "chexec +" session 'succeeded' <<'END'
chexec + work/two.txt
END
check "the execute bit is set" test -x "$share/work/two.txt"
check "chexec -" session 'succeeded' <<'END'
chexec - work/two.txt
END
check "the execute bit is clear" test ! -x "$share/work/two.txt"

curl_login=()
[ -z "$user" ] || curl_login=(--anyauth --user "$user:$password")
# stranger STATUS: checks the status of a PUT by another client without the lock token.
stranger() {
    local status
    status=$(curl -s -o /dev/null -w '%{http_code}' "${curl_login[@]}" -T two.txt "${server_url}work/one.txt")
    [ "$status" = "$1" ] || { echo "returned $status instead of $1"; return 1; }
}

# The session with the lock pauses while the other client sends its request.
locked_session() {
    coproc cadaver_session { timeout "$limit" cadaver "$server_url" 2>&1; }
    local out=${cadaver_session[0]} in=${cadaver_session[1]} pid=$cadaver_session_PID line status=0
    printf 'lock work/one.txt\nput two.txt work/one.txt\ndiscover work/one.txt\ncat work/one.txt\n' >&"$in"
    while IFS= read -r -t 60 -u "$out" line; do
        echo "$line"
        [ "$line" != second ] || break
    done
    stranger 423 || status=1
    printf 'steal work/one.txt\nunlock work/one.txt\nquit\n' >&"$in"
    cat <&"$out"
    wait "$pid" || true
    return "$status"
}
locked() {
    locked_session >"$work/session" || { cat "$work/session"; return 1; }
    ! grep -i 'failed' "$work/session"
}
check "lock, put under the lock, discover, unlock; another client is refused meanwhile" locked
check "put under the lock wrote the bytes" cmp two.txt "$share/work/one.txt"
check "another client can write after the unlock" stranger 204

check "delete and rmcol" session 'succeeded' <<'END'
delete work/four.txt
rmcol moved
END
check "the deleted file does not exist" is_absent "$share/work/four.txt"
check "the removed folder does not exist" is_absent "$share/moved"
check "a name that does not exist is refused" refused '404' <<'END'
delete absent
END

# Uploads only the plain folders of the tree, because cadaver has no recursion, and parses quotes and backslashes in its own
# way.
upload_commands() {
    local folder file
    for folder in "$tree"/folder\ *; do
        printf 'mkcol "%s"\ncd "%s"\n' "${folder##*/}" "${folder##*/}"
        for file in "$folder"/*; do printf 'put "%s"\n' "$file"; done
        printf 'cd ..\n'
    done
}
upload_commands >"$work/upload"
check "put of every plain file of the tree" session 'succeeded' <"$work/upload"
for folder in "$tree"/folder\ *; do
    check "${folder##*/} arrived" same_tree "$folder" "$share/${folder##*/}"
done

finish
