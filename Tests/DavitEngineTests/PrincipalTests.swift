import DavitEngine
import DavitServer
import DavitTesting
import Testing

/// The current principal and its privileges (RFC 5397, and the read-only properties of RFC 3744).
struct PrincipalTests {
    static let folder = "/.davit-principalsfolder/"

    static func ask(_ elements: String) -> String {
        "<D:propfind xmlns:D=\"DAV:\"><D:prop>\(elements)</D:prop></D:propfind>"
    }

    static let askPrincipal = ask("<D:current-user-principal/>")
    static let zero = [("Depth", "0")]

    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 5397 §3: current-user-principal, protected and not in allprop",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPFIND /a", zero, askPrincipal, 207,
                    holds: [
                        "<D:current-user-principal><D:unauthenticated/></D:current-user-principal>", "200 OK",
                    ]),
                step(
                    "PROPFIND /", [("Depth", "1")], askPrincipal, 207,
                    holds: [
                        "<D:current-user-principal><D:href>\(folder)ann</D:href></D:current-user-principal>"
                    ],
                    lacks: ["unauthenticated"], as: "ann"),
                step("PROPFIND /a", zero, nil, 207, lacks: ["principal", "privilege"], as: "ann"),
                step(
                    "PROPPATCH /a", [],
                    "<D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop><D:current-user-principal/></D:prop></D:set></D:propertyupdate>",
                    207, holds: ["403 Forbidden"], as: "ann"),
            ]),
        Scenario(
            "RFC 5397 §3, RFC 3744 §4: the URL identifies a principal with its name",
            [
                step(
                    "PROPFIND \(folder)ann", zero,
                    ask(
                        "<D:resourcetype/><D:displayname/><D:principal-URL/><D:alternate-URI-set/><D:group-membership/><D:getetag/><D:no/>"
                    ), 207,
                    holds: [
                        "<D:href>\(folder)ann</D:href>", "<D:resourcetype><D:principal/></D:resourcetype>",
                        "<D:displayname>ann</D:displayname>",
                        "<D:principal-URL><D:href>\(folder)ann</D:href></D:principal-URL>",
                        "<D:alternate-URI-set></D:alternate-URI-set>",
                        "<D:group-membership></D:group-membership>", "<D:getetag/><D:no/>", "404 Not Found",
                    ], as: "ann"),
                step("PROPFIND \(folder)ann", zero, nil, 207, holds: ["<D:principal/>"], as: "ann"),
                step(
                    "PROPFIND \(folder)ann", zero, "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>",
                    207,
                    holds: ["<D:principal-URL/>", "<D:displayname/>"], lacks: ["HTTP/1.1 404", "getetag"],
                    as: "ann"),
                step(
                    "PROPFIND /", zero, "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>", 207,
                    holds: ["<D:current-user-principal/>"], lacks: ["principal-URL", "group-"], as: "ann"),
                step("OPTIONS \(folder)ann", [], nil, 200, as: "ann"),
                step(
                    "REPORT \(folder)ann", [], ReportTests.expand(""), 403, holds: ["supported-report"],
                    as: "ann"),
            ]),
        Scenario(
            "A user sees only the principal of that user",
            [
                step("PROPFIND \(folder)ann", zero, nil, 404, as: "bob"),
                step("PROPFIND \(folder)ann", zero, nil, 404),
                step("PROPFIND \(folder)ann/more", zero, nil, 404, as: "ann"),
                step(
                    "PROPFIND \(folder)", [("Depth", "1")], ask("<D:resourcetype/><D:displayname/>"), 207,
                    holds: [
                        "<D:href>\(folder)</D:href>", "<D:collection/>", "<D:href>\(folder)bob</D:href>",
                    ], lacks: ["ann"], as: "bob"),
                step("PROPFIND \(folder)", [("Depth", "1")], nil, 207, lacks: ["<D:principal/>"]),
            ]),
        Scenario(
            "No resource can be created at a principal URL",
            [
                step("MKCOL /.davit-principalsfolder", [], nil, 403, as: "ann"),
                step("PUT /.davit-principalsfolder", [], "x", 403, as: "ann"),
                step("PUT \(folder)ann", [], "x", 403, as: "ann"),
                step("DELETE \(folder)ann", [], nil, 403, as: "ann"),
                step("PROPPATCH \(folder)ann", [], setProperty("p", "1"), 403, as: "ann"),
                lock("\(folder)ann", status: 403, as: "ann"),
                step("PUT /a", [], "x", 201), step("MOVE /a", [("Destination", "\(folder)ann")], nil, 403),
                shell("mkdir .davit-principalsfolder && touch .davit-principalsfolder/ann"),
                step("PROPFIND /", [("Depth", "1")], nil, 207, lacks: ["davit-"], as: "ann"),
                step("PROPFIND \(folder)ann", zero, nil, 207, holds: ["<D:principal/>"], as: "ann"),
            ]),
        Scenario(
            "A name is percent-encoded; one that is not a valid segment has no URL",
            [
                step(
                    "PROPFIND /", zero, askPrincipal, 207, holds: ["\(folder)a%20b%26%C3%A4<"], as: "a b&ä"),
                step(
                    "PROPFIND \(folder)a%20b%26%C3%A4", zero, ask("<D:displayname/>"), 207,
                    holds: ["<D:displayname>a b&amp;ä<"], as: "a b&ä"),
                step("PROPFIND /", zero, askPrincipal, 207, holds: ["404 Not Found"], as: "a/b"),
                step("PROPFIND /", zero, askPrincipal, 207, holds: ["404 Not Found"], as: ".."),
            ]),
        Scenario(
            "RFC 3744 §5.3, §5.5, §5.8: privileges and the principal collection",
            [
                step(
                    "PROPFIND /", zero,
                    ask(
                        "<D:current-user-privilege-set/><D:supported-privilege-set/><D:principal-collection-set/><D:acl/><D:owner/>"
                    ), 207,
                    holds: [
                        "<D:current-user-privilege-set><D:privilege><D:read/></D:privilege>",
                        "<D:privilege><D:write/></D:privilege>", "<D:privilege><D:bind/></D:privilege>",
                        "<D:supported-privilege-set><D:supported-privilege><D:privilege><D:all/></D:privilege><D:abstract/>",
                        "<D:principal-collection-set><D:href>\(folder)</D:href></D:principal-collection-set>",
                        "<D:acl/><D:owner/>", "404 Not Found",
                    ], as: "ann")
            ]),
        Scenario(
            "RFC 3253 §3.8: current-user-principal expands to the principal",
            [
                step(
                    "REPORT /", [],
                    ReportTests.expand(
                        #"<D:property name="current-user-principal"><D:property name="displayname"/><D:property name="resourcetype"/></D:property>"#
                    ), 207,
                    holds: [
                        "<D:current-user-principal", "<D:href>\(folder)ann</D:href><D:propstat>",
                        "<D:displayname>ann</D:displayname>", "<D:principal/>",
                    ], as: "ann")
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    @Test func readOnlyShareGrantsOnlyReadPrivileges() async throws {
        let share = try TestShare { $0.isReadOnly = true }
        try await share.play(
            Scenario(
                "RFC 3744 §5.5",
                [
                    step(
                        "PROPFIND /", Self.zero, Self.ask("<D:current-user-privilege-set/>"), 207,
                        holds: ["<D:read/>", "<D:read-current-user-privilege-set/>"],
                        lacks: ["write", "bind"], as: "ann")
                ]))
    }

    @Test func principalURLHasTheMountPrefix() async throws {
        let share = try TestShare()
        let router = Router { $0.mount("/a b", WebDAVHandler(share: share.share, page: nil)) }
        try await share.play(
            Scenario(
                "RFC 5397 §3",
                [
                    step(
                        "PROPFIND /a%20b/", Self.zero, Self.askPrincipal, 207,
                        holds: ["<D:href>/a%20b\(Self.folder)ann</D:href>"], as: "ann"),
                    step(
                        "PROPFIND /a%20b\(Self.folder)ann", Self.zero, Self.ask("<D:principal-URL/>"), 207,
                        holds: ["<D:principal-URL><D:href>/a%20b\(Self.folder)ann</D:href>"], as: "ann"),
                ]), TestClient(router))
    }

    /// Access control (RFC 3744) is not announced, because its requirements are not met.
    @Test func accessControlIsNotAnnounced() async throws {
        let share = try TestShare()
        let fields = try await share.client.send("OPTIONS", "/")["DAV"]
        #expect(fields?.contains("access-control") == false)
    }
}
