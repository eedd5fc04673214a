import DavitEngine
import DavitStore
import DavitTesting
import Testing

/// SEARCH (RFC 5323), from the client's perspective.
struct SearchTests {
    /// Creates files of several sizes and types; `a.txt` and `d/` have properties.
    static func makeShare(_ configure: (inout ShareConfiguration) -> Void = { _ in }) async throws
        -> TestShare
    {
        let share = try TestShare(nil, state: MemoryStateStore(), configure)
        let commands = """
            mkdir -p d/deep e; printf 1 > a.txt; printf 22 > B.TXT; printf 333 > 'c 100%.txt'; printf 4444 > d/a.txt
            printf 55555 > d/deep/f_g.html; : > e/empty; touch -d 2024-02-03T04:05:06Z a.txt
            touch -d 2025-02-03T04:05:06.75Z B.TXT
            """
        #expect(share.shell(commands.replacing("\n", with: ";")) == 0)
        let set = """
            <D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop xml:lang="de-CH"><x:p>Müller</x:p></D:prop></D:set>\
            <D:set><D:prop><x:n>10</x:n><x:t><x:in/>text</x:t><x:empty/></D:prop></D:set></D:propertyupdate>
            """
        #expect(try await share.client.send("PROPPATCH", "/a.txt", text: set).status == 207)
        #expect(try await share.client.send("PROPPATCH", "/d/", text: setProperty("n", "9")).status == 207)
        return share
    }

    static let all = [
        "/", "/B.TXT", "/a.txt", "/c%20100%25.txt", "/d/", "/d/a.txt", "/d/deep/", "/d/deep/f_g.html", "/e/",
        "/e/empty",
    ]
    static let files = all.filter { !$0.hasSuffix("/") }

