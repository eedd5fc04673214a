#!/usr/bin/env bash
# General HTTP clients: curl, wget, Python, openssl s_client and Chromium, with files, forms, redirects, streams and events.
# Routes and a share use the same port.
#
#   Tests/Clients/general.sh [--tls]
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

name=general is_secure=no
if [ "${1:-}" = --tls ]; then name=general-tls is_secure=yes; shift; fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}
server_program=${PROGRAMS:-$clients_folder/../../.build/debug}/ClientServer
[ -x "$server_program" ] || { echo "$name: $server_program is missing; run 'make debug' first" >&2; exit 1; }
TREE_FILES=120
unset XDG_STATE_HOME

# davit needs the origin of the other pages, so the server of these pages starts first.
server_options() {
    mkdir "$work/pages"
    printf '<!DOCTYPE html><link rel="icon" href="data:,"><title>Elsewhere</title>' >"$work/pages/index.html"
    python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/pages" >"$work/pages.log" 2>&1 &
    echo $! >"$work/pages.pid"
    until grep -qE 'port [0-9]+' "$work/pages.log"; do
        kill -0 $! || return 1
        sleep 0.1
    done
    sed -nE 's/.* port ([0-9]+) .*/http:\/\/127.0.0.1:\1/p' "$work/pages.log" | tee "$work/origin"
    [ "$is_secure" = no ] || echo tls
}
clean_up_client() { [ ! -e "$work/pages.pid" ] || kill "$(cat "$work/pages.pid")"; }

begin "$name" "$@"
origin=$(cat "$work/origin")
cp -r "$tree" "$share/tree"
printf 'hello' >"$share/hello.txt"
head -c 20000000 /dev/urandom >"$work/large"
authority=$work/state/tls/authority.pem trust=()
[ "$is_secure" = no ] || trust=(--cacert "$authority")

ask() { timeout "$limit" curl -sS "${trust[@]}" "$@"; }
# prints EXPECTED COMMAND...
prints() {
    local expected=$1 printed
    shift
    printed=$("$@") || { echo "$printed"; return 1; }
    [ "$printed" = "$expected" ] || { echo "$printed"; return 1; }
}
# contains TEXT COMMAND...
contains() {
    local text=$1 printed
    shift
    printed=$("$@" 2>&1) || { echo "$printed"; return 1; }
    [[ $printed == *"$text"* ]] || { echo "$printed"; return 1; }
}
# status CODE CURL-ARGUMENT...
status() { prints "$1" ask -o "$work/null" -w '%{http_code}' "${@:2}"; }
rows() { python3 -c 'import sys; [print(f"row {row}") for row in range(int(sys.argv[1]))]' "$1"; }

file=${server_url}files/hello.txt
[ "$is_secure" = no ] || check "curl refuses an unknown authority" eval 'curl -s "$file"; [ $? -eq 60 ]'
check "curl: requests a file" prints hello ask "$file"
check "curl: HEAD" contains 'Content-Length: 5' ask -I "$file"
check "curl: requests a range" prints ell ask -r 1-3 "$file"
check "curl: requests the last bytes" prints lo ask -r -2 "$file"
check "curl: an unsatisfiable range" status 416 -r 10-20 "$file"
check "curl: saves the entity tag" ask --etag-save "$work/tag" -o "$work/null" "$file"
check "curl: sends the saved entity tag" status 304 --etag-compare "$work/tag" "$file"
check "curl: sends a conditional request by date" status 304 -z "$share/hello.txt" "$file"
check "curl: a PUT with an outdated tag fails" status 412 -H 'If-Match: "other"' -T "$work/tag" "$file"
check "curl: a PUT of a new file fails if it exists" status 412 -H 'If-None-Match: *' -T "$work/tag" "$file"
one_connection() {
    ask -o "$work/null" -w '%{num_connects}\n' "$file?n=[1-50]" | awk '{ n += $1 } END { exit n != 1 }'
}
check "curl: 50 requests on one connection" one_connection

