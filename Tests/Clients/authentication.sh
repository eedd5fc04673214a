#!/usr/bin/env bash
# curl and Python's requests log in with each scheme and each kind of account; repeated failures are throttled.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=20
begin authentication --user 'anna:open:sesame' "$@"
printf 'content\n' >"$share/a file.txt"
head -c 3000000 /dev/urandom >"$work/large"
file=${server_url}a%20file.txt

# answered STATUS CURL-ARGUMENT...
answered() {
    local expected=$1 status
    shift
    status=$(curl -s -o "$work/answer" -D "$work/head" -w '%{http_code}' --max-time 120 "$@")
    [ "$status" = "$expected" ] || { echo "returned $status instead of $expected"; cat "$work/head"; return 1; }
}
# uses SCHEME CURL-ARGUMENT...: checks the scheme that curl chose, and that the request succeeded.
uses() {
    local scheme=$1
    shift
    curl -sv --fail -o /dev/null --max-time 120 "$@" 2>"$work/trace" || { cat "$work/trace"; return 1; }
    grep -q "^> Authorization: $scheme" "$work/trace" || { grep '^[<>]' "$work/trace"; return 1; }
}

check "without a password" answered 401 "$file"
best_first() { answered 401 "$file" && [[ $(grep -m 1 '^WWW-Authenticate' "$work/head") == *Digest*SHA-256* ]]; }
check "the best scheme comes first" best_first
check "curl --basic" uses 'Basic ' --basic -u 'anna:open:sesame' "$file"
check "curl --digest, with SHA-256" uses 'Digest .*algorithm=SHA-256' --digest -u 'anna:open:sesame' "$file"
check "curl --anyauth takes Digest" uses 'Digest ' --anyauth -u 'anna:open:sesame' "$file"
check "curl --digest with a query" uses 'Digest ' --digest -u 'anna:open:sesame' "$file?a=b&c=%20d"
for scheme in --basic --digest; do
    check "curl $scheme with a wrong password" answered 401 $scheme -u 'anna:open' "$file"
done
# Restarts to reset the failure counters, so that the next checks are not delayed.
restart() { stop_server && start_server "$share" "$work/state" "$@" && file=${server_url}a%20file.txt; }
check "restart" restart --user 'anna:open:sesame'

check "curl --digest uploads" answered 201 --digest -u 'anna:open:sesame' -T "$work/large" "${server_url}large"
check "the uploaded file is complete" cmp "$work/large" "$share/large"

# one_nonce: checks that 50 requests on one connection need only a single challenge.
one_nonce() {
    curl -s --digest -u 'anna:open:sesame' -o /dev/null -w '%{http_code} %{num_connects}\n' "$file?n=[1-50]" >"$work/codes"
    [ "$(grep -c '^200' "$work/codes")" -eq 50 ] || { sort "$work/codes" | uniq -c; return 1; }
    [ "$(awk '{ n += $2 } END { print n }' "$work/codes")" -eq 1 ] || { echo "more than one connection"; return 1; }
}
check "50 requests with one nonce" one_nonce
in_parallel() {
    curl -s -Z --digest -u 'anna:open:sesame' -o /dev/null -w '%{http_code}\n' "$file?n=[1-100]" >"$work/codes"
    [ "$(grep -c '^200' "$work/codes")" -eq 100 ] || { sort "$work/codes" | uniq -c; return 1; }
}
check "100 requests at the same time" in_parallel

# requests supports MD5 and SHA-256, and uses the last challenge; each thread has its own nonce.
cat >"$work/session.py" <<'END'
import sys
import threading
import requests
from requests.auth import HTTPBasicAuth, HTTPDigestAuth

url = sys.argv[1]
failures = []


def work(number, auth):
    session = requests.Session()
    session.auth = auth
    challenges = 0
    target = f"{url}from requests {number}.bin"
    content = bytes([number]) * 100000
    for turn in range(10):
        for method, data, wanted in (("PUT", content, (201, 204)), ("GET", None, (200,)),
                                     ("PROPFIND", None, (207,)), ("DELETE", None, (204,))):
            answer = session.request(method, target, data=data, headers={"Depth": "0"})
            challenges += len(answer.history)
            if answer.status_code not in wanted:
                failures.append(f"{method} {answer.status_code}")
            if method == "GET" and answer.content != content:
                failures.append("GET returned different bytes")
    # There is only one challenge, at the start, because a nonce is valid for more than 40 requests.
    if challenges != (1 if isinstance(auth, HTTPDigestAuth) else 0):
        failures.append(f"{challenges} challenges")


auths = [HTTPDigestAuth("anna", "open:sesame") for _ in range(6)] + [HTTPBasicAuth("anna", "open:sesame")] * 2
threads = [threading.Thread(target=work, args=item) for item in enumerate(auths)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
wrong = requests.get(url, auth=HTTPDigestAuth("anna", "wrong")).status_code
if wrong != 401:
    failures.append(f"a wrong password returned {wrong}")
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
END
check "Python's requests, by Digest and Basic" python3 "$work/session.py" "$server_url"

# Accounts in a file, created with davit password.
made() { (umask 077 && printf '%s\n' "$2" | "$DAVIT" password "${@:3}" >"$1") && ! grep -q "$2" "$1"; }
check "davit password" made "$work/hashed" 'a long password' anna
check "davit password --digest" made "$work/secrets" 'a long password' anna --digest --realm 'my files'
check "start with passwords stored as hashes" restart --user-file "$work/hashed"
check "curl --basic, password stored as a hash" uses 'Basic ' --basic -u 'anna:a long password' "$file"
check "curl --anyauth uses Basic if the password is stored as a hash" \
    uses 'Basic ' --anyauth -u 'anna:a long password' "$file"
check "Digest is not offered if the password is stored as a hash" \
    answered 401 --digest -u 'anna:a long password' "$file"
check "a wrong password is refused if the password is stored as a hash" \
    answered 401 --basic -u 'anna:a short password' "$file"
check "start with Digest secrets" restart --user-file "$work/secrets" --realm 'my files'
check "curl --basic, password stored as a Digest secret" \
    uses 'Basic ' --basic -u 'anna:a long password' "$file"
check "curl --digest, password stored as a Digest secret" \
    uses 'Digest .*realm="my files"' --digest -u 'anna:a long password' "$file"

refused_start() { ! timeout 120 "$DAVIT" serve "$share" --port 0 --state-dir "$work/other" "$@" >"$work/out" 2>&1; }
check "secrets of another realm are refused" refused_start --user-file "$work/secrets"
check "Digest alone requires Digest secrets" refused_start --user-file "$work/hashed" --auth digest
(umask 077; printf 'anna:$2y$05$abcdefghijklmnopqrstuu\n' >"$work/foreign")
check "hashes of other programs are refused" refused_start --user-file "$work/foreign"

# Passwords are guessed from one address of this machine.
guess() {
    local number
    for number in 1 2 3 4 5; do answered 401 --basic -u "anna:guess $number" "$file" || return 1; done
    answered 429 --basic -u 'anna:guess 6' "$file" && grep -qi '^Retry-After: 1' "$work/head"
}
check "the sixth guess is 429" guess
check "another address can log in immediately" \
    answered 200 --interface 127.0.0.2 --basic -u 'anna:a long password' "$file"
check "another address can log in with Digest" answered 200 --interface 127.0.0.2 --digest -u 'anna:a long password' "$file"
check "the log contains the address of the attacker" grep -q 'too many wrong passwords address=127.0.0.1' "$server_log"

finish