    /// Conditions and their results.
    static let conditions: [(clause: String, condition: String, found: [String])] = [
        ("§5.5: everything, without a condition", "", all),
        ("§5.12", "<D:is-collection/>", ["/", "/d/", "/d/deep/", "/e/"]),
        ("§5.7", "<D:not><D:is-collection/></D:not>", files),
        // §5.8, §5.10: strings.
        ("§5.8", compare("eq", "D:displayname", "a.txt"), ["/a.txt", "/d/a.txt"]),
        ("§5.8: case", compare("eq", "D:displayname", "A.txt"), []),
        ("§5.18", compare("eq", "D:displayname", "b.txt", caseless: true), ["/B.TXT"]),
        ("§5.18: caseless is no", compare("eq", "D:displayname", "b.txt", caseless: false), []),
        ("§5.10: white space", compare("eq", "D:displayname", " a.txt "), []),
        ("§5.9", compare("lt", "D:displayname", "a"), ["/B.TXT"]),
        ("§5.8: types", compare("like", "D:getcontenttype", "text/html%"), ["/d/deep/f_g.html"]),
        // §5.10: numbers are compared as numbers.
        ("§5.9", compare("gt", "D:getcontentlength", "3"), ["/d/a.txt", "/d/deep/f_g.html"]),
        (
            "§5.9", compare("gte", "D:getcontentlength", " 3 "),
            ["/c%20100%25.txt", "/d/a.txt", "/d/deep/f_g.html"]
        ),
        ("§5.9", compare("lt", "D:getcontentlength", "10"), files),
        ("§5.9", compare("lte", "D:getcontentlength", "0"), ["/e/empty"]),
        ("§5.9: not a number", compare("lt", "D:getcontentlength", "ten"), []),
        (
            "§5.7: the negation of unknown is unknown",
            "<D:not>\(compare("lt", "D:getcontentlength", "ten"))</D:not>", []
        ),
        ("§5.9: too large", compare("lt", "D:getcontentlength", "99999999999999999999"), []),
        // Dates.
        ("§5.10", compare("eq", "D:getlastmodified", "2024-02-03T04:05:06Z"), ["/a.txt"]),
        ("§5.10: zones", compare("eq", "D:getlastmodified", "2024-02-03T05:05:06+01:00"), ["/a.txt"]),
        ("§5.10: whole seconds", compare("eq", "D:getlastmodified", "2025-02-03T04:05:06Z"), ["/B.TXT"]),
        (
            "§5.10: HTTP date", compare("eq", "D:getlastmodified", "Sat, 03 Feb 2024 04:05:06 GMT"),
            ["/a.txt"]
        ),
        (
            "§5.7",
            "<D:and>\(compare("gt", "D:getlastmodified", "2023-01-01T00:00:00Z"))"
                + "\(compare("lt", "D:getlastmodified", "2025-12-01T00:00:00Z"))</D:and>",
            ["/B.TXT", "/a.txt"]
        ),
        // Dead properties.
        ("§5.8", compare("eq", "x:p", "Müller"), ["/a.txt"]),
        ("§5.8: normalization forms", compare("eq", "x:p", "Mu\u{308}ller"), ["/a.txt"]),
        ("§5.18", compare("eq", "x:p", "MÜLLER", caseless: true), ["/a.txt"]),
        ("§5.10: a string", compare("lt", "x:n", "9"), ["/a.txt"]),
        ("§5.11: a number", compare("lt", "x:n", "10", type: "integer"), ["/d/"]),
        ("§5.11: a number", compare("gt", "x:n", "9.5", type: "decimal"), ["/a.txt"]),
        ("§5.11: not a number", compare("gt", "x:p", "0", type: "int"), []),
        ("§5.11: a length", compare("eq", "D:getcontentlength", "3.0", type: "double"), ["/c%20100%25.txt"]),
        ("§5.11: as a string", compare("eq", "D:getcontentlength", "3", type: "string"), ["/c%20100%25.txt"]),
        ("§5.5.3: an empty string is a value", compare("eq", "x:empty", ""), ["/a.txt"]),
        // §5.5.1, §5.5.3, §5.5.4: three-valued logic.
        ("§5.5.3: undefined", "<D:not>\(compare("eq", "x:p", "other"))</D:not>", ["/a.txt"]),
        ("§5.5.4: elements inside", compare("eq", "x:t", "text"), []),
        ("§5.5.4: elements inside", "<D:not>\(compare("eq", "x:t", "text"))</D:not>", []),
        ("§5.5.4", compare("eq", "D:resourcetype", ""), []),
        (
            "§5.5.1: unknown or true",
            "<D:or>\(compare("eq", "x:p", "other"))<D:is-collection/></D:or>",
            ["/", "/d/", "/d/deep/", "/e/"]
        ),
        ("§5.13", "<D:is-defined><D:prop><x:n/></D:prop></D:is-defined>", ["/a.txt", "/d/"]),
        ("§5.13", "<D:is-defined><D:prop><D:getcontentlength/></D:prop></D:is-defined>", files),
        ("§5.13: elements inside", "<D:is-defined><D:prop><x:t/></D:prop></D:is-defined>", ["/a.txt"]),
        (
            "§5.13: the root has no name",
            "<D:not><D:is-defined><D:prop><D:displayname/></D:prop></D:is-defined></D:not>", ["/"]
        ),
        ("§5.9: the volume", compare("gt", "D:quota-used-bytes", "0"), all),
        // §5.14: `like`.
        ("§5.14", compare("like", "D:displayname", "%.txt"), ["/a.txt", "/c%20100%25.txt", "/d/a.txt"]),
        (
            "§5.14", compare("like", "D:displayname", "%.txt", caseless: true),
            ["/B.TXT", "/a.txt", "/c%20100%25.txt", "/d/a.txt"]
        ),
        ("§5.14", compare("like", "D:displayname", "_.txt"), ["/a.txt", "/d/a.txt"]),
        ("§5.14", compare("like", "D:displayname", "%\\%%"), ["/c%20100%25.txt"]),
        ("§5.14", compare("like", "D:displayname", "f\\_g%"), ["/d/deep/f_g.html"]),
        ("§5.14: the whole string", compare("like", "D:displayname", "a"), []),
        ("§5.14: undefined", "<D:not>\(compare("like", "x:p", "M%"))</D:not>", []),
        ("§5.14", compare("like", "x:p", "M_ller"), ["/a.txt"]),
        // §5.15, §5.16: the language of a property.
        ("§5.15", "<D:language-defined><D:prop><x:p/></D:prop></D:language-defined>", ["/a.txt"]),
        (
            "§5.15", "<D:not><D:language-defined><D:prop><x:n/></D:prop></D:language-defined></D:not>",
            ["/a.txt", "/d/"]
        ),
        ("§5.16", compare("language-matches", "x:p", "de"), ["/a.txt"]),
        ("§5.16", compare("language-matches", "x:p", "DE-ch"), ["/a.txt"]),
        ("§5.16", compare("language-matches", "x:p", "d"), []),
        ("§5.16", compare("language-matches", "x:p", "*"), ["/a.txt"]),
        ("§5.16", compare("language-matches", "x:n", "*"), []),
    ]

    @Test(arguments: conditions)
    func conditionsSelectTheExpectedResources(clause: String, condition: String, found: [String]) async throws
    {
        let share = try await Self.makeShare()
        #expect(try await share.found(query(condition)).sorted() == found.sorted(), "\(clause) \(condition)")
    }

