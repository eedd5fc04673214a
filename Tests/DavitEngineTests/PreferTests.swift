import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Preferences of a client (RFC 7240, RFC 8144), and the Brief field.
struct PreferTests {
    static let minimal = ("Prefer", "return=minimal")
    static let representation = ("Prefer", "return=representation")
    static let ask =
        "<D:propfind xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:prop><D:resourcetype/><x:p/><D:getetag/></D:prop></D:propfind>"

    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 8144 §2.1: PROPFIND omits missing properties",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                step("PROPFIND /d", [("Depth", "1")], ask, 207, holds: ["404 Not Found"]),
                step(
                    "PROPFIND /d", [("Depth", "1"), minimal], ask, 207,
                    holds: ["<D:resourcetype>", "getetag>\""],
                    lacks: ["HTTP/1.1 404"]),
                step("PROPFIND /d", [("Depth", "1"), ("Brief", "t")], ask, 207, lacks: ["HTTP/1.1 404"]),
                step("PROPFIND /d", [("Depth", "1"), ("Brief", "f")], ask, 207, holds: ["HTTP/1.1 404"]),
                // Prefer takes precedence over Brief.
                step(
                    "PROPFIND /d", [("Depth", "1"), ("Brief", "t"), representation], ask, 207,
                    holds: ["HTTP/1.1 404"]),
                // A `response` needs a `propstat` or a `status`, so a resource without properties has a status.
                step(
                    "PROPFIND /d", [("Depth", "0"), minimal], askProperty("p"), 207,
                    holds: ["<D:href>/d/</D:href><D:status>HTTP/1.1 200 OK</D:status>"],
                    lacks: ["HTTP/1.1 404"]),
                step("PROPFIND /none", [("Depth", "0"), minimal], ask, 404),
                step(
                    "PROPFIND /d", [("Depth", "1"), ("Prefer", "return=\"mini")], ask, 207,
                    holds: ["HTTP/1.1 404"]),
            ]),
        Scenario(
            "RFC 8144 §2.2: a successful PROPPATCH has no body",
            [
                step("PUT /a", [], "x", 201),
                step("PROPPATCH /a", [minimal], setProperty("p", "1"), 200, lacks: ["<"]),
                step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: [">1<"]),
                step("PROPPATCH /a", [("Brief", "T")], setProperty("p", "2"), 200, lacks: ["<"]),
                step(
                    "PROPPATCH /a", [minimal],
                    "<D:propertyupdate xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:set><D:prop><x:p>3</x:p><D:getetag/></D:prop></D:set></D:propertyupdate>",
                    207, holds: ["403 Forbidden", "HTTP/1.1 424"]),
                step("PROPFIND /a", [("Depth", "0")], askProperty("p"), 207, holds: [">2<"]),
            ]),
        Scenario(
            "RFC 8144 §4: depth-noroot omits the collection, also in Microsoft's form",
            [
                step("MKCOL /d", [], nil, 201), step("MKCOL /d/e", [], nil, 201),
                step("PUT /d/e/a", [], "x", 201),
                step(
                    "PROPFIND /d", [("Depth", "1")], nil, 207,
                    holds: ["<D:href>/d/</D:href>", "<D:href>/d/e/</D:href>"]),
                step(
                    "PROPFIND /d", [("Depth", "1"), ("Prefer", "depth-noroot")], nil, 207,
                    holds: ["<D:href>/d/e/</D:href>"], lacks: ["<D:href>/d/</D:href>"]),
                step(
                    "PROPFIND /d", [("Depth", "1,noroot")], nil, 207, holds: ["<D:href>/d/e/</D:href>"],
                    lacks: ["<D:href>/d/</D:href>"]),
                step(
                    "PROPFIND /d", [("Depth", "infinity,noroot")], nil, 207,
                    holds: ["<D:href>/d/e/</D:href>", "<D:href>/d/e/a</D:href>"],
                    lacks: ["<D:href>/d/</D:href>"]),
                step(
                    "PROPFIND /d/e", [("Depth", "0"), ("Prefer", "depth-noroot")], nil, 207, holds: ["/d/e/<"]
                ),
                // A file has no members, so it is not excluded.
                step("PROPFIND /d/e/a", [("Depth", "1,noroot")], nil, 207, holds: ["/d/e/a<"]),
                step("DELETE /d/e/a", [], nil, 204),
                step("PROPFIND /d/e", [("Depth", "1,noroot")], nil, 207, lacks: ["<D:response>"]),
            ]),
        Scenario(
            "RFC 7240 §4.2, RFC 8144 §4.1: a change returns the new representation",
            [
                step("PUT /a", [representation], "new", 201, holds: ["new"]),
                step("PUT /a", [representation], "newer", 200, holds: ["newer"]),
                step(
                    "PUT /a", [representation, ("Content-Range", "bytes 5-5/6")], "!", 200, holds: ["newer!"]),
                step(
                    "PATCH /a", [representation, PartialUpdateTests.type, ("X-Update-Range", "append")], "?",
                    200,
                    holds: ["newer!?"]),
                step("POST /?add-member", [representation, ("Slug", "b")], "posted", 201, holds: ["posted"]),
                step("PUT /a", [minimal], "x", 204, lacks: ["x"]),
                step("MKCOL /d", [representation], nil, 201), step("PUT /d", [representation], "x", 405),
            ]),
        Scenario(
            "RFC 8144 §3.2: a failed precondition returns the current representation",
            [
                step("PUT /a", [], "theirs", 201),
                step("PUT /a", [representation, ("If-Match", "\"x\"")], "mine", 412, holds: ["theirs"]),
                step("PUT /a", [representation, ("If-None-Match", "*")], "mine", 412, holds: ["theirs"]),
                step("PUT /a", [representation, ("If", "([\"x\"])")], "mine", 412, holds: ["theirs"]),
                step("PUT /none", [representation, ("If-Match", "*")], "mine", 412, holds: ["412"]),
                step("PUT /a", [("If-None-Match", "*")], "mine", 412, holds: ["412"], lacks: ["theirs"]),
                step("GET /a", [], nil, 200, holds: ["theirs"]),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws { try await TestShare.play(scenario) }

    struct Row: Sendable, CustomTestStringConvertible {
        var line: String
        var fields: [(String, String)]
        var body: String?
        var applied: String?
        var vary: String?
        var testDescription: String { "\(line) \(fields)" }
    }

    /// RFC 7240 §2, §3: the applied preferences, and the fields on which the response depends.
    static let rows: [Row] = [
        Row(line: "PROPFIND /d", fields: [minimal], body: ask, applied: "return=minimal", vary: "Prefer"),
        Row(
            line: "PROPFIND /d", fields: [("Depth", "1"), ("Prefer", "return=minimal, depth-noroot")],
            body: ask,
            applied: "return=minimal, depth-noroot", vary: "Prefer"),
        Row(
            line: "PROPFIND /a", fields: [("Depth", "1"), ("Prefer", "depth-noroot")], body: ask,
            applied: nil,
            vary: "Prefer"),
        Row(
            line: "PROPFIND /d", fields: [("Depth", "0"), ("Prefer", "depth-noroot")], body: ask,
            applied: nil,
            vary: "Prefer"),
        Row(line: "PROPFIND /d", fields: [("Brief", "t")], body: ask, applied: nil, vary: "Brief"),
        Row(line: "PROPFIND /d", fields: [("Depth", "0")], body: ask, applied: nil, vary: nil),
        Row(line: "PROPFIND /d", fields: [("Prefer", "wait=1")], body: ask, applied: nil, vary: "Prefer"),
        Row(
            line: "PROPPATCH /a", fields: [minimal], body: setProperty("p", "1"), applied: "return=minimal",
            vary: "Prefer"),
        Row(line: "PROPPATCH /a", fields: [], body: setProperty("p", "1"), applied: nil, vary: nil),
        Row(
            line: "PUT /a", fields: [representation], body: "x", applied: "return=representation",
            vary: "Prefer"),
        Row(
            line: "PUT /a", fields: [representation, ("If-None-Match", "*")], body: "x",
            applied: "return=representation", vary: "Prefer"),
        Row(line: "PUT /a", fields: [], body: "x", applied: nil, vary: nil),
    ]

    @Test(arguments: rows)
    func appliedPreferencesAreReported(row: Row) async throws {
        for parent in ["/tmp", "/dev/shm"] {
            let share = try TestShare(TemporaryFolder(in: parent))
            #expect(share.shell("mkdir d; echo >d/b; echo >a") == 0)
            let parts = row.line.split(separator: " ").map(String.init)
            let answer = try await share.client.send(
                parts[0], parts[1], row.fields, body: row.body.map { Array($0.utf8) })
            #expect(answer["Preference-Applied"] == row.applied)
            #expect(answer["Vary"] == row.vary)
        }
    }

    @Test func returnedRepresentationHasTheFieldsOfGET() async throws {
        let share = try TestShare()
        for status: UInt16 in [201, 200] {
            let answer = try await share.client.send("PUT", "/a%20b.txt", [Self.representation], text: "text")
            #expect(answer.status == status && answer.text == "text")
            #expect(answer["Content-Location"] == "/a%20b.txt")
            #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
            #expect(answer["ETag"] == (try await share.client.send("HEAD", "/a%20b.txt"))["ETag"])
        }
        let failed = try await share.client.send(
            "PUT", "/a%20b.txt", [Self.representation, ("If-None-Match", "*")], text: "other")
        #expect(failed.status == 412 && failed.text == "text")
        #expect(failed["Content-Location"] == "/a%20b.txt")
        #expect(failed["ETag"] == (try await share.client.send("HEAD", "/a%20b.txt"))["ETag"])
    }
}
