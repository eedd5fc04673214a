"""The multistatus scanner, with input split anywhere and written in various ways."""

import json

from harness import expect, test

HEAD = '<?xml version="1.0"?>'
LOCK = ("<{0}lockdiscovery><{0}activelock><{0}locktype><{0}write/></{0}locktype><{0}lockscope><{0}{1}/></{0}lockscope>"
        "<{0}depth>0</{0}depth><{0}owner>{2}</{0}owner><{0}timeout>{3}</{0}timeout><{0}locktoken><{0}href>urn:uuid:1</{0}href>"
        "</{0}locktoken><{0}lockroot><{0}href>/root</{0}href></{0}lockroot></{0}activelock></{0}lockdiscovery>")

# The input, and the result: [href, status, size, modified, etag, locks]. A lock is [owner, token, whether it is exclusive],
# followed by the locking user and the creation time if they are known.
TABLE = [
    ('<D:multistatus xmlns:D="DAV:"></D:multistatus>', []),
    ('<D:multistatus xmlns:D="DAV:"/>', []),
    ('<D:multistatus xmlns:D="DAV:"><D:response><D:href>/a</D:href><D:propstat><D:prop><D:getcontentlength>3</D:getcontentlength>'
     "<D:getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</D:getlastmodified><D:getetag>\"x\"</D:getetag></D:prop>"
     "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>",
     [["/a", 0, 3, 784111777000, '"x"', []]]),
    # Names with other prefixes and without prefixes, comments, CDATA sections, references, and markup characters in attributes
    # (XML 1.0 §2.4).
    ('<multistatus xmlns="DAV:"><!-- a > b <response> --><response a="x>y" b=\'"\'><href>/a&amp;b&#x2f;c&#47;</href><propstat><prop>'
     '<getetag><![CDATA["<&>"]]></getetag><resourcetype/></prop><status>HTTP/1.1 200 OK</status></propstat></response>'
     "<?pi ?></multistatus>", [["/a&b/c/", 0, None, None, '"<&>"', []]]),
    # Properties in an unsuccessful propstat are ignored (RFC 4918 §9.1).
    ('<m:multistatus xmlns:m="DAV:"><m:response><m:href> /f/ </m:href><m:propstat><m:prop><m:getetag>"no"</m:getetag></m:prop>'
     '<m:status>HTTP/1.1 404 Not Found</m:status></m:propstat><m:propstat><m:prop><m:getcontentlength>7</m:getcontentlength></m:prop>'
     "<m:status>HTTP/1.1 200 OK</m:status></m:propstat></m:response></m:multistatus>", [["/f/", 0, 7, None, "", []]]),
    # A response may have its own status (RFC 4918 §14.24).
    ('<multistatus xmlns="DAV:"><response><href>/a</href><status>HTTP/1.1 507 Insufficient Storage</status></response>'
     "<response><href>/b</href><href>/c</href><status>HTTP/1.1 423 Locked</status></response></multistatus>",
     [["/a", 507, None, None, "", []], ["/b", 423, None, None, "", []]]),
    ('<D:multistatus xmlns:D="DAV:"><D:response><D:href>/l</D:href><D:propstat><D:prop>'
     + LOCK.format("D:", "exclusive", "<D:href>mailto:a@b</D:href>", "Second-60")
     + "<D:getcontentlength>1</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>",
     [["/l", 0, 1, None, "", [["mailto:a@b", "urn:uuid:1", True]]]]),
    ('<multistatus xmlns="DAV:"><response><href>/l</href><propstat><prop>' + LOCK.format("", "shared", "Anna &lt;a&gt;", "Infinite")
     + "</prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>",
     [["/l", 0, None, None, "", [["Anna <a>", "urn:uuid:1", False]]]]),
    # The locking user and the creation time are in a davit-specific property.
    ('<D:multistatus xmlns:D="DAV:" xmlns:N="urn:davit:property"><D:response><D:href>/l</D:href><D:propstat><D:prop>'
     "<N:lock-details><N:lock><D:locktoken><D:href>urn:uuid:1</D:href></D:locktoken><N:principal>anna</N:principal>"
     "<N:created>2026-03-01T09:12:40Z</N:created></N:lock></N:lock-details>" + LOCK.format("D:", "exclusive", "A", "Second-60")
     + "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>",
     [["/l", 0, None, None, "", [["A", "urn:uuid:1", True, "anna", 1772356360000]]]]),
    ('<multistatus xmlns="DAV:"><response><href>/%C3%A9</href><propstat><prop><getetag>"é😀"</getetag></prop>'
     "<status>HTTP/1.1 200 OK</status></propstat></response></multistatus>", [["/%C3%A9", 0, None, None, '"é😀"', []]]),
]