    /// §5.4: scopes of a request for `/d/deep/`, and the resources searched.
    static let scopes: [(scope: String, depth: String, found: [String])] = [
        ("/", "0", ["/"]), ("/d", "1", ["/d/", "/d/a.txt", "/d/deep/"]), ("/d/", "0", ["/d/"]),
        ("http://localhost/e/", "1", ["/e/", "/e/empty"]), ("/a.txt", "infinity", ["/a.txt"]),
        // §5.4.1: references relative to the request's URI.
        ("", "1", ["/d/deep/", "/d/deep/f_g.html"]), ("f_g.html", "0", ["/d/deep/f_g.html"]),
        (".", "0", ["/d/deep/"]),
        ("..", "1", ["/d/", "/d/a.txt", "/d/deep/"]), ("../../e/./", "1", ["/e/", "/e/empty"]),
        ("../../../e", "0", ["/e/"]),
        // The hrefs are spelled as in the request.
        ("/%64", "0", ["/%64/"]), ("/c%20100%25.txt", "0", ["/c%20100%25.txt"]),
        // §5.4.2: several scopes; each resource is reported once.
        ("/e /d/deep", "infinity", ["/e/", "/e/empty", "/d/deep/", "/d/deep/f_g.html"]),
        ("/d/deep /d /d", "infinity", ["/d/deep/", "/d/deep/f_g.html", "/d/", "/d/a.txt"]),
        ("/d /d/deep/f_g.html", "1", ["/d/", "/d/a.txt", "/d/deep/", "/d/deep/f_g.html"]),
    ]

    @Test(arguments: scopes)
    func onlyTheRequestedScopesAreSearched(scope: String, depth: String, found: [String]) async throws {
        let share = try await Self.makeShare()
        let answer = try await share.found(query(scope: scope, depth: depth), at: "/d/deep/")
        #expect(answer.sorted() == found.sorted())
        #expect(Set(answer).count == answer.count)
    }

    /// §2.4: each invalid scope is reported with its status; valid ones are not reported.
    static let noScopes: [(scope: String, status: String)] = [
        ("/absent", "404 Not Found"), ("/a.txt/", "404 Not Found"), ("/absent/x", "404 Not Found"),
        ("http://elsewhere.example/", "404 Not Found"), ("//elsewhere.example/", "400 Bad Request"),
        ("/%2e%2e/", "400 Bad Request"), ("/?a", "400 Bad Request"), ("mailto:a", "404 Not Found"),
        ("/%zz", "400 Bad Request"),
    ]

