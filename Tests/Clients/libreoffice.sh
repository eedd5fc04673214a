#!/usr/bin/env bash
# LibreOffice, without a window: saves, opens with a lock, edits and closes documents in the share.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TREE_FILES=${TREE_FILES:-60} recorded=yes
begin libreoffice "$@"
require soffice curl unzip
[ -z "$user$authority" ] || skip "it asks for passwords, and whom to trust, in a window"
# Debian's Python has LibreOffice's module, another one would not.
/usr/bin/python3 -c 'import uno' 2>/dev/null || skip "python3-uno is not here"
office=
clean_up_client() {
    [ -z "$office" ] || kill -- "-$office" 2>/dev/null || true
}
pipe=davit$$
# Small sessions have small documents.
extension=odt filter=writer8
[ "$TREE_FILES" != small ] || extension=txt filter=Text
# A group of its own: it starts others.
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
check "and the version that was saved elsewhere" is_document "$share/documents/copy ü.$extension" 'A second paragraph'
check "no lock file is left" eval '! ls -A "$share/documents" | grep "^\.~lock"'
check "no lock is left on the server" no_locks "$server_url"

finish
