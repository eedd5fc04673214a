import DavitEngine
import Testing

/// REPORT, `supported-report-set` and `expand-property`.
struct ReportTests {
    static func expand(_ properties: String) -> String {
        "<D:expand-property xmlns:D=\"DAV:\">\(properties)</D:expand-property>"
    }

    static func ask(_ properties: String) -> String {
        "<D:propfind xmlns:D=\"DAV:\"><D:prop>\(properties)</D:prop></D:propfind>"
    }

    /// Returns a PROPPATCH body that sets a dead property with references to other resources.
    static func link(_ hrefs: String...) -> String {
        setProperty("link", hrefs.map { "<D:href>\($0)</D:href>" }.joined())
    }

    static let askLink =
        #"<D:property name="link" namespace="urn:x"><D:property name="getcontentlength"/></D:property>"#

    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 3253 §3.1.5: supported-report-set lists every report, and is not in allprop",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPFIND /a", [("Depth", "0")], ask("<D:supported-report-set/>"), 207,
                    holds: ["<D:supported-report><D:report><D:expand-property/></D:report>", "200 OK"]),
                step(
                    "PROPFIND /", [("Depth", "0")], ask("<D:supported-report-set/>"), 207,
                    holds: ["<D:expand-property/>"]),
                step("PROPFIND /", [("Depth", "1")], nil, 207, lacks: ["supported-report"]),
                step(
                    "PROPPATCH /a", [],
                    "<D:propertyupdate xmlns:D=\"DAV:\"><D:remove><D:prop><D:supported-report-set/></D:prop></D:remove></D:propertyupdate>",
                    207, holds: ["403 Forbidden"]),
            ]),
        Scenario(
            "RFC 3253 §3.6: invalid and unsupported reports are refused",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "REPORT /a", [], "<D:version-tree xmlns:D=\"DAV:\"/>", 403,
                    holds: ["<D:supported-report/>"]),
                step("REPORT /a", [], "<expand-property xmlns=\"urn:x\"/>", 403, holds: ["supported-report"]),
                step("REPORT /a", [], nil, 400),
                step("REPORT /a", [], "<D:expand-property", 400),
                step("REPORT /a", [], expand("<D:property/>"), 400),
                step("REPORT /a", [], expand("<D:property name=\"\"/>"), 400),
                step("REPORT /a", [("Depth", "2")], expand(""), 400),
                step("REPORT /a/", [], expand(""), 404),
                step("REPORT /no", [], expand(""), 404),
                step("REPORT /no", [], "<D:version-tree xmlns:D=\"DAV:\"/>", 404),
                step("REPORT /a", [("If", "([\"no\"])")], expand(""), 412),
                step("REPORT /a", [("If-Match", "\"no\"")], expand(""), 412),
                step(
                    "REPORT /a", [],
                    "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><D:expand-property xmlns:D=\"DAV:\">&e;</D:expand-property>",
                    403, holds: ["no-external-entities"], lacks: ["root:"]),
            ]),
        Scenario(
            "RFC 3253 §3.8: properties are returned unmodified; the default Depth is 0",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "four", 201),
                step("PROPPATCH /d/a", [], setProperty("p", "one"), 207),
                step(
                    "REPORT /d", [],
                    expand(
                        "<D:property name=\"resourcetype\"/><D:property name=\"no\"/><D:property name=\"p\" namespace=\"urn:x\"/>"
                    ),
                    207,
                    holds: ["<D:href>/d/</D:href>", "<D:collection/>", "<D:no/>", "404 Not Found"],
                    lacks: ["/d/a", ">one<"]),
                step(
                    "REPORT /d", [("Depth", "1")],
                    expand(
                        "<D:property name=\"getcontentlength\"/><D:property name=\"p\" namespace=\"urn:x\"/>"),
                    207, holds: ["<D:href>/d/a</D:href>", ">4<", ">one<"]),
            ]),
        Scenario(
            "RFC 3253 §3.8: an href in a value is replaced by the response of its resource",
            [
                step("PUT /a", [], "x", 201), step("PUT /b%20c", [], "three", 201),
                step(
                    "PROPPATCH /a", [], link(" /b%20c ", "/no", "urn:uuid:1", "http://other.example/x"), 207),
                step(
                    "REPORT /a", [], expand(askLink), 207,
                    holds: [
                        "<D:href>/b%20c</D:href><D:propstat><D:prop><D:getcontentlength>5</D:getcontentlength>",
                        "<D:href>/no</D:href><D:status>HTTP/1.1 404", "<D:href>urn:uuid:1</D:href>",
                        "<D:href>http://other.example/x</D:href>",
                    ]),
                // Without nested properties the value is returned unchanged.
                step(
                    "REPORT /a", [], expand(#"<D:property name="link" namespace="urn:x"/>"#), 207,
                    holds: ["<D:href> /b%20c </D:href>"], lacks: ["getcontentlength"]),
            ]),
        Scenario(
            "RFC 3253 §3.8: expansions nest; lock roots are expanded, lock tokens are not",
            [
                step("PUT /a", [], "x", 201), step("PUT /b", [], "three", 201),
                step("PROPPATCH /a", [], link("/b"), 207), step("PROPPATCH /b", [], link("/a"), 207),
                step(
                    "REPORT /a", [],
                    expand(#"<D:property name="link" namespace="urn:x">\#(askLink)</D:property>"#), 207,
                    holds: [
                        "<D:href>/b</D:href>",
                        "<D:href>/a</D:href><D:propstat><D:prop><D:getcontentlength>1<",
                    ]),
                lock("/a", depth: "0"),
                step(
                    "REPORT /a", [],
                    expand(
                        #"<D:property name="lockdiscovery"><D:property name="getcontentlength"/></D:property>"#
                    ),
                    207,
                    holds: [
                        "<D:locktoken><D:href>$1</D:href>",
                        "<D:lockroot><D:response",
                        "<D:href>/a</D:href><D:propstat><D:prop><D:getcontentlength>1<",
                    ]),
            ]),
        Scenario(
            "The number of responses for one value is limited",
            [
                step("PUT /a", [], "x", 201),
                step(
                    "PROPPATCH /a", [],
                    setProperty("link", String(repeating: "<D:href>/a</D:href>", count: 40)), 207),
                step(
                    "REPORT /a", [],
                    expand(#"<D:property name="link" namespace="urn:x">\#(askLink)</D:property>"#), 403,
                    holds: ["number-of-matches-within-limits"]),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    @Test func readOnlyShareAnswersReports() async throws {
        let share = try TestShare { $0.isReadOnly = true }
        try await share.play(
            Scenario("a report changes nothing", [step("REPORT /", [], Self.expand(""), 207)]))
    }

    @Test func disabledInfiniteDepthIsRefused() async throws {
        let share = try TestShare { $0.allowsInfiniteDepth = false }
        try await share.play(
            Scenario(
                "RFC 4918 §9.1",
                [
                    step("REPORT /", [], Self.expand(""), 207),
                    step(
                        "REPORT /", [("Depth", "infinity")], Self.expand(""), 403,
                        holds: ["propfind-finite-depth"]),
                ]))
    }
}