# Runs the command in docs/searching.md, with the URLs of this server.
search() {
    local command
    command=$(sed -n '/^```sh$/,/^```$/p' "$clients_folder/../../docs/searching.md" | sed '1d;$d')
    command=${command#curl}
    command=${command//http:\/\/localhost:8080\//${server_url}files/}
    eval "ask ${command//\/photos\//\/files\/photos\/}" | grep -oE '<D:href>[^<]*|HTTP/1.1 507' | tr '\n' ' '
}
mkdir "$share/photos"
truncate -s 2000000 "$share/photos/a.JPG"
truncate -s 3000000 "$share/photos/b.jpg" "$share/photos/c.png"
truncate -s 1000 "$share/photos/d.jpg"
check "curl: searches" prints '<D:href>/files/photos/b.jpg <D:href>/files/photos/a.JPG ' search
rm -r "$share/photos"

check "curl: uploads" status 201 -T "$work/large" "${server_url}files/up"
check "curl: the stored bytes are equal" cmp "$work/large" "$share/up"
check "curl: uploads without a length" eval 'ask -f -T - "${server_url}files/chunked" <"$work/large"'
check "curl: the stored bytes are equal" cmp "$work/large" "$share/chunked"
check "curl: waits for 100 Continue" contains '< HTTP/1.1 100' ask -v -H 'Expect: 100-continue' -T "$work/large" "${server_url}files/up"
check "curl: a refused upload sends no content" eval '[ "$(ask -o "$work/null" -w "%{http_code} %{size_upload}" --expect100-timeout 60 \
    -H "Expect: 100-continue" -T "$work/large" "${server_url}files/no/up")" = "409 0" ]'
check "curl: downloads" eval 'ask "${server_url}files/up" | cmp - "$work/large"'
check "curl: several ranges" contains 'Content-Range: bytes 9000-9000/20000000' eval 'ask -r 5-5,9000-9000 "${server_url}files/up" | tr -d "\0"'
check "curl: resumes a download" eval 'head -c 5000000 "$work/large" >"$work/part"; ask -C - -o "$work/part" "${server_url}files/up"; cmp "$work/part" "$work/large"'
check "curl: receives chunks" contains 'Transfer-Encoding: chunked' ask -i "${server_url}rows?count=3"
check "curl: receives many chunks" eval 'ask "${server_url}rows?count=100000" | cmp - <(rows 100000)'
check "curl: receives no chunks with HTTP/1.0" eval 'ask -0 -i "${server_url}rows?count=3" >"$work/old" && ! grep -qi "^transfer-encoding" "$work/old" && grep -q "row 2" "$work/old"'
check "curl: receives gzip" contains 'Content-Encoding: gzip' ask -o "$work/null" -D - --compressed "${server_url}rows?count=1000"
check "curl: decodes gzip" eval 'ask --compressed "${server_url}rows?count=100000" | cmp - <(rows 100000)'
check "curl: sends gzip" eval '[ "$(printf "a=1" | gzip | ask -H "Content-Encoding: gzip" --data-binary @- "${server_url}form")" = "a=1" ]'
check "curl: follows redirects" prints 'row 0' ask -L "${server_url}301"
check "curl: from POST to GET" prints 'row 0' ask -L --data x "${server_url}303"
check "curl: a redirect keeps the method POST" prints 'kept=1' ask -L --data kept=1 "${server_url}307"
check "curl: sends a form" prints $'a=1 & 2\nb=ü' ask --data-urlencode 'a=1 & 2' --data-urlencode 'b=ü' "${server_url}form"
check "curl: sends files" prints $'a=ü\nf: large, 20000000 bytes\nf: hello.txt, 5 bytes' \
    ask -F a=ü -F "f=@$work/large" -F "f=@$share/hello.txt" "${server_url}upload"
check "curl: listens to events" contains $'id: 3\nretry: 1\ndata: event 2\ndata: öf two lines' ask -N "${server_url}events"
preflight() { ask -i -X OPTIONS -H "Origin: $1" -H 'Access-Control-Request-Method: PUT' "$file"; }
check "curl: an allowed origin gets CORS headers" contains "Access-Control-Allow-Origin: $origin" preflight "$origin"
refuses() {
    local head
    head=$(preflight "$1") && [[ $head == HTTP/1.1* ]] && ! grep -i access-control-allow <<<"$head"
}
check "curl: another origin gets no CORS headers" refuses http://elsewhere.example

# Not every version of wget supports IP addresses in certificates, so use the host name.
by_name=${server_url/127.0.0.1/localhost}
fetch() { timeout "$limit" wget -q ${authority_option:-} "$@"; }
[ "$is_secure" = no ] || authority_option=--ca-certificate=$authority
check "wget: requests a file" prints hello fetch -O - "${by_name}files/hello.txt"
check "wget: checks for existence" fetch --spider "${by_name}files/hello.txt"
check "wget: reports a missing file" eval 'fetch --spider "${by_name}files/missing"; [ $? -eq 8 ]'
check "wget: resumes a download" eval 'head -c 5000000 "$work/large" >"$work/up"; fetch -c -O "$work/up" "${by_name}files/up"; cmp "$work/up" "$work/large"'
check "wget: follows redirects" prints 'row 0' fetch -O - "${by_name}301"
check "wget: sends a form" prints a=1 fetch -O - --post-data a=1 "${by_name}form"
check "wget: receives gzip" eval 'fetch --compression=gzip -O - "${by_name}rows?count=50000" | cmp - <(rows 50000)'
mirror() { (cd "$work" && fetch -r -np -nH --cut-dirs=2 -R 'index.html*' --restrict-file-names=nocontrol -P mirror "${by_name}files/tree/folder%2000/"); }
check "wget: mirrors a folder through its pages" mirror
check "the mirror is complete" same_tree "$tree/folder 00" "$work/mirror/folder 00"
check "wget: downloads newer files only" contains '304 Not Modified' timeout "$limit" bash -c "cd '$work' && wget -nv -S ${authority_option:-} -N '${by_name}files/hello.txt' && wget -nv -S ${authority_option:-} -N '${by_name}files/hello.txt'"

check "Python: http.client and requests" timeout "$limit" python3 "$clients_folder/general.py" \
    "${by_name%/}" "$share" "$([ "$is_secure" = no ] || echo "$authority")"

if [ "$is_secure" = yes ]; then
    port=${server_url##*:} port=${port%/}
    by_hand() {
        printf 'GET /files/hello.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' | timeout "$limit" openssl s_client \
            -quiet -ign_eof -verify_return_error -verify_hostname localhost -CAfile "$authority" -connect "127.0.0.1:$port"
    }
    check "openssl s_client trusts the authority and sends a request" contains hello by_hand
    by_another_name() {
        local said
        said=$(openssl s_client -verify_return_error -verify_hostname elsewhere.example -CAfile "$authority" \
            -connect "127.0.0.1:$port" </dev/null 2>&1) && return 1
        grep -i 'hostname mismatch' <<<"$said" || { echo "$said"; return 1; }
    }
    check "openssl s_client refuses another host name" by_another_name
fi

# Chromium comes from Debian and Playwright from PyPI; skip the tests if they are unavailable.
if ! python=$(XDG_CACHE_HOME=$cache "$clients_folder/../../scripts/browser-python.sh" 2>"$work/browser.log"); then
    skipped Chromium "$(tail -n 1 "$work/browser.log")"
else
    # Chromium reads its trusted authorities from here.
    trust_authority() {
        local database=$HOME/.pki/nssdb
        mkdir -p "$database"
        certutil -d "sql:$database" -N --empty-password && certutil -d "sql:$database" -A -t C,, -n davit -i "$1"
    }
    browse() { timeout "$limit" "$python" "$clients_folder/browser.py" "$@"; }
    [ "$is_secure" = no ] || check "Chromium refuses an unknown authority" browse "${by_name%/}" untrusted
    [ "$is_secure" = no ] || check "Chromium imports the authority" trust_authority "$authority"
    check "Chromium: pages, forms, files, events, and pages of other origins" browse "${by_name%/}" routes "$origin" "$share"
    # Tests davit serve alone, with a login.
    server_program=
    for scheme in basic digest; do
        check "the server stops" stop_server
        start_server "$share" "$work/state" --user anna:open:sesame --auth "$scheme" ${trust:+--tls-self-signed}
        check "Chromium: a folder's page, with $scheme" browse "${server_url%/}" folder "$share"
    done
fi

finish
