extension WebDAVExchange {
    private static let anna = "Authorization: Basic YW5uYTpzZWNyZXQ="
    private static let bert = "Authorization: Basic YmVydDpzZWNyZXQ="

    /// §6.4, §6.5, §7.5, with accounts.
    static let principals: [WebDAVExchange] = [
        WebDAVExchange(
            "6.4, 7.5, 9.11", "a token is only valid for the user who created the lock",
            [
                ask("PUT /a", [anna], "x", 201), ask("LOCK /a", [anna, "Depth: 0"], lockInfo(), 200),
                // Every user can read the token.
                ask("PROPFIND /a", [bert, "Depth: 0"], 207, holds: ["{1}"]),
                ask("PUT /a", [bert, "If: (<{1}>)"], "y", 423, holds: ["lock-token-submitted"]),
                ask("DELETE /a", [bert, "If: (<{1}>)"], 423),
                ask("UNLOCK /a", [bert, "Lock-Token: <{1}>"], 403),
                ask("LOCK /a", [bert, "If: (<{1}>)"], 403), ask("PUT /a", [anna], "y", 423),
                ask("PUT /a", [anna, "If: (<{1}>)"], "y", 204),
                ask("UNLOCK /a", [anna, "Lock-Token: <{1}>"], 204),
                ask("PUT /a", [bert], "z", 204),
            ])
    ]

    /// §10.4, in combination with RFC 9110.
    static let conditions: [WebDAVExchange] = [
        WebDAVExchange(
            "10.4, 10.4.3, 10.4.4", "If with entity tags and unmapped resources",
            [
                ask("PUT /a", [], "x", 201), ask("PUT /a", ["If: ([{tag}])"], "y", 204),
                ask("PUT /a", ["If: ([\"no\"])"], "z", 412),
                ask("PUT /a", ["If: ([W/{tag}])"], "z", 412), ask("PUT /a", ["If: (Not [\"no\"])"], "z", 204),
                ask("PUT /a", ["If: ([\"no\"]) ([{tag}])"], "z", 204),
                ask("PUT /a", ["If: ([\"no\"] [{tag}])"], "z", 412),
                ask("PUT /new", ["If: ([\"no\"])"], "z", 412), ask("PUT /new", ["If: (<urn:x>)"], "z", 412),
                ask("HEAD /new", 404),
                ask("PUT /new", ["If: (Not <urn:x>)"], "z", 201),
                ask("PUT /new", ["If: </none> ([\"no\"])"], "z", 412),
                ask("PUT /new", ["If: </none> (Not [\"no\"])"], "z", 204),
                ask("PUT /new", ["If: <http://elsewhere.example/a> (<urn:x>)"], "z", 412),
                ask("PUT /new", ["If: <http://elsewhere.example/a> (Not <urn:x>)"], "z", 204),
            ]),
        WebDAVExchange(
            "10.4.2", "a malformed If is refused and changes nothing",
            [ask("PUT /a", [], "x", 201)]
                + [
                    "", "(", "()", "(<urn:x>", "<urn:x>", "<urn:x> <urn:y> (<urn:z>)", "(Not)", "(<>)",
                    "([x])", "x",
                ].map {
                    ask("PUT /a", ["If: \($0)"], "y", 400)
                } + [
                    ask("PUT /a", ["If: (<urn:x>) </a> (<urn:x>)"], "y", 400),
                    ask("GET /a", 200, holds: ["x"]),
                ]),
        WebDAVExchange(
            "10.4.1, 10.4.5, 10.4.6, 10.4.7, 7.5",
            "a token counts as submitted anywhere; the lists must also match",
            [
                ask("PUT /a", [], "x", 201), ask("PUT /b", [], "x", 201),
                ask("LOCK /a", ["Depth: 0"], lockInfo(), 200),
                ask("PUT /a", ["If: (Not <DAV:no-lock>)"], "y", 423),
                ask("PUT /a", ["If: (<{1}>)"], "y", 204),
                ask("PUT /a", ["If: </a> (<{1}>)"], "y", 204),
                ask("PUT /a", ["If: <http://localhost/a> (<{1}>)"], "y", 204),
                ask("PUT /a", ["If: <http://user:word@localhost/a> (<{1}>)"], "y", 204),
                ask("PUT /a", ["If: (<{1}> [\"no\"])"], "y", 412),
                ask("PUT /a", ["If: (<{1}> [{tag}])"], "y", 204),
                ask("PUT /a", ["If: (<{1}> [\"no\"]) (Not <DAV:no-lock>)"], "y", 204),
                ask("PUT /b", ["If: (<{1}>)"], "y", 412), ask("PUT /b", ["If: </a> (<{1}>)"], "y", 204),
                ask("MOVE /b", ["Destination: /a", "If: </a> (<{1}>)"], 204),
            ]),
        WebDAVExchange(
            "10.4.1, 10.4", "If with methods that read or create",
            [
                ask("PUT /a", [], "x", 201), ask("GET /a", ["If: ([\"no\"])"], 412),
                ask("GET /a", ["If: ([{tag}])"], 200),
                ask("PROPFIND /a", ["Depth: 0", "If: ([\"no\"])"], 412),
                ask("MKCOL /d", ["If: (<urn:x>)"], 412),
                ask("COPY /a", ["Destination: /c", "If: ([\"no\"])"], 412),
                ask("PROPPATCH /a", ["If: ([\"no\"])"], update(set("<x:p>1</x:p>")), 412),
                ask("LOCK /a", ["If: ([\"no\"])"], lockInfo(), 412),
                ask("UNLOCK /a", ["Lock-Token: <urn:x>", "If: ([\"no\"])"], 412),
                ask("HEAD /d", 404), ask("HEAD /c", 404),
            ]),
        WebDAVExchange(
            "12.1",
            "HTTP conditions apply to the target of every method that changes something",
            [ask("PUT /a", [], "x", 201), ask("PUT /b", [], "y", 201)]
                + [
                    ("PUT /a", "new"), ("DELETE /a", ""), ("COPY /a", ""), ("MOVE /a", ""),
                    ("LOCK /a", lockInfo()),
                    ("PROPPATCH /a", update(set("<x:p>1</x:p>"))), ("UNLOCK /a", ""),
                ].flatMap { line, content in
                    [
                        "If-Match: \"old\"", "If-Match: {tag}", "If-Match: no tag", "If-None-Match: *",
                        "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
                    ].map {
                        ask(line, [$0, "Destination: /c", "Lock-Token: <urn:x>"], content, 412)
                    }
                } + [
                    ask("GET /a", 200, holds: ["x"]), ask("HEAD /c", 404), ask("HEAD /a", 200),
                    // The tag is the current one of /a, not that of /b, the destination.
                    ask("COPY /a", ["Destination: /b", "If-Match: {tag}"], 204),
                    ask("HEAD /a", 200), ask("MOVE /a", ["Destination: /b", "If-None-Match: no tag"], 204),
                    ask("DELETE /b", ["If-Unmodified-Since: yesterday", "If-Modified-Since: today"], 204),
                    ask("MKCOL /d", ["If-Match: *"], 412), ask("MKCOL /d", ["If-Match: \"x\""], 412),
                    ask(
                        "MKCOL /d",
                        ["If-None-Match: *", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], 201),
                ]),
        WebDAVExchange(
            "10.4, 12.1", "both If and If-Match must match",
            [
                ask("PUT /a", [], "x", 201), ask("LOCK /a", ["Depth: 0"], lockInfo(), 200),
                ask("PUT /a", ["If: (<{1}>)", "If-Match: \"no\""], "y", 412),
                ask("PUT /a", ["If-Match: {tag}"], "y", 423),
                ask("PUT /a", ["If: (<urn:x>)", "If-Match: {tag}"], "y", 412),
                ask("PUT /a", ["If: (<{1}>)", "If-Match: {tag}"], "y", 204),
                ask("PUT /a", ["If: (<{1}>)", "If-None-Match: *"], "y", 412),
            ]),
    ]

