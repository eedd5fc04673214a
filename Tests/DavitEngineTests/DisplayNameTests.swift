import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// `displayname` is the last path segment until a client sets it (RFC 4918 §15.2).
struct DisplayNameTests {
    static func set(_ value: String) -> String {
        "<D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop>\(value)</D:prop></D:set></D:propertyupdate>"
    }
    static let remove =
        "<D:propertyupdate xmlns:D=\"DAV:\"><D:remove><D:prop><D:displayname/></D:prop></D:remove></D:propertyupdate>"
    static let ask = "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:displayname/></D:prop></D:propfind>"
    static let askName = "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>"
    static let zero = [("Depth", "0")]
    static let value =
        "<D:displayname xmlns:D=\"DAV:\" xml:lang=\"fr\">L'\u{E9}t\u{E9} &amp; plus</D:displayname>"

    static let scenarios: [Scenario] = [
        Scenario(
            "§15.2: it can be set, requested with prop, allprop and propname, and removed",
            [
                step("PUT /a.txt", [], "x", 201),
                step("PROPFIND /a.txt", zero, ask, 207, holds: ["<D:displayname>a.txt<"]),
                step(
                    "PROPPATCH /a.txt", [], set(value), 207, holds: ["200 OK"],
                    lacks: ["HTTP/1.1 403", "HTTP/1.1 409"]),
                step("PROPFIND /a.txt", zero, ask, 207, holds: [value], lacks: [">a.txt<", "HTTP/1.1 404"]),
                step("PROPFIND /a.txt", zero, nil, 207, holds: [value], lacks: ["<D:displayname>"]),
                step("PROPFIND /a.txt", zero, askName, 207, holds: ["<D:displayname/>"], lacks: ["plus"]),
                step("PROPFIND /", [("Depth", "1")], ask, 207, holds: [value, "<D:href>/a.txt</D:href>"]),
                step("PROPPATCH /a.txt", [], remove, 207, holds: ["200 OK"]),
                step("PROPFIND /a.txt", zero, ask, 207, holds: ["<D:displayname>a.txt<"]),
                step("PROPFIND /a.txt", zero, nil, 207, holds: ["<D:displayname>a.txt<"]),
                // Removing a missing property succeeds (§14.23).
                step("PROPPATCH /a.txt", [], remove, 207, holds: ["200 OK"]),
            ]),
        Scenario(
            "§15.2: the root has a display name after it is set",
            [
                step("PROPFIND /", zero, ask, 207, holds: ["HTTP/1.1 404"]),
                step("PROPPATCH /", [], set("<D:displayname>Share</D:displayname>"), 207, holds: ["200 OK"]),
                step("PROPFIND /", zero, ask, 207, holds: [">Share<"], lacks: ["HTTP/1.1 404"]),
                step("PROPFIND /", zero, nil, 207, holds: [">Share<"]),
                step("PROPFIND /", zero, askName, 207, holds: ["<D:displayname/>"]),
                step("PROPPATCH /", [], remove, 207, holds: ["200 OK"]),
                step("PROPFIND /", zero, ask, 207, holds: ["HTTP/1.1 404"]),
            ]),
        Scenario(
            "§15.2: an empty display name is kept",
            [
                step("PUT /a", [], "x", 201),
                step("PROPPATCH /a", [], set("<D:displayname/>"), 207, holds: ["200 OK"]),
                step("PROPFIND /a", zero, ask, 207, holds: ["<D:displayname"], lacks: [">a<"]),
            ]),
        Scenario(
            "§15.2, §9.8.2, §9.9.1: PUT, COPY and MOVE keep the display name, DELETE removes it",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                step("PROPPATCH /d/a", [], set(value), 207),
                step("PROPPATCH /d", [], set("<D:displayname>Folder</D:displayname>"), 207),
                step("PUT /d/a", [], "y", 204),
                step("PROPFIND /d/a", zero, ask, 207, holds: [value]),
                step("COPY /d", [("Destination", "/e")], nil, 201),
                step("PROPFIND /e", [("Depth", "1")], ask, 207, holds: [value, ">Folder<"]),
                step("MOVE /e/a", [("Destination", "/b")], nil, 201),
                step("PROPFIND /b", zero, ask, 207, holds: [value]),
                step("DELETE /b", [], nil, 204), step("PUT /b", [], "x", 201),
                step("PROPFIND /b", zero, ask, 207, holds: ["<D:displayname>b<"]),
            ]),
        Scenario(
            "RFC 5689 §3: extended MKCOL sets the display name",
            [
                step(
                    "MKCOL /d", [("Content-Type", "application/xml")],
                    """
                    <D:mkcol xmlns:D="DAV:"><D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype>\(value)\
                    </D:prop></D:set></D:mkcol>
                    """, 201),
                step("PROPFIND /d", zero, ask, 207, holds: [value]),
                step(
                    "MKCOL /e", [("Content-Type", "application/xml")],
                    "<D:mkcol xmlns:D=\"DAV:\"><D:set><D:prop><D:displayname><a/></D:displayname></D:prop></D:set></D:mkcol>",
                    403, holds: ["409 Conflict"]),
                step("PROPFIND /e", zero, nil, 404),
            ]),
        Scenario(
            "RFC 5323 §5.5: a search compares the display name",
            [
                step("PUT /a", [], "x", 201), step("PUT /b", [], "x", 201),
                step("PROPPATCH /a", [], set("<D:displayname xml:lang=\"en\">b</D:displayname>"), 207),
                step("SEARCH /", [], search("b"), 207, holds: [">/a<", ">/b<"]),
                step("SEARCH /", [], search("a"), 207, lacks: [">/a<"]),
                step(
                    "SEARCH /", [],
                    search(
                        "",
                        condition:
                            "<D:language-matches><D:prop><D:displayname/></D:prop><D:literal>en</D:literal></D:language-matches>"
                    ),
                    207, holds: [">/a<"], lacks: [">/b<"]),
            ]),
        Scenario(
            "§9.2: setting it requires the lock token and is atomic with other properties",
            [
                step("PUT /a", [], "x", 201), lock("/a", depth: "0"),
                step("PROPPATCH /a", [], set(value), 423),
                step(
                    "PROPPATCH /a", [("If", "(<$1>)")], set(value + "<D:getetag>x</D:getetag>"), 207,
                    holds: ["HTTP/1.1 424"]),
                step("PROPFIND /a", zero, ask, 207, holds: ["<D:displayname>a<"]),
            ]),
    ]

    static func search(_ text: String, condition: String? = nil) -> String {
        let equal = "<D:eq><D:prop><D:displayname/></D:prop><D:literal>\(text)</D:literal></D:eq>"
        return """
            <D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:displayname/></D:prop></D:select><D:from>\
            <D:scope><D:href>/</D:href><D:depth>1</D:depth></D:scope></D:from><D:where>\(condition ?? equal)</D:where>\
            </D:basicsearch></D:searchrequest>
            """
    }

    @Test(arguments: scenarios)
    func displayNameMatchesTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    /// The value is available after a restart, but not for a file that another program has replaced.
    @Test func displayNameSurvivesARestartButNotAReplacement() async throws {
        let share = try TestShare()
        try await share.play(
            Scenario(
                "state",
                [
                    step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], Self.set(Self.value), 207),
                    shell("mv a kept && echo y > a"),
                    step("PROPFIND /a", Self.zero, Self.ask, 207, holds: ["<D:displayname>a<"]),
                    shell("mv kept a"),
                    step("PROPFIND /a", Self.zero, Self.ask, 207, holds: [Self.value]),
                ]))
    }

    /// A display name that was never set is returned without switching to another thread.
    @Test func unsetDisplayNameNeedsNoOtherThread() async throws {
        let share = try TestShare()
        try await share.play(
            Scenario(
                "cost",
                [
                    step("PUT /a", [], "x", 201), step("PUT /b", [], "x", 201),
                    step("PROPPATCH /b", [], Self.set(Self.value), 207),
                    step("PROPFIND /a", Self.zero, Self.ask, 207),
                ]))
        let before = share.hopCount
        #expect(try await share.client.send("PROPFIND", "/a", Self.zero, text: Self.ask).status == 207)
        #expect(share.hopCount == before)
    }
}
