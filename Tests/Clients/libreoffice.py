"""The LibreOffice session of libreoffice.sh: libreoffice.py PIPE URL EXTENSION FILTER

Documents are saved with the file name extension EXTENSION by the LibreOffice export filter FILTER. Prints `ok WHAT` or
`not ok WHAT` for each check, and `done` at the end.
"""

import sys
import time
import traceback
import urllib.request

import uno
from com.sun.star.beans import PropertyValue

pipe, url, extension, filter_name = sys.argv[1:]


def fact(what, check):
    try:
        holds = check()
    except Exception:
        traceback.print_exc()
        holds = False
    print("ok" if holds else "not ok", what, flush=True)


def connect():
    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
    for _ in range(600):
        try:
            remote = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            return remote.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", remote)
        except Exception:
            time.sleep(0.2)
    raise SystemExit("LibreOffice did not start")


def value(name, content):
    property = PropertyValue()
    property.Name, property.Value = name, content
    return property


LETTER = "documents/letter." + extension
HIDDEN = (value("Hidden", True),)
FILTER = (value("FilterName", filter_name),)


def status(method, path, body=None, **fields):
    request = urllib.request.Request(url + path, body, fields, method=method)
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code


def text(document):
    return document.Text.String


desktop = connect()
assert status("MKCOL", "documents") == 201
address = url + LETTER

document = desktop.loadComponentFromURL("private:factory/swriter", "_blank", 0, HIDDEN)
document.Text.String = "A first paragraph"
document.storeAsURL(address, FILTER)
fact("saves a new document", lambda: not document.isModified() and document.URL == address)
fact("holds a lock while it is open", lambda: status("PUT", LETTER, b"stranger") == 423)
document.close(True)
fact("releases the lock on close", lambda: status("PROPPATCH", LETTER, (
    b'<propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:test:">1</x></prop></set></propertyupdate>')) == 207)

document = desktop.loadComponentFromURL(address, "_blank", 0, HIDDEN)
fact("opens the document again for writing", lambda: document is not None and not document.isReadonly())
fact("reads the saved text", lambda: text(document) == "A first paragraph")
document.Text.String = "A first paragraph\nA second paragraph"
document.store()
fact("saves the document again", lambda: not document.isModified())
document.storeAsURL(url + "documents/copy%20%C3%BC." + extension, FILTER)
fact("saves the document under another name", lambda: document.URL.endswith("copy%20%C3%BC." + extension))
fact("keeps the first document", lambda: status("GET", LETTER) == 200)
document.close(True)

# Another client has locked the document.
locked = status("LOCK", LETTER, (
    b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
    b"<owner>somebody else</owner></lockinfo>"), Timeout="Second-600")
fact("another client locks the document", lambda: locked == 200)
document = desktop.loadComponentFromURL(address, "_blank", 0, HIDDEN)
fact("a locked document opens read-only", lambda: document is None or document.isReadonly())
if document is not None:
    document.close(True)
found = urllib.request.urlopen(urllib.request.Request(
    url + LETTER, b'<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>',
    {"Depth": "0"}, method="PROPFIND")).read().decode()
token = found.split("opaquelocktoken:")[1].split("<")[0] if "opaquelocktoken:" in found else found.split("urn:uuid:")[1].split("<")[0]
scheme = "opaquelocktoken:" if "opaquelocktoken:" in found else "urn:uuid:"
fact("the other client unlocks the document", lambda: status(
    "UNLOCK", LETTER, None, **{"Lock-Token": f"<{scheme}{token}>"}) == 204)
print("done", flush=True)
try:
    desktop.terminate()
except Exception:
    pass