    /// §16: each condition element occurs at least once.
    static let refusals: [WebDAVExchange] = [
        WebDAVExchange(
            "16, 8.7, 14.5, 11.3", "condition elements in XML",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201), ask("LOCK /d/a", [], lockInfo(), 200),
                ask(
                    "PUT /d/a", [], "y", 423, ["Content-Type": "application/xml; charset=utf-8"],
                    holds: [
                        "<D:error xmlns:D=\"DAV:\"><D:lock-token-submitted><D:href>/d/a</D:href></D:lock-token-submitted></D:error>"
                    ]),
                ask(
                    "LOCK /d/a", [], lockInfo(), 423,
                    holds: [
                        "<D:error xmlns:D=\"DAV:\"><D:no-conflicting-lock><D:href>/d/a</D:href></D:no-conflicting-lock></D:error>"
                    ]),
                ask(
                    "UNLOCK /d", ["Lock-Token: <{1}>"], 409,
                    holds: ["<D:error xmlns:D=\"DAV:\"><D:lock-token-matches-request-uri/></D:error>"]),
                ask(
                    "PROPPATCH /d", [], update(set("<D:getetag>1</D:getetag>")), 207,
                    holds: ["<D:error><D:cannot-modify-protected-property/></D:error>"]),
                ask("DELETE /d/a", 423, holds: ["lock-token-submitted"]),
            ]),
        WebDAVExchange(
            "11.2", "422 for a document with another root element",
            [
                ask("PUT /a", [], "x", 201), ask("LOCK /a", [], find("<D:getetag/>"), 422),
                ask("PROPPATCH /a", [], lockInfo(), 422),
            ]),
    ]
}
