extension Contract {
    static let locking: [Contract] = [
        Contract(
            108, "LOCK of a file and of an unmapped name",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("LOCK /b", [], lockInfo(), 201), ask("HEAD /b", 200),
            ]),
        Contract(
            109, "the token in the field and the body",
            text + [
                ask(
                    "LOCK /a", [], lockInfo(), 200, ["Lock-Token": "*"],
                    holds: ["<D:prop xmlns:D=\"DAV:\"><D:lockdiscovery><D:activelock>"]),
                ask(
                    "LOCK /a", ["If: (<{1}>)"], 200,
                    holds: ["<D:locktoken><D:href>{1}</D:href></D:locktoken>"]),
            ]),
        Contract(
            110, "the granted timeout",
            text + [
                ask("LOCK /a", ["Timeout: Second-180"], lockInfo(), 200, holds: ["<D:timeout>Second-180<"])
            ]),
        Contract(
            111, "any Timeout",
            text
                + ["Infinite", "Second-4100000000", "Infinite, Second-10", "Seconds-600"].map {
                    ask("LOCK /a", ["Timeout: \($0)"], lockInfo("shared"), 200, holds: ["<D:timeout>Second-"])
                }
                + [ask("LOCK /a", [], lockInfo("shared"), 200, holds: ["<D:timeout>Second-"])]),
        Contract(
            112, "the default Depth is infinity",
            text + [ask("LOCK /a", [], lockInfo(), 200, holds: ["<D:depth>infinity<"])]),
        Contract(
            113, "the owner is returned as sent",
            text + [
                ask(
                    "LOCK /a", [], lockInfo(owner: "<D:owner>  me &lt;m@e&gt; <D:href>x</D:href></D:owner>"),
                    200),
                ask(
                    "PROPFIND /a", ["Depth: 0"], find("<D:lockdiscovery/>"), 207,
                    holds: [">  me &lt;m@e&gt; <D:href>x</D:href></D:owner>"]),
            ]),
        Contract(
            114, "refresh",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("LOCK /a", ["If: (<{1}>)"], 200, holds: ["{1}"]),
                ask("LOCK /a", ["If: </a> (<{1}>)", "Content-Length: 0"], 200, holds: ["{1}"]),
                ask("LOCK /a", ["If: (<{1}>)", "Content-Type: text/xml"], 200, holds: ["{1}"]),
            ]),
        Contract(
            115, "the new lock is listed last",
            text + [
                ask("LOCK /a", [], lockInfo("shared"), 200),
                ask(
                    "LOCK /a", [], lockInfo("shared", owner: "<D:owner>second</D:owner>"), 200, holds: ["{1}"]
                ),
                ask(
                    "LOCK /a", ["If: (<{1}>)"], 200,
                    holds: [
                        "{2}",
                        "{1}</D:href></D:locktoken><D:lockroot><D:href>/a</D:href></D:lockroot></D:activelock></D:lockdiscovery>",
                    ]),
            ]),
        Contract(
            116, "a second exclusive lock",
            text + [ask("LOCK /a", [], lockInfo(), 200), ask("LOCK /a", [], lockInfo(), 423)]),
        Contract(
            117, "UNLOCK",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("UNLOCK /a", ["Lock-Token: <urn:x>"], 409),
                ask("UNLOCK /a", ["Lock-Token: <{1}>"], 204),
                ask("UNLOCK /a", ["Lock-Token: <{1}>"], 409), ask("UNLOCK /none", ["Lock-Token: <{1}>"], 409),
            ]),
        Contract(
            118, "If in every form",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("PUT /a", ["If: (<{1}>)"], "x", 204),
                ask("PUT /a", ["If: <http://localhost/a> (<{1}>)"], "x", 204),
                ask("PUT /a", ["If: </a> (<{1}>)"], "x", 204),
                ask("PUT /a", ["If: (<urn:x>) (<{1}>)"], "x", 204),
                ask("PUT /a", ["If: (<{1}> Not <urn:x>)"], "x", 204),
                ask("PUT /a", ["If: (<{1}> [{tag}])"], "x", 204),
            ]),
        Contract(
            119, "the token of a parent folder",
            [
                ask("MKCOL /d", 201), ask("LOCK /d", [], lockInfo(), 200),
                ask("PUT /d/a", ["If: <http://localhost/d/> (<{1}>)"], "x", 201),
            ]),
        Contract(
            120, "412 for a wrong token, 423 for none",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("PUT /a", ["If: (<urn:uuid:x>)"], "x", 412),
                ask("PUT /a", [], "x", 423),
            ]),
        Contract(
            122, "locks are independent of connections",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("LOCK /a", ["If: (<{1}>)"], 200),
                ask("PUT /a", ["If: (<{1}>)"], "x", 204),
            ]),
        Contract(
            123, "DELETE and MOVE end a lock",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("DELETE /a", ["If: (<{1}>)"], 204),
                ask("PUT /a", [], "x", 201), ask("LOCK /a", [], lockInfo(), 200),
                ask("MOVE /a", ["Destination: /b", "If: (<{2}>)"], 201), ask("PUT /a", [], "x", 201),
                ask("PUT /b", [], "x", 204),
            ]),
        Contract(
            124, "LOCK and UNLOCK do not change the entity tag",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("GET /a", ["If-None-Match: {tag}"], 304),
                ask("UNLOCK /a", ["Lock-Token: <{1}>"], 204), ask("GET /a", ["If-None-Match: {tag}"], 304),
            ]),
        Contract(
            128, "PROPPATCH is atomic",
            text + [
                ask(
                    "PROPPATCH /a", [], update(set("<x:p>1</x:p><D:getetag>1</D:getetag>")), 207,
                    holds: ["HTTP/1.1 403", "HTTP/1.1 424"]),
                ask("PROPFIND /a", ["Depth: 0"], find("<x:p/>"), 207, holds: ["HTTP/1.1 404"]),
            ]),
        Contract(
            129, "properties survive PUT, COPY and MOVE",
            text + [
                ask("PROPPATCH /a", [], update(set("<x:p><x:q>1</x:q></x:p>")), 207),
                ask("PUT /a", [], "x", 204), ask("MOVE /a", ["Destination: /b"], 201),
                ask("COPY /b", ["Destination: /c"], 201),
                ask("PROPFIND /c", ["Depth: 0"], find("<x:p/>"), 207, holds: ["<x:q>1</x:q>"]),
            ]),
        Contract(
            131, "executable can be set",
            text + [
                ask(
                    "PROPPATCH /a", [],
                    update(set("<A:executable xmlns:A=\"http://apache.org/dav/props/\">T</A:executable>")),
                    207, holds: ["200 OK"]),
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    find("<A:executable xmlns:A=\"http://apache.org/dav/props/\"/>"), 207, holds: [">T<"]),
            ]),
        Contract(
            132, "PROPPATCH with any type of content",
            text + [
                ask("PROPPATCH /a", [], update(set("<x:p>1</x:p>")), 207),
                ask(
                    "PROPPATCH /a", ["Content-Type: application/x-www-form-urlencoded"],
                    update(set("<x:p>1</x:p>")), 207),
            ]),
        Contract(
            133, "responses contain each property in its namespace",
            text + [
                ask(
                    "PROPPATCH /a", [], update(set("<x:p>1</x:p><p xmlns=\"urn:y\">2</p>")), 207,
                    holds: ["<N:p xmlns:N=\"urn:x\"/>", "<N:p xmlns:N=\"urn:y\"/>"])
            ]),
        Contract(
            134, "unknown properties are reported with 404, without an error",
            text + [
                ask(
                    "PROPFIND /a", ["Depth: 0"],
                    find("<o:contentclass xmlns:o=\"urn:schemas-microsoft-com:office:office\"/>"), 207,
                    holds: ["contentclass", "HTTP/1.1 404"])
            ]),
        Contract(
            135, "property names of all clients are accepted",
            ["/._x", "/.DS_Store", "/~$x", "/.~lock.x%23", "/Thumbs.db", "/desktop.ini"].map {
                ask("PUT \($0)", [], "x", 201)
            } + [ask("MKCOL /x.sb-1-a", 201)]),
        Contract(
            138, "stored HTML cannot run scripts",
            [
                ask("PUT /x.html", [], "<script></script>", 201),
                ask(
                    "GET /x.html", 200, ["X-Content-Type-Options": "nosniff", "Content-Security-Policy": "*"]),
            ]),
        Contract(
            139, "POST, and PATCH of an unknown kind, are refused",
            text + [
                ask("POST /a", [], "x", 405), ask("POST /_vti_bin/_vti_aut/author.dll", [], "x", 405),
                ask("PATCH /a", [], "x", 415),
            ]),
        Contract(
            140, "errors have a Content-Length",
            text + [
                ask("LOCK /a", [], lockInfo(), 200), ask("PUT /a", [], "x", 423, ["Content-Length": "*"]),
                ask("GET /none", 404, ["Content-Length": "*"]),
            ]),
    ]
}
