import Testing

/// LOCK, UNLOCK, `If`, and the effects of locks.
struct LockMethodTests {
    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 4918 §9.10, §9.11: lock, write with the token, unlock",
            [
                step("PUT /a", [], "x", 201), lock("/a", depth: "0"),
                step("PUT /a", [], "y", 423, holds: ["lock-token-submitted", "/a<"]),
                step("PUT /a", [("If", "(<$1>)")], "y", 204), step("DELETE /a", [], nil, 423),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 204),
                step(
                    "UNLOCK /a", [("Lock-Token", "<$1>")], nil, 409, holds: ["lock-token-matches-request-uri"]
                ),
                step("PUT /a", [], "z", 204),
            ]),
        Scenario(
            "RFC 4918 §7.3: LOCK on an unmapped URL creates an empty resource",
            [
                lock("/new", depth: "0", status: 201), step("GET /new", [], nil, 200),
                step("PROPFIND /", [("Depth", "1")], nil, 207, holds: ["/new<"]),
                step("PUT /new", [("If", "(<$1>)")], "x", 204), lock("/no/new", status: 409),
                lock("/other/", status: 409), step("GET /other", [], nil, 404),
            ]),
        Scenario(
            "RFC 4918 §6.1: the compatibility table",
            [
                step("PUT /a", [], "x", 201), lock("/a", scope: "shared"), lock("/a", scope: "shared"),
                step("LOCK /a", [], lockBody(scope: "exclusive"), 423, holds: ["no-conflicting-lock"]),
                step("PUT /a", [("If", "(<$2>)")], "y", 204),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 204),
                step("PUT /a", [], "y", 423), step("UNLOCK /a", [("Lock-Token", "<$2>")], nil, 204),
                lock("/a"), step("LOCK /a", [], lockBody(scope: "shared"), 423),
            ]),
        Scenario(
            "RFC 4918 §7.4: a lock of depth 0 on a collection protects its members' names, not their content",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201), lock("/d", depth: "0"),
                step("PUT /d/a", [], "y", 204), step("PUT /d/b", [], "y", 423),
                step("DELETE /d/a", [], nil, 423),
                step("MKCOL /d/e", [], nil, 423), step("MOVE /d/a", [("Destination", "/a")], nil, 423),
                step("COPY /d/a", [("Destination", "/d/c")], nil, 423),
                step("PUT /d/b", [("If", "</d/> (<$1>)")], "y", 201),
                step("PUT /d/b", [("If", "<http://localhost/d> (<$1>)")], "y", 204),
            ]),
        Scenario(
            "RFC 4918 §7.4: a lock of depth infinity covers all descendants, including later ones",
            [
                step("MKCOL /d", [], nil, 201), lock("/d"), step("PUT /d/a", [], "x", 423),
                step("PUT /d/a", [("If", "(<$1>)")], "x", 201), step("PUT /d/a", [], "x", 423),
                step("PROPPATCH /d/a", [], setProperty("p", "1"), 423),
                step("LOCK /d/a", [], lockBody(scope: "exclusive"), 423, holds: ["/d/<"]),
                step("PROPFIND /d/a", [("Depth", "0")], nil, 207, holds: ["$1"]),
                step("UNLOCK /d/a", [("Lock-Token", "<$1>")], nil, 204), step("PUT /d/a", [], "y", 204),
            ]),
        Scenario(
            "RFC 9110 §15.5.6: impossible requests are refused before locks are checked",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /f", [], "x", 201), lock("/d"), lock("/f"),
                step("MKCOL /d", [], nil, 405), step("MKCOL /f", [], nil, 405),
                step("PUT /a", [], "x", 201),
                step("MOVE /a", [("Destination", "/f"), ("Overwrite", "F")], nil, 412),
                step("MOVE /a", [("Destination", "/d"), ("Overwrite", "F")], nil, 412),
                step("MOVE /a", [("Destination", "/f")], nil, 423),
            ]),
        Scenario(
            "RFC 4918 §6.6: the remaining timeout, and expiry",
            [
                step("PUT /a", [], "x", 201),
                lock("/a", depth: "0", fields: [("Timeout", "Second-300")]),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: ["Second-300"]),
                // The clock of a request can be slightly earlier than that of the lock.
                later(seconds: -2),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: ["Second-300"]), later(seconds: 102),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: ["Second-200"]),
                step(
                    "LOCK /a", [("If", "(<$1>)"), ("Timeout", "Second-400")], nil, 200, holds: ["Second-400"]),
                later(seconds: 399), step("PUT /a", [], "y", 423),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: ["Second-1<"]), later(seconds: 1),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: ["<D:lockdiscovery/>"]),
                step("PUT /a", [("If", "(<$1>)")], "y", 412), step("PUT /a", [], "y", 204),
                step("LOCK /a", [("If", "(<$1>)")], nil, 412),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 409),
            ]),
        Scenario(
            "RFC 4918 §7.5: a token of depth infinity also applies to descendants with another shared lock",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                lock("/d", scope: "shared"), lock("/d/a", depth: "0", scope: "shared"),
                step("PUT /d/a", [("If", "</d> (<$1>)")], "y", 204),
                step("MOVE /d", [("Destination", "/e"), ("If", "</d> (<$1>)")], nil, 201),
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                lock("/d", depth: "0", scope: "shared"), lock("/d/a", depth: "0", scope: "shared"),
                step("MOVE /d", [("Destination", "/f"), ("If", "</d> (<$3>)")], nil, 423, holds: ["/d/a<"]),
            ]),
        Scenario(
            "RFC 4918 §9.10.3: a lock of depth infinity conflicts with a locked member",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201), lock("/d/a", depth: "0"),
                step(
                    "LOCK /d", [], lockBody(scope: "exclusive"), 207,
                    holds: [
                        "/d/a</D:href><D:status>HTTP/1.1 423", "no-conflicting-lock",
                        "/d/</D:href><D:status>HTTP/1.1 424",
                    ]), step("PUT /d/b", [], "x", 201),
                lock("/d", depth: "0"),
            ]),
        Scenario(
            "RFC 4918 §9.6.1: DELETE leaves a locked member and its ancestors",
            [
                step("MKCOL /d", [], nil, 201), step("MKCOL /d/e", [], nil, 201),
                step("PUT /d/e/a", [], "x", 201),
                step("PUT /d/e/b", [], "x", 201), step("PUT /d/c", [], "x", 201), lock("/d/e/a", depth: "0"),
                step(
                    "DELETE /d", [], nil, 207, holds: ["/d/e/a<", "HTTP/1.1 423"], lacks: ["/d/e/<", "/d/<"]),
                step("GET /d/e/a", [], nil, 200), step("GET /d/e/b", [], nil, 404),
                step("GET /d/c", [], nil, 404),
                step("DELETE /d", [("If", "</d/e/a> (<$1>)")], nil, 204), step("HEAD /d", [], nil, 404),
            ]),
        Scenario(
            "RFC 4918 §7.5: locks are not moved, and end with their resource",
            [
                step("PUT /a", [], "x", 201), lock("/a", depth: "0"),
                step("MOVE /a", [("Destination", "/b")], nil, 423),
                step("MOVE /a", [("Destination", "/b"), ("If", "(<$1>)")], nil, 201),
                step("PUT /b", [], "y", 204),
                step("PUT /a", [], "y", 201), step("COPY /b", [("Destination", "/c")], nil, 201),
                step("PUT /c", [], "z", 204),
            ]),
        Scenario(
            "RFC 4918 §7.5: COPY and MOVE over a locked resource need its token",
            [
                step("PUT /a", [], "x", 201), step("PUT /b", [], "y", 201), lock("/b", depth: "0"),
                step("COPY /a", [("Destination", "/b")], nil, 423),
                step("MOVE /a", [("Destination", "/b")], nil, 423),
                step("GET /b", [], nil, 200, holds: ["y"]),
                step("COPY /a", [("Destination", "/b"), ("If", "<http://localhost/b> (<$1>)")], nil, 204),
            ]),
        Scenario(
            "RFC 4918 §9.10.2: refresh",
            [
                step("PUT /a", [], "x", 201), lock("/a", depth: "0", fields: [("Timeout", "Second-300")]),
                step(
                    "LOCK /a", [("If", "(<$1>)"), ("Timeout", "Second-200")], nil, 200,
                    holds: ["$1", "Second-200"]),
                step("LOCK /a", [("If", "(<urn:uuid:no>)")], nil, 412), step("LOCK /a", [], nil, 400),
            ]),
        Scenario(
            "RFC 4918 §10.7: the granted timeout is always finite",
            [
                step("PUT /a", [], "x", 201),
                lock("/a", scope: "shared", fields: [("Timeout", "Infinite, Second-4100000000")]),
                lock("/a", scope: "shared", fields: [("Timeout", "Second-4100000000")]),
                lock("/a", scope: "shared", fields: [("Timeout", "Seconds-600")]),
                lock("/a", scope: "shared"),
                step(
                    "PROPFIND /a", [("Depth", "0")], nil, 207, holds: ["Second-86400", "Second-1800"],
                    lacks: ["Infinite"]),
            ]),
        Scenario(
            "RFC 4918 §6.4: only the owner of a lock may use its token",
            [
                step("PUT /a", [], "x", 201, as: "ann"), lock("/a", depth: "0", as: "ann"),
                step("PUT /a", [("If", "(<$1>)")], "y", 423, as: "bob"),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 403, as: "bob"),
                step("LOCK /a", [("If", "(<$1>)")], nil, 403, as: "bob"),
                step("PUT /a", [("If", "(<$1>)")], "y", 204, as: "ann"),
            ]),
        Scenario(
            "RFC 4918 §10.4: If",
            [
                step("PUT /a", [], "x", 201), step("PUT /a", [("If", "([$e])")], "y", 204),
                step("PUT /a", [("If", "([\"no\"])")], "z", 412),
                step("PUT /a", [("If", "(Not [\"no\"])")], "z", 204),
                step("PUT /a", [("If", "(<urn:x>)")], "z", 412),
                step("PUT /a", [("If", "(Not <urn:x>)")], "z", 204),
                step("PUT /a", [("If", "(<urn:x>) (Not <DAV:no-lock>)")], "z", 204),
                step("PUT /a", [("If", "(")], "z", 400),
                step("PUT /a", [("If", "</b> (Not <urn:x>)")], "z", 204),
                step("PUT /a", [("If", "</b> ([\"no\"])")], "z", 412), lock("/a", depth: "0"),
                step("PUT /a", [("If", "(Not <DAV:no-lock>)")], "z", 423),
                step("PUT /a", [("If", "(<$1>) (Not <DAV:no-lock>)")], "z", 204),
                step("GET /a", [("If", "([\"no\"])")], nil, 412),
            ]),
        Scenario(
            "The owner is returned unmodified",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "LOCK /a", [("Depth", "0")],
                    """
                    <D:lockinfo xmlns:D="DAV:" xmlns:o="urn:o"><D:lockscope><D:exclusive/></D:lockscope><D:locktype>\
                    <D:write/></D:locktype><D:owner><o:who a="1">J&#xF6;rg &amp; <o:x/>co</o:who></D:owner></D:lockinfo>
                    """, 200, holds: ["a=\"1\"", "Jörg &amp; <o:x/>co</o:who>"]),
                step("LOCK /a", [], "<D:nonsense xmlns:D=\"DAV:\"/>", 422),
                step("LOCK /a", [], "<broken", 400),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }
}
