#!/usr/bin/env bash
# LibreOffice, without a window: saves, opens with a lock, edits and closes documents in the share.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=60 recorded=yes
begin libreoffice "$@"
[ -z "$user" ] || skip "it asks for passwords in a window"
command -v soffice >/dev/null || skip "it is not here"
# Debian's Python has LibreOffice's module, another one would not.
/usr/bin/python3 -c 'import uno' 2>/dev/null || skip "python3-uno is not here"
office=
clean_up_client() {
    [ -z "$office" ] || kill "$office" 2>/dev/null || true
    pkill -f "soffice.*$work" 2>/dev/null || true
}
pipe=davit$$
soffice --headless --norestore --nologo --nofirststartwizard "-env:UserInstallation=file://$work/office" \
    "--accept=pipe,name=$pipe;urp;" >"$work/office.log" 2>&1 &
office=$!
timeout "$limit" /usr/bin/python3 "$clients_folder/libreoffice.py" "$pipe" "$server_url" "$share" "$work" >"$work/office.out" 2>"$work/office.err" || true
while IFS= read -r line; do
    case $line in
        'ok '*) check "${line#ok }" true ;;
        'not ok '*) check "${line#not ok }" fails ;;
    esac
done <"$work/office.out"
fails() { tail -n 25 "$work/office.err"; return 1; }
check "the session came to its end" eval 'grep -qx done "$work/office.out" || fails'
is_document() { unzip -p "$1" content.xml | grep -q "$2"; }
check "the share has the last version" is_document "$share/documents/letter.odt" 'A second paragraph'
check "and the version that was saved elsewhere" is_document "$share/documents/copy ü.odt" 'A second paragraph'
check "no lock file is left" eval '! ls -A "$share/documents" | grep "^\.~lock"'
no_locks() {
    local found
    found=$(curl -sS -X PROPFIND -H 'Depth: infinity' -H 'Content-Type: text/xml' --data \
        '<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>' "$server_url" | grep -o activelock | head -n 1) || true
    [ -z "$found" ] || { echo "$found"; return 1; }
}
check "no lock is left on the server" no_locks

finish