    @Test(arguments: noScopes)
    func invalidScopesAreReported(scope: String, status: String) async throws {
        let share = try await Self.makeShare()
        for scopes in [scope, "/ \(scope)"] {
            let answer = try await share.client.send("SEARCH", "/", text: query(scope: scopes))
            #expect(answer.status == 409)
            #expect(
                answer.text.contains(
                    "<D:error xmlns:D=\"DAV:\"><D:search-scope-valid><D:response><D:href>\(scope)</D:href>"
                        + "<D:status>HTTP/1.1 \(status)</D:status></D:response></D:search-scope-valid></D:error>"
                ),
                "\(answer.text)")
        }
    }

    @Test func infiniteDepthCanBeDisabled() async throws {
        let share = try await Self.makeShare { $0.allowsInfiniteDepth = false }
        #expect(try await share.client.send("SEARCH", "/", text: query()).status == 409)
        #expect(try await share.found(query(depth: "1")).count == 6)
    }

    /// §5.6: orders and the sorted results.
    static let orders: [(order: String, condition: String, found: [String])] = [
        (
            ordered("D:getcontentlength"), "",
            [
                // Resources without a length come first, in the order of the traversal.
                "C", "C", "C", "C", "/e/empty", "/a.txt", "/B.TXT", "/c%20100%25.txt", "/d/a.txt",
                "/d/deep/f_g.html",
            ]
        ),
        (
            ordered("D:getcontentlength", "<D:descending/>"), "",
            [
                "/d/deep/f_g.html", "/d/a.txt", "/c%20100%25.txt", "/B.TXT", "/a.txt", "/e/empty", "C", "C",
                "C", "C",
            ]
        ),
        (
            ordered("D:displayname", "<D:ascending/>"), compare("like", "D:displayname", "%.%"),
            ["/B.TXT", "A", "A", "/c%20100%25.txt", "/d/deep/f_g.html"]
        ),
        (
            ordered("D:displayname", attribute: " caseless=\"yes\"")
                + ordered("D:getcontentlength", "<D:descending/>"),
            compare("like", "D:displayname", "%.%"),
            ["/d/a.txt", "/a.txt", "/B.TXT", "/c%20100%25.txt", "/d/deep/f_g.html"]
        ),
        (
            ordered("D:getlastmodified"), compare("like", "D:displayname", "_.t%", caseless: true),
            ["/a.txt", "/B.TXT", "/d/a.txt"]
        ),
        (
            ordered("x:n", "<D:descending/>"), "<D:is-defined><D:prop><x:n/></D:prop></D:is-defined>",
            ["/d/", "/a.txt"]
        ),
        (
            ordered("x:p") + ordered("x:n"), "<D:is-defined><D:prop><x:n/></D:prop></D:is-defined>",
            ["/d/", "/a.txt"]
        ),
    ]

    @Test(arguments: orders)
    func resultsAreSorted(order: String, condition: String, found: [String]) async throws {
        let share = try await Self.makeShare()
        let answer = try await share.found(query(condition, order: order))
        let plain = answer.enumerated().map { index, href in
            switch found.indices.contains(index) ? found[index] : "" {
            case "C" where href.hasSuffix("/"): "C"
            case "A" where href.hasSuffix("/a.txt"): "A"
            default: href
            }
        }
        #expect(plain == found)
        // §5.17.1: a limit returns the first results in sort order.
        for limit in [0, 1, 3, 100] {
            let part = try await share.client.send(
                "SEARCH", "/", text: query(condition, order: order, limit: limit))
            #expect(hrefs(in: part.text) == Array(answer.prefix(limit)))
            #expect(part.text.contains("507 Insufficient Storage") == (limit < answer.count))
        }
    }

    // §5.17, §2.3.1: the response indicates if there are more results than it contains.
    @Test(arguments: [0, 1, 5, 9, 10, 11, Int.max])
    func limitIsRespectedAndReported(limit: Int) async throws {
        let share = try await Self.makeShare()
        let answer = try await share.client.send("SEARCH", "/d/deep", text: query(limit: limit))
        #expect(answer.status == 207)
        #expect(hrefs(in: answer.text).count == min(limit, Self.all.count))
        let mark =
            "<D:response><D:href>/d/deep</D:href><D:status>HTTP/1.1 507 Insufficient Storage</D:status>"
        #expect(answer.text.contains(mark) == (limit < Self.all.count))
        #expect(answer.text.hasSuffix("</D:multistatus>"))
    }

    // §5.3: the properties of a result equal those returned by PROPFIND.
    @Test(arguments: [
        "<D:allprop/>", "<D:prop><D:getetag/><x:p/><D:absent/><D:resourcetype/></D:prop>", "<D:prop/>",
        "<D:prop><D:lockdiscovery/><D:supportedlock/></D:prop>",
    ])
    func selectsPropertiesLikePropFind(select: String) async throws {
        let share = try await Self.makeShare()
        #expect(
            try await share.client.send("LOCK", "/a.txt", text: lockBody(scope: "exclusive")).status == 200)
        let asked = "<D:propfind xmlns:D=\"DAV:\" xmlns:x=\"urn:x\">\(select)</D:propfind>"
        for target in ["/a.txt", "/d/", "/"] {
            let expected = try await share.client.send("PROPFIND", target, [("Depth", "1")], text: asked)
            for order in ["", ordered("x:none")] {
                let answer = try await share.client.send(
                    "SEARCH", "/", text: query(scope: target, depth: "1", select: select, order: order))
                #expect(answer.text == expected.text)
            }
        }
    }

    static let scenarios: [Scenario] = [
        Scenario(
            "§2.2: the arbiter must exist",
            [
                step("SEARCH /absent", [], query(), 404), step("SEARCH /", [], query(), 207),
                step("PUT /a", [], "1", 201), step("SEARCH /a", [], query(), 207),
                step("SEARCH /a/", [], query(), 404),
            ]),
        Scenario(
            "RFC 9110 §13, RFC 4918 §10.4: preconditions",
            [
                step("PUT /a", [], "1", 201),
                step("SEARCH /a", [("If-Match", "\"none\"")], query(), 412),
                step("SEARCH /a", [("If-Match", "$e")], query(), 207),
                step("SEARCH /", [("If", "(<urn:x:1>)")], query(), 412),
                step("SEARCH /", [("If", "(Not <urn:x:1>)")], query(), 207),
            ]),
        Scenario(
            "§3.2: OPTIONS announces the grammar",
            [
                step("PUT /a", [], "1", 201),
                step(
                    "PROPFIND /a", [("Depth", "0")],
                    "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:supported-query-grammar-set/></D:prop></D:propfind>",
                    207,
                    holds: [
                        "<D:supported-query-grammar-set><D:supported-query-grammar><D:grammar><D:basicsearch/></D:grammar>"
                    ]),
                // §3.3: the property is not part of allprop.
                step("PROPFIND /a", [("Depth", "0")], nil, 207, lacks: ["supported-query-grammar-set"]),
                step(
                    "PROPPATCH /a", [],
                    "<D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop><D:supported-query-grammar-set/></D:prop></D:set>"
                        + "</D:propertyupdate>", 207,
                    holds: ["403 Forbidden", "cannot-modify-protected-property"]),
            ]),
        Scenario(
            "§4: query schema discovery",
            [
                step("MKCOL /d", [], nil, 201),
                step(
                    "SEARCH /", [], discovery(scope: "d"), 207,
                    holds: [
                        "<D:response><D:href>/d/</D:href><D:status>HTTP/1.1 200 OK</D:status><D:query-schema>"
                            + "<D:basicsearchschema>",
                        "<D:propdesc><D:prop><D:getcontentlength/></D:prop><D:datatype><xs:nonNegativeInteger",
                        "<D:propdesc><D:prop><D:resourcetype/></D:prop><D:selectable/></D:propdesc>",
                        "<D:any-other-property/>",
                        "<D:opdesc><D:like/><D:operand-property/><D:operand-literal/>",
                    ], lacks: ["contains"]),
                step("SEARCH /", [], discovery(scope: "/absent"), 409, holds: ["search-scope-valid"]),
                step(
                    "SEARCH /", [], discovery(scope: "/").replacing("basicsearch", with: "sql"), 403,
                    holds: ["<D:search-grammar-discovery-supported/>"]),
            ]),
        Scenario(
            "§7: resources hidden from PROPFIND are not found",
            [
                shell("mkdir -p d/locked; ln -s /etc d/outside; mkfifo d/pipe; ln -s .. d/up; : > d/f"),
                step(
                    "SEARCH /", [], query(scope: "/d"), 207,
                    holds: ["<D:href>/d/f</D:href>", "<D:href>/d/up/</D:href>"],
                    lacks: ["outside", "pipe", "/d/up/d/up/"]),
            ]),
    ]

    static func discovery(scope: String) -> String {
        """
        <D:query-schema-discovery xmlns:D="DAV:"><D:basicsearch><D:from><D:scope><D:href>\(scope)</D:href>\
        <D:depth>infinity</D:depth></D:scope></D:from></D:basicsearch></D:query-schema-discovery>
        """
    }

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(scenario: Scenario) async throws { try await TestShare.play(scenario) }

    // RFC 5323 §3.1.
    @Test func optionsIncludeDASL() async throws {
        let share = try await Self.makeShare()
        for target in ["/", "/a.txt", "/new"] {
            let answer = try await share.client.send("OPTIONS", target)
            #expect(answer["DASL"] == "<DAV:basicsearch>")
            #expect(answer["Allow"]?.contains("SEARCH") == (target != "/new"))
        }
    }

    @Test func readOnlyShareCanBeSearched() async throws {
        let share = try TestShare { $0.isReadOnly = true }
        #expect(try await share.found(query()) == ["/"])
    }

    // §5.4: the URLs of a mounted share contain its prefix.
    @Test func mountedShareCanBeSearched() async throws {
        let scenario = Scenario(
            "below a prefix",
            [
                step("PUT /x/files/a", [], "1", 201),
                step(
                    "SEARCH /x/files/", [], query(scope: "/x/files"), 207,
                    holds: ["<D:href>/x/files/a</D:href>"]),
                step("SEARCH /x/files/", [], query(scope: "a"), 207, holds: ["<D:href>/x/files/a</D:href>"]),
                step("SEARCH /x/files/", [], query(scope: "/"), 409, holds: ["<D:href>/</D:href>"]),
            ])
        try await TestShare.play(scenario, mountedAt: "/x/files")
    }

    /// A link is a result with the properties of its target; it is also followed in sorted results.
    @Test func linksAreFound() async throws {
        let share = try TestShare()
        #expect(share.shell("mkdir f g; printf 1 > f/a; printf 22 > g/b; ln -s ../f/a g/link") == 0)
        _ = try await share.client.send("PROPPATCH", "/f/a", text: setProperty("p", "v"))
        let condition = compare("eq", "x:p", "v")
        #expect(try await share.found(query(condition, scope: "/g")) == ["/g/link"])
        #expect(try await share.found(query(condition, scope: "/g", order: ordered("x:p"))) == ["/g/link"])
        #expect(try await share.found(query(condition, scope: "/f /g")).sorted() == ["/f/a", "/g/link"])
    }
}
