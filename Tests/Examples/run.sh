#!/usr/bin/env bash
# Starts each program in Examples on a free port, sends it requests with curl, and stops it.
. "$(dirname "${BASH_SOURCE[0]}")/../Clients/lib.sh"

programs=${PROGRAMS:-$clients_folder/../../.build/debug}
client=examples user='' schemes='' authority='' passed=0 failed=0 is_finished=no
work=$(mktemp -d "${TMPDIR:-/tmp}/davit-examples.XXXXXX")
output=$work/output server_log=$work/server.log
trap leave EXIT
trap 'exit 130' INT TERM
# The state of shares is stored here.
export HOME=$work/home
unset XDG_STATE_HOME
mkdir "$HOME" "$work/folder"

# run NAME [ARGUMENT...]: starts an example; $url is its URL.
run() {
    local name=$1
    shift
    server_program=$programs/$name
    [ -x "$server_program" ] || { echo "examples: $server_program is missing; run 'make debug' first" >&2; exit 1; }
    start_server "$@"
    # The program may print the URL of a subfolder.
    url=$(grep -oE 'https?://[^/]+/' <<<"$server_url")
}
# ends NAME: checks the exit status after SIGTERM.
ends() { check "$1 ends with status 0" stop_server; }

ask() { curl -sS --max-time 120 "$@"; }
# answers EXPECTED CURL-ARGUMENT...: checks the content.
answers() {
    local expected=$1 found
    shift
    found=$(ask "$@")
    [ "$found" = "$expected" ] || { printf '%s\n' "$found"; return 1; }
}
# has TEXT CURL-ARGUMENT...: checks that the head or the content contains the text.
has() {
    local text=$1 found
    shift
    found=$(ask -i "$@")
    [[ $found == *"$text"* ]] || { printf '%s\n' "$found"; return 1; }
}
# status CODE CURL-ARGUMENT...
status() { answers "$1" -o "$work/null" -w '%{http_code}' "${@:2}"; }

run Hello 0
check "Hello greets" answers 'Hello, world!' "$url"
check "Hello greets by name" answers '<p>Hello, Anna &amp; Bo!</p>' --get --data-urlencode 'name=Anna & Bo' "${url}hello"
check "Hello returns 404 for other pages" status 404 "${url}other"
check "Hello reads a path parameter" answers 'Hello, Änne B!' "${url}hello/%C3%84nne%20B"
check "Hello has no path without the parameter" status 404 "${url}hello/"
ends Hello

run Forms 0
check "Forms shows a form" has '<form method="post"' "$url"
check "Forms accepts a name and shows the page again" has 'Guests: &lt;Änne&gt;<' -L --data-urlencode 'name=<Änne>' "$url"
check "Forms redirects with 303" status 303 --data 'name=Bo' "$url"
check "Forms keeps both names" has 'Guests: &lt;Änne&gt;, Bo<' "$url"
check "Forms requires a name" status 400 --data 'name=' "$url"
check "Forms refuses forms from other sites" status 403 -H 'Sec-Fetch-Site: cross-site' --data 'name=Eve' "$url"
ends Forms

head -c 3000000 /dev/urandom >"$work/large.bin"
printf 'small\n' >"$work/small.txt"
run Uploads "$work/folder" 0
check "Uploads shows a form" has 'enctype="multipart/form-data"' "$url"
check "Uploads stores two files" answers 'Stored: large.bin, naïve name.txt' \
    -F "files=@$work/large.bin" -F "files=@$work/small.txt;filename=naïve name.txt" "$url"
check "the long file is complete" cmp "$work/large.bin" "$work/folder/large.bin"
check "the short file is complete" cmp "$work/small.txt" "$work/folder/naïve name.txt"
check "Uploads removes the path from a name" answers 'Stored: passwd' -F "files=@$work/small.txt;filename=../../passwd" "$url"
check "nothing is written outside the folder" is_absent "$work/passwd"
check "Uploads requires a form" status 415 --data 'a=b' "$url"
ends Uploads

run Streaming 0
squares() { python3 -c 'for number in range(1, 200001): print(f"{number},{number * number}")'; }
check "Streaming sends rows" diff <(squares) <(ask "${url}squares/200000")
check "Streaming sends an empty list" answers '' "${url}squares/0"
squares >"$work/squares"
counted="200000 lines, $(wc -c <"$work/squares") bytes"
check "Streaming counts lines" answers "$counted" --data-binary "@$work/squares" "${url}lines"
check "Streaming counts lines of chunked content" answers "$counted" \
    -H 'Transfer-Encoding: chunked' --data-binary "@$work/squares" "${url}lines"
ends Streaming

run Events 0
# first COUNT CURL-ARGUMENT...: prints the first COUNT lines; curl exits when the pipe is closed.
first() { ask -N "${@:2}" 2>"$work/null" | head -n "$1"; }
counts_on() { [ "$(first 4 "$@" "${url}count" | tail -n 2)" = "$(printf 'id: %s\ndata: %s' "$next" "$next")" ]; }
next=1
check "Events shows a page" has 'new EventSource("/count")' "$url"
# The stream does not end, so read it only up to the field.
check "Events has the media type" eval 'grep -qm 1 "text/event-stream" < <(ask -siN "${url}count" 2>&1)'
check "Events counts from 1" counts_on
next=42
check "Events resumes after the last event" counts_on -H 'Last-Event-ID: 41'
# A connected listener must not prevent the exit.
ask -N "${url}count" >"$work/events" 2>&1 &
listener=$!
check "a listener is connected" eval 'until grep -q data "$work/events"; do kill -0 $listener || exit 1; sleep 0.1; done'
ends Events
wait "$listener" || true

