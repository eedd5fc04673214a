extension WebDAVExchange {
    /// RFC 4918 §6, §7, §9.10, §9.11, §10.7.
    static let locks: [WebDAVExchange] = [
        WebDAVExchange(
            "9.10.1, 9.10.6, 9.11, 10.5, 6.5", "LOCK and UNLOCK",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "LOCK /a", ["Depth: 0", "Timeout: Second-300"], lockInfo(), 200,
                    ["Lock-Token": "*", "Content-Type": "application/xml; charset=utf-8"],
                    holds: [
                        "<D:prop xmlns:D=\"DAV:\"><D:lockdiscovery><D:activelock>", "<D:exclusive/>",
                        "<D:timeout>Second-300</D:timeout>", "<D:href>opaquelocktoken:",
                        "<D:lockroot><D:href>/a</D:href>",
                    ]),
                ask(
                    "PUT /a", [], "y", 423,
                    holds: ["<D:lock-token-submitted><D:href>/a</D:href></D:lock-token-submitted>"]),
                ask("UNLOCK /a", 400), ask("UNLOCK /a", ["Lock-Token: {1}"], 400),
                ask(
                    "UNLOCK /a", ["Lock-Token: <urn:uuid:no>"], 409,
                    holds: ["<D:lock-token-matches-request-uri/>"]),
                ask("UNLOCK /a", ["Lock-Token: <{1}>"], 204, ["Lock-Token": nil]),
                ask("PUT /a", [], "z", 204),
                ask("UNLOCK /a", ["Lock-Token: <{1}>"], 409), ask("UNLOCK /none", ["Lock-Token: <{1}>"], 409),
            ]),
        WebDAVExchange(
            "7.3, 9.10.4, 9.10.6", "LOCK of an unmapped name creates an empty resource",
            [
                ask(
                    "LOCK /new", ["Depth: 0"], lockInfo(), 201, ["Lock-Token": "*"], holds: ["<D:activelock>"]
                ),
                ask("GET /new", 200, ["Content-Length": "0"]),
                ask("PROPFIND /", ["Depth: 1"], 207, holds: ["/new<"]),
                ask("MKCOL /new", 405), ask("PUT /new", [], "x", 423),
                ask("PUT /new", ["If: (<{1}>)"], "x", 204),
                // The new resource remains when the lock is removed.
                ask("UNLOCK /new", ["Lock-Token: <{1}>"], 204), ask("GET /new", 200, holds: ["x"]),
                ask("LOCK /no/new", [], lockInfo(), 409), ask("LOCK /slash/", [], lockInfo(), 409),
                ask("HEAD /slash", 404),
            ]),
        WebDAVExchange(
            "9.10.2, 6.6, 10.7", "refresh",
            [
                ask("PUT /a", [], "x", 201),
                ask("LOCK /a", ["Depth: 0", "Timeout: Second-300"], lockInfo(), 200),
                ask(
                    "LOCK /a", ["If: (<{1}>)", "Timeout: Second-900"], 200, ["Lock-Token": nil],
                    holds: ["<D:timeout>Second-900<", "{1}", ">me</D:owner>"]),
                ask(
                    "LOCK /a", ["If: </a> (<{1}>)", "Content-Type: text/xml", "Content-Length: 0"], 200,
                    holds: ["{1}"]),
                // The Depth of a refresh is ignored.
                ask("LOCK /a", ["If: (<{1}>)", "Depth: infinity"], 200, holds: ["<D:depth>0<"]),
                ask("LOCK /a", 400), ask("LOCK /a", ["If: (<urn:uuid:no>)"], 412),
                ask("LOCK /a", ["If: ([\"no\"])"], 412),
                ask(
                    "LOCK /a", ["If: (Not <urn:uuid:no>)"], 412,
                    holds: ["<D:lock-token-matches-request-uri/>"]),
                // A LOCK with content requests a new lock, which conflicts with the existing one.
                ask(
                    "LOCK /a", ["If: (<{1}>)"], lockInfo(), 423,
                    holds: ["<D:no-conflicting-lock><D:href>/a</D:href>"]),
                ask("LOCK /free", ["If: (<{1}>)"], 412), ask("HEAD /free", 404),
            ]),
        WebDAVExchange(
            "9.10.2, 9.10.3",
            "a collection lock, refreshed and removed through a member, but not through an unmapped name",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201), ask("LOCK /d", [], lockInfo(), 200),
                ask("LOCK /d/a", ["If: (<{1}>)"], 200, holds: ["<D:lockroot><D:href>/d/</D:href>", "{1}"]),
                ask("LOCK /d/free", ["If: </d> (<{1}>)"], 412),
                ask("UNLOCK /d/free", ["Lock-Token: <{1}>"], 409),
                ask("UNLOCK /d/a", ["Lock-Token: <{1}>"], 204), ask("PUT /d/a", [], "y", 204),
                ask("PUT /d/b", [], "y", 201),
            ]),
        WebDAVExchange(
            "6.2, 9.10.5", "shared locks, and the compatibility table",
            [
                ask("PUT /a", [], "x", 201), ask("LOCK /a", [], lockInfo("shared"), 200),
                ask("LOCK /a", [], lockInfo("shared"), 200, holds: ["{1}"]),
                ask(
                    "LOCK /a", [], lockInfo("exclusive"), 423,
                    holds: ["<D:no-conflicting-lock><D:href>/a</D:href></D:no-conflicting-lock>"]),
                ask("PUT /a", [], "y", 423), ask("PUT /a", ["If: (<{1}>)"], "y", 204),
                ask("PUT /a", ["If: (<{2}>)"], "y", 204),
                // The response contains the complete lockdiscovery, with the refreshed lock last.
                ask(
                    "LOCK /a", ["If: (<{1}>)"], 200,
                    holds: [
                        "{2}",
                        "{1}</D:href></D:locktoken><D:lockroot><D:href>/a</D:href></D:lockroot></D:activelock></D:lockdiscovery>",
                    ]),
                ask("UNLOCK /a", ["Lock-Token: <{1}>"], 204), ask("PUT /a", ["If: (<{1}>)"], "y", 412),
                ask("UNLOCK /a", ["Lock-Token: <{2}>"], 204), ask("LOCK /a", [], lockInfo("exclusive"), 200),
                ask("LOCK /a", [], lockInfo("shared"), 423, holds: ["no-conflicting-lock"]),
            ]),
        WebDAVExchange(
            "7.4, 9.10.3", "a depth-0 lock on a collection protects its membership",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201), ask("PUT /o", [], "o", 201),
                ask("LOCK /d", ["Depth: 0"], lockInfo(), 200), ask("PUT /d/a", [], "y", 204),
                ask("PROPPATCH /d/a", [], update(set("<x:p>1</x:p>")), 207),
                ask("PROPPATCH /d", [], update(set("<x:p>1</x:p>")), 423, holds: ["<D:href>/d/</D:href>"]),
                ask("PUT /d/b", [], "y", 423, holds: ["lock-token-submitted", "<D:href>/d/</D:href>"]),
                ask("MKCOL /d/b", 423), ask("LOCK /d/b", [], lockInfo(), 423), ask("DELETE /d/a", 423),
                ask("MOVE /d/a", ["Destination: /b"], 423), ask("MOVE /d/a", ["Destination: /d/b"], 423),
                ask("MOVE /o", ["Destination: /d/b"], 423), ask("COPY /o", ["Destination: /d/b"], 423),
                // COPY and MOVE onto an existing member remove it first, so the lock of the collection
                // applies.
                ask("COPY /o", ["Destination: /d/a"], 423), ask("MOVE /o", ["Destination: /d/a"], 423),
                ask("COPY /o", ["Destination: /d/a", "If: </d/> (<{1}>)"], 204),
                ask("PUT /d/b", ["If: </d/> (<{1}>)"], "y", 201),
                ask("DELETE /d/b", ["If: </d/> (<{1}>)"], 204),
                ask("COPY /d/a", ["Destination: /c"], 201), ask("LOCK /d/a", ["Depth: 0"], lockInfo(), 200),
            ]),
        WebDAVExchange(
            "7.4, 6.1, 7.6", "a depth-infinity lock covers current and future members",
            [
                ask("MKCOL /d", 201), ask("MKCOL /d/e", 201), ask("PUT /o", [], "o", 201),
                ask("LOCK /d", [], lockInfo(), 200),
                ask("PUT /d/e/a", [], "x", 423), ask("PUT /d/e/a", ["If: </d/> (<{1}>)"], "x", 201),
                ask("PUT /d/e/a", [], "x", 423, holds: ["<D:href>/d/</D:href>"]),
                ask("MOVE /o", ["Destination: /d/o"], 423),
                ask("MOVE /o", ["Destination: /d/o", "If: </d> (<{1}>)"], 201), ask("DELETE /d/o", 423),
                ask("PROPFIND /d/o", ["Depth: 0"], find("<D:lockdiscovery/>"), 207, holds: ["{1}"]),
                ask("COPY /d/e", ["Destination: /e"], 201), ask("PUT /e/a", [], "y", 204),
                ask("UNLOCK /d", ["Lock-Token: <{1}>"], 204), ask("DELETE /d", 204),
            ]),
        WebDAVExchange(
            "9.10.3, 9.10.6, 14.24", "a depth-infinity lock is atomic: 207",
            [
                ask("MKCOL /d", 201), ask("PUT /d/a", [], "x", 201),
                ask("LOCK /d/a", [], lockInfo("shared"), 200),
                ask("LOCK /d/a", [], lockInfo("shared"), 200),
                ask(
                    "LOCK /d", ["Depth: infinity"], lockInfo(), 207, ["Lock-Token": nil],
                    holds: [
                        "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>/d/a</D:href><D:status>HTTP/1.1 423 Locked</D:status>"
                            + "<D:error><D:no-conflicting-lock></D:no-conflicting-lock></D:error></D:response><D:response><D:href>/d/</D:href>"
                            + "<D:status>HTTP/1.1 424 Failed Dependency</D:status></D:response></D:multistatus>"
                    ]),
                ask(
                    "PROPFIND /d", ["Depth: 0"], find("<D:lockdiscovery/>"), 207,
                    holds: ["<D:lockdiscovery/>"]),
                ask("LOCK /d", ["Depth: infinity"], lockInfo("shared"), 200),
            ]),
        WebDAVExchange(
            "9.10.3, 10.2", "Depth of LOCK",
            [
                ask("MKCOL /d", 201), ask("LOCK /d", ["Depth: 1"], lockInfo(), 400),
                ask("LOCK /d", ["Depth: x"], lockInfo(), 400),
                ask("LOCK /d", [], lockInfo("shared"), 200, holds: ["<D:depth>infinity<"]),
                ask("LOCK /d", ["Depth: 0"], lockInfo("shared"), 200, holds: ["<D:depth>0<"]),
            ]),
        WebDAVExchange(
            "9.6, 9.6.1, 7.4",
            "DELETE of a tree with a lock: 207 lists the locked resource but not its ancestors",
            [
                ask("MKCOL /d", 201), ask("MKCOL /d/e", 201), ask("PUT /d/e/a", [], "x", 201),
                ask("PUT /d/e/b", [], "x", 201),
                ask("PUT /d/c", [], "x", 201), ask("LOCK /d/e/a", ["Depth: 0"], lockInfo(), 200),
                ask(
                    "DELETE /d", 207,
                    holds: ["<D:response><D:href>/d/e/a</D:href><D:status>HTTP/1.1 423 Locked</D:status>"],
                    lacks: [
                        "<D:href>/d/</D:href>", "<D:href>/d/e/</D:href>", "HTTP/1.1 424", "HTTP/1.1 204",
                        "HTTP/1.1 200",
                    ]),
                ask("GET /d/e/a", 200), ask("GET /d/e/b", 404), ask("GET /d/c", 404),
                ask("DELETE /d/e/a", 423),
                ask("DELETE /d", ["If: </d/e/a> (<{1}>)"], 204), ask("HEAD /d", 404),
            ]),
        WebDAVExchange(
            "7.5, 7.6, 9.9.4, 9.8.5, 16", "MOVE and COPY with locked resources",
            [
                ask("MKCOL /s", 201), ask("PUT /s/a", [], "x", 201), ask("MKCOL /t", 201),
                ask("PUT /t/b", [], "y", 201),
                ask("LOCK /s/a", ["Depth: 0"], lockInfo(), 200),
                ask("LOCK /t/b", ["Depth: 0"], lockInfo(), 200),
                ask(
                    "MOVE /s", ["Destination: /n"], 423,
                    holds: ["<D:lock-token-submitted><D:href>/s/a</D:href>"]),
                ask("GET /s/a", 200), ask("HEAD /n", 404), ask("COPY /s", ["Destination: /n"], 201),
                // A copy is not locked.
                ask("PUT /n/a", [], "z", 204),
                ask(
                    "COPY /n", ["Destination: /t"], 423,
                    holds: ["<D:lock-token-submitted><D:href>/t/b</D:href>"]),
                ask("MOVE /s", ["Destination: /t", "If: </s/a> (<{1}>)"], 423),
                ask("MOVE /s", ["Destination: /t", "If: </s/a> (<{1}>) </t/b> (<{2}>)"], 204),
                // Locks are not moved, and those at the destination were removed.
                ask("PUT /t/a", [], "z", 204), ask("PUT /t/b", [], "z", 201), ask("HEAD /s", 404),
            ]),
        WebDAVExchange(
            "9.10.1, 14.17", "the owner is returned as sent",
            [
                ask("PUT /a", [], "x", 201),
                ask(
                    "LOCK /a", ["Depth: 0"],
                    lockInfo(
                        owner:
                            "<D:owner xml:lang=\"de\"><D:href>mailto:a@b</D:href> J\u{F6}rg &amp; <o:x xmlns:o=\"urn:o\" a=\"1\"/></D:owner>"
                    ),
                    200,
                    holds: [
                        "xml:lang=\"de\"",
                        "<D:href>mailto:a@b</D:href> J\u{F6}rg &amp; <o:x xmlns:o=\"urn:o\" a=\"1\"/></D:owner>",
                    ]),
                ask("PUT /b", [], "x", 201),
                ask("LOCK /b", [], lockInfo(owner: ""), 200, lacks: ["owner"]),
                ask("PUT /c", [], "x", 201),
                ask(
                    "LOCK /c", [],
                    lockInfo(owner: "<D:owner>\(String(repeating: "o", count: 300))</D:owner>"), 200,
                    holds: [">\(String(repeating: "o", count: 300))</D:owner>"]),
            ]),
        WebDAVExchange(
            "10.7, 6.6", "any Timeout is accepted, and the granted one is finite",
            [ask("PUT /a", [], "x", 201)]
                + [
                    ("Infinite", 86400), ("Second-4100000000", 86400), ("Infinite, Second-4100000000", 86400),
                    ("Second-180", 180), ("second-200", 200), ("Seconds-600, Second-77", 77), ("Second-0", 1),
                ].map { requested, granted in
                    ask(
                        "LOCK /a", ["Timeout: \(requested)"], lockInfo("shared"), 200,
                        holds: ["<D:timeout>Second-\(granted)</D:timeout>"], lacks: ["Infinite"])
                }),
        WebDAVExchange(
            "6.1, 9.6, 9.9.1", "a lock ends with its resource",
            [
                ask("PUT /a", [], "x", 201), ask("LOCK /a", [], lockInfo(), 200),
                ask("DELETE /a", ["If: (<{1}>)"], 204),
                ask("PUT /a", [], "y", 201), ask("LOCK /a", [], lockInfo(), 200),
                ask("MOVE /a", ["Destination: /b", "If: (<{2}>)"], 201),
                ask("PUT /a", [], "z", 201), ask("PUT /b", [], "z", 204),
            ]),
        WebDAVExchange(
            "7, 7.2", "a lock only protects against writes",
            [
                ask("PUT /a", [], "x", 201), ask("LOCK /a", [], lockInfo(), 200), ask("GET /a", 200),
                ask("HEAD /a", 200),
                ask("PROPFIND /a", ["Depth: 0"], 207), ask("OPTIONS /a", 200),
                ask("COPY /a", ["Destination: /b"], 201),
                ask("PROPPATCH /a", [], update(set("<x:p>1</x:p>")), 423), ask("DELETE /a", 423),
            ]),
    ]
}
