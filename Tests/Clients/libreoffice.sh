#!/usr/bin/env bash
# LibreOffice in headless mode: saves, opens with a lock, edits and closes documents in the share.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-60} recorded=yes
begin libreoffice "$@"
require soffice curl unzip
[ -z "$user$authority" ] || skip "asks in a window for the password and whether to trust the certificate"
# Only Debian's Python has the module of LibreOffice.
/usr/bin/python3 -c 'import uno' 2>/dev/null || skip "python3-uno is not installed"
office=
clean_up_client() {
    [ -z "$office" ] || kill -- "-$office" 2>/dev/null || true
}
pipe=davit$$
# Small documents for short sessions.
extension=odt filter=writer8
[ "$TREE_FILES" != small ] || extension=txt filter=Text
# LibreOffice runs in a separate process group, because it starts other processes.
setsid soffice --headless --norestore --nologo --nofirststartwizard "-env:UserInstallation=file://$work/office" \
    "--accept=pipe,name=$pipe;urp;" >"$work/office.log" 2>&1 &
office=$!
timeout "$limit" /usr/bin/python3 "$clients_folder/libreoffice.py" "$pipe" "$server_url" "$extension" "$filter" \
    >"$work/office.out" 2>"$work/office.err" || true
check_lines "the session" "$work/office.out" "$work/office.err"
is_document() {
    if [ "$extension" = odt ]; then unzip -p "$1" content.xml; else cat "$1"; fi | grep -q "$2"
}
check "the share has the last version" is_document "$share/documents/letter.$extension" 'A second paragraph'
check "the share has the copy" is_document "$share/documents/copy ü.$extension" 'A second paragraph'
check "no lock file remains" eval '! ls -A "$share/documents" | grep "^\.~lock"'
check "no lock remains on the server" no_locks "$server_url"

finish