run JSONAPI 0
json=(-H 'Content-Type: application/json')
check "JSONAPI starts empty" answers '{}' "${url}notes"
check "JSONAPI accepts a note" has 'Location: /notes/1' "${json[@]}" --data '{"text":"Änne"}' "${url}notes"
check "JSONAPI returns the note" answers '{"text":"Änne"}' "${url}notes/1"
check "JSONAPI returns all notes" answers '{"1":{"text":"Änne"}}' "${url}notes"
check "JSONAPI returns 404 for unknown notes" status 404 "${url}notes/2"
check "JSONAPI reports the position of a syntax error" has 'at byte 8' "${json[@]}" --data '{"text":}' "${url}notes"
check "JSONAPI reports a missing value" has 'The JSON body has no text.' "${json[@]}" --data '{}' "${url}notes"
check "JSONAPI refuses other media types" status 415 --data '{"text":"x"}' "${url}notes"
ends JSONAPI

run Visits 0
jar=$work/cookies
check "Visits counts the first visit" answers 'Visit 1' -c "$jar" "$url"
check "Visits sets a cookie" has 'Set-Cookie: visits=1; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax' "$url"
check "Visits reads the cookie" answers 'Visit 2' -b "$jar" "$url"
check "Visits redirects" has 'Location: /' "${url}home"
check "Visits has an error page" has '<h1>Not found: /a&lt;b</h1>' "${url}a%3Cb"
check "Visits has an error page for all methods" status 404 -X POST "$url"
prints() { while IFS= read -r -t 10 -u "$server_ready" line; do [[ $line != "$1"* ]] || return 0; done; return 1; }
check "Visits prints requests" prints 'GET /home: 303 in '
ends Visits

mkdir "$work/site"
printf '<p>Home</p>' >"$work/site/index.html"
printf '<p>Nothing here</p>' >"$work/site/404.html"
run Website "$work/site" 0
check "Website has an index" answers '<p>Home</p>' "$url"
check "Website sets the cache lifetime" has 'max-age=60' "$url"
check "Website sends a range" answers 'Home' -r 3-6 "${url}index.html"
check "Website has an error page" answers '<p>Nothing here</p>404' -w '%{http_code}' "${url}other"
ends Website

run SiteWithAPI "$work/site" 0
check "SiteWithAPI has a page" answers '<p>Home</p>' "$url"
check "SiteWithAPI starts without likes" answers '0' "${url}api/likes/home"
check "SiteWithAPI counts likes" has 'HTTP/1.1 201' -X POST "${url}api/likes/home"
check "SiteWithAPI returns the likes" answers '1' "${url}api/likes/home"
check "SiteWithAPI has an error page for the site" answers '<p>Nothing here</p>' "${url}other"
check "SiteWithAPI has an error for the API" has 'This API has only' "${url}api/other"
ends SiteWithAPI

run ShareFolder "$work/folder" 0
login=(-u anna:secret)
check "ShareFolder requires a login" status 401 "$url"
check "ShareFolder accepts a file" status 201 "${login[@]}" -T "$work/small.txt" "${url}new.txt"
check "the file is in the folder" cmp "$work/small.txt" "$work/folder/new.txt"
check "ShareFolder lists" has '/new.txt</D:href>' "${login[@]}" -X PROPFIND -H 'Depth: 1' "$url"
check "ShareFolder creates folders" status 201 "${login[@]}" -X MKCOL "${url}made"
check "ShareFolder moves" status 201 "${login[@]}" -X MOVE -H "Destination: ${url}made/new.txt" "${url}new.txt"
check "the moved file is at its destination" cmp "$work/small.txt" "$work/folder/made/new.txt"
ends ShareFolder

run MountedShare "$work/folder" "$work/state"
check "MountedShare has a page" has 'href="files/"' "$url"
check "MountedShare has an API" answers 'Hello, Anna!' "${url}hello?name=Anna"
check "MountedShare matches patterns" answers 'User 7' "${url}users/7"
check "MountedShare accepts a form" answers 'Noted: x' --data 'text=x' "${url}note"
check "MountedShare supports WebDAV" has 'DAV: 1, 2' -X OPTIONS "$url"
check "MountedShare accepts a file" status 201 -T "$work/small.txt" "${url}files/two.txt"
check "MountedShare lists" has '/files/two.txt</D:href>' -X PROPFIND -H 'Depth: 1' "${url}files/"
check "the share is only below its prefix" status 404 "${url}two.txt"
ends MountedShare

forty_lines() { ! awk 'END { if (FNR >= 40) print FILENAME }' "$1" | grep .; }
for program in "$clients_folder"/../../Examples/*/*.swift; do
    [ "$(basename "$program")" = Guide.swift ] || check "$(basename "$program") is short" forty_lines "$program"
done

is_finished=yes
echo "examples: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