SCAN = """async ([text, step]) => {
    const files = JSON.parse(document.getElementById("davit").textContent).files
    const { MultistatusScanner } = await import(files + "scan.js")
    const found = []
    const scanner = new MultistatusScanner(one => found.push([one.href, one.status, one.size, one.modified, one.etag,
        (one.locks ?? []).map(lock => lock.principal ? [lock.owner, lock.token, lock.isExclusive, lock.principal, lock.created]
            : [lock.owner, lock.token, lock.isExclusive])]))
    const bytes = new TextEncoder().encode(text)
    const decoder = new TextDecoder()
    for (let at = 0; at < bytes.length; at += step) scanner.add(decoder.decode(bytes.subarray(at, at + step), {stream: true}))
    try { scanner.finish() } catch (problem) { return problem.name }
    return JSON.stringify(found)
}"""


@test
def multistatus_is_parsed_in_any_form_and_any_pieces(lab):
    page = lab.page()
    for text, wanted in TABLE:
        for step in (1, 2, 7, 64, 1_000_000):
            found = page.evaluate(SCAN, [HEAD + text, step])
            expect(json.loads(found), wanted, f"{text}, {step} at a time")


@test
def truncated_multistatus_is_an_error(lab):
    page = lab.page()
    text = HEAD + TABLE[2][0]
    for end in range(len(HEAD), len(text) - 1, 9):
        expect(page.evaluate(SCAN, [text[:end], 16]), "SyntaxError", text[:end])
    expect(page.evaluate(SCAN, ["", 16]), "SyntaxError")


@test
def truncated_listing_is_reported(lab):
    lab.write("sub/a", b"1")
    page = lab.page()
    body = HEAD + TABLE[2][0][:-20]

    def cut(route):
        if route.request.method == "PROPFIND":
            route.fulfill(status=207, body=body, headers={"Content-Type": "application/xml"})
        else:
            route.continue_()
    page.context.route("**/sub/", cut)
    page.locator(".name-link").click()
    page.get_by_text("The connection was lost before all data arrived.").first.wait_for()


HREFS = """async () => {
    const files = JSON.parse(document.getElementById("davit").textContent).files
    const href = await import(files + "href.js")
    return {
        segments: ["a b", "é", "!'()*", "a/b", "%", "~-._", "\\ud800"].map(href.segment),
        names: ["/a%20b", "/x/%C3%A9/", "/%FF%41", "/", "/a%2Fb"].map(href.nameOf),
        parents: ["/a", "/a/", "/a/b", "/a/b/", "/"].map(href.parentOf),
        canonical: ["/a!b/%7e/%c3%a9", "/é/%", "/a%20(b)"].map(href.canonical),
        visible: ["a\\u202eb", "\\u061cc", "x\\ny", "\\u007f", "a\\u200b\\ufeff\\u200db"].map(href.visible),
    }
}"""


@test
def paths_are_encoded_as_by_the_server(lab):
    found = lab.page().evaluate(HREFS)
    expect(found, {
        "segments": ["a%20b", "%C3%A9", "%21%27%28%29%2A", "a%2Fb", "%25", "~-._", "%EF%BF%BD"],
        "names": ["a b", "é", "\ufffdA", "", "a/b"],
        "parents": ["/", "/", "/a/", "/a/", "/"],
        "canonical": ["/a%21b/~/%C3%A9", "/%C3%A9/%25", "/a%20%28b%29"],
        "visible": ["a\ufffdb", "\ufffdc", "x\u240ay", "\u2421", "a\ufffd\ufffd\u200db"],
    })
