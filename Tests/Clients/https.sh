#!/usr/bin/env bash
# HTTPS: curl, wget, openssl s_client and Python with certificates from files and from the server's own authority; rclone with
# the whole tree; large content, slow readers, and a reload of certificates.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# make_certificate NAME: creates a certificate for localhost and its key, in NAME.pem.
make_certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
        -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -keyout "$work/$1.key" -out "$work/$1.crt" 2>/dev/null
    cat "$work/$1.crt" "$work/$1.key" >"$work/$1.pem"
    chmod 600 "$work/$1.pem"
}

server_options() {
    make_certificate first >&2
    cp -p "$work/first.pem" "$work/server.pem"
    printf '%s\n' --tls-cert "$work/server.pem" --tls-key "$work/server.pem" --log-level info
}

begin https "$@"

port=${server_url##*:} port=${port%/}
login=()
[ -z "$user" ] || login=(--user "$user:$password")
run_curl() { timeout "$limit" curl -sS --cacert "$work/server.pem" "${login[@]}" "$@"; }
# prints EXPECTED COMMAND...
prints() {
    local expected=$1 printed
    shift
    printed=$("$@") || { echo "$printed"; return 1; }
    [ "$printed" = "$expected" ] || { echo "$printed"; return 1; }
}
client_hello() { timeout "$limit" openssl s_client -connect "127.0.0.1:$port" -CAfile "$work/first.pem" "$@" </dev/null 2>&1; }
# contains TEXT COMMAND...
contains() {
    local text=$1 printed
    shift
    printed=$("$@") || true
    [[ $printed == *"$text"* ]] || { echo "$printed"; return 1; }
}

printf 'hello' >"$share/hello.txt"
check "the ready line contains an https URL" [ "${server_url%%:*}" = https ]
for version in 1.2 1.3; do
    check "curl over TLS $version" prints hello run_curl "--tlsv$version" --tls-max "$version" "${server_url}hello.txt"
done
check "HTTP/1.1 is used instead of HTTP/2" prints 1.1 run_curl --http2 -o "$work/null" -w '%{http_version}' "${server_url}hello.txt"
check "the host name can be used" prints hello run_curl "https://localhost:$port/hello.txt"
check "wget requests a file" prints hello timeout "$limit" wget -q -O - --ca-certificate="$work/server.pem" \
    ${user:+--auth-no-challenge --user="$user" --password="$password"} "https://localhost:$port/hello.txt"
check "one session for several requests" prints hellohello run_curl "${server_url}hello.txt" "${server_url}hello.txt"

# The TLS protocol.
check "an unknown ALPN protocol is refused" contains 'alert no application protocol' client_hello -alpn h2
check "ALPN selects http/1.1" contains 'ALPN protocol: http/1.1' client_hello -alpn h2,http/1.1
check "TLS 1.1 is refused" contains 'alert protocol version' client_hello -tls1_1 -cipher 'DEFAULT@SECLEVEL=0'
check "a session is resumed in TLS 1.2" contains 'Reused, TLSv1.2' client_hello -tls1_2 -reconnect
resume13() {
    # A ticket follows the handshake, and s_client only processes it while it reads.
    printf 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' | timeout "$limit" openssl s_client -quiet \
        -ign_eof -tls1_3 -connect "127.0.0.1:$port" -sess_out "$work/session" >/dev/null 2>&1
    client_hello -tls1_3 -sess_in "$work/session"
}
check "a session is resumed in TLS 1.3" contains 'Reused, TLSv1.3' resume13

# HTTP on the same port.
check "plain HTTP is redirected" prints "301 https://127.0.0.1:$port/hello.txt?a" \
    curl -sS -o "$work/null" -w '%{http_code} %{redirect_url}' "http://127.0.0.1:$port/hello.txt?a"
check "other methods are redirected with 308" prints 308 curl -sS -o "$work/null" -w '%{http_code}' -T "$tree/large.bin" "http://127.0.0.1:$port/x"
check "the redirected upload was not stored" is_absent "$share/x"
check "a client that follows the redirect succeeds" prints hello run_curl -L --location-trusted "http://127.0.0.1:$port/hello.txt"

# Large content.
head -c 104857600 /dev/urandom >"$work/upload"
check "100 MiB are uploaded" run_curl -f -T "$work/upload" "${server_url}upload"
check "the uploaded bytes are equal" cmp "$work/upload" "$share/upload"
check "100 MiB are uploaded in chunks, with 100 Continue" run_curl -f -H 'Transfer-Encoding: chunked' -H 'Expect: 100-continue' \
    -T "$work/upload" "${server_url}chunked"
check "the uploaded bytes are equal" cmp "$work/upload" "$share/chunked"
check "100 MiB are downloaded" run_curl -f -o "$work/down" "${server_url}upload"
check "the downloaded bytes are equal" cmp "$work/upload" "$work/down"
check "a range is downloaded" run_curl -f -r 50000000-60000000 -o "$work/range" "${server_url}upload"
check "the range is equal" cmp "$work/range" <(tail -c +50000001 "$work/upload" | head -c 10000001)
rm -f "$work/upload" "$work/down" "$share/upload" "$share/chunked"

check "Python: slow readers, early answers, requests in pieces" python3 "$clients_folder/https.py" \
    "$port" "$work/server.pem" "$share" "$server_pid" ${user:+"$user:$password"}

# rclone with the whole tree.
export RCLONE_CONFIG=$work/rclone.conf
{
    printf '[davit]\ntype = webdav\nurl = %s\nvendor = other\n' "$server_url"
    if [ -n "$user" ]; then printf 'user = %s\npass = %s\n' "$user" "$(rclone obscure "$password")"; fi
} >"$RCLONE_CONFIG"
check "rclone copies the tree" timeout "$limit" rclone --ca-cert "$work/server.pem" copy --create-empty-src-dirs "$tree" davit:copied
check "the share has the tree" same_tree "$tree" "$share/copied"
check "rclone finds no difference" timeout "$limit" rclone --ca-cert "$work/server.pem" check --download "$tree" davit:copied

# Replacing certificates at run time.
subject() { client_hello | openssl x509 -noout -subject; }
# reloads_to SUBJECT: sends SIGHUP and waits until a certificate with this subject is served.
reloads_to() {
    kill -HUP "$server_pid"
    local tries=0
    until [[ $(subject) == *"$1"* ]]; do
        [ $((tries += 1)) -lt 1200 ] || { subject; return 1; }
        sleep 0.1
    done
}
says() {
    local tries=0
    until grep -q "$1" "$server_log"; do
        [ $((tries += 1)) -lt 1200 ] || { tail "$server_log"; return 1; }
        sleep 0.1
    done
}
check "the first certificate is served" contains first subject
make_certificate second
cp -p "$work/second.pem" "$work/server.pem"
check "SIGHUP loads the second certificate" reloads_to second
check "there is no page about an authority of davit" prints 301 curl -sS -o "$work/null" -w '%{http_code}' "http://127.0.0.1:$port/.davit-trust"
check "requests succeed with the second certificate" prints hello run_curl "${server_url}hello.txt"
printf 'broken' >"$work/server.pem"
kill -HUP "$server_pid"
check "the log reports that the reload failed" says 'certificate reload failed; keeping the current certificates'
check "the second certificate is still served" contains second subject

# The server's own authority.
check "the server stops" stop_server
start_server "$share" "$work/state" ${user:+--user "$user:$password"} --tls-self-signed
authority=$work/state/tls/authority.pem
check "a certificate of davit's own authority is valid for the host name" prints hello \
    timeout "$limit" curl -sS "${login[@]}" --cacert "$authority" "https://localhost:${server_url##*:}hello.txt"
check "the fingerprint of the authority is in the log" grep -q "SHA-256 $(openssl x509 -in "$authority" -noout -fingerprint -sha256 | cut -d= -f2)" "$server_log"
check "openssl verifies the certificate" openssl verify -x509_strict -purpose sslserver -CAfile "$authority" \
    -verify_hostname localhost -verify_ip 127.0.0.1 "$work/state/tls/server.pem"

# The page for people who have to trust it.
trust=http://localhost:${server_url##*:}
trust=${trust%/}/.davit-trust
check "the address of the page is in the log" grep -qF "open $trust" "$server_log"
check "the page is available over plain HTTP, without an account" curl -fsS -o "$work/trust.html" "$trust"
check "the page contains the fingerprint" grep -qF "$(openssl x509 -in "$authority" -noout -fingerprint -sha256 | cut -d= -f2)" "$work/trust.html"
check "the certificate is downloaded" curl -fsS -o "$work/davit.crt" "$trust/davit.crt"
check "it is that of the authority" cmp "$work/davit.crt" <(openssl x509 -in "$authority" -outform DER)
check "the profile is downloaded" curl -fsS -o "$work/davit.mobileconfig" "$trust/davit.mobileconfig"
check "the profile is a property list with the same certificate" python3 -c '
import plistlib, sys, uuid
profile = plistlib.load(open(sys.argv[1], "rb"), fmt=plistlib.FMT_XML)
payload, = profile["PayloadContent"]
assert profile["PayloadType"] == "Configuration" and payload["PayloadType"] == "com.apple.security.root", profile
assert payload["PayloadContent"] == open(sys.argv[2], "rb").read(), payload
assert uuid.UUID(profile["PayloadUUID"]) != uuid.UUID(payload["PayloadUUID"]), profile
assert {profile["PayloadVersion"], payload["PayloadVersion"]} == {1}, profile' "$work/davit.mobileconfig" "$work/davit.crt"
rm -rf "$share/copied"

finish
