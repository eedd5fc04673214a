import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Tests POST to the add-member URI of a collection (RFC 5995), with member names from Slug (RFC 5023 §9.7).
struct AddMemberTests {
    static let askURI = "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:add-member/></D:prop></D:propfind>"

    static let scenarios: [Scenario] = [
        Scenario(
            "RFC 5995 §3.2.1: collections have an add-member URI, other resources do not",
            [
                step("MKCOL /d%20e", [], nil, 201), step("PUT /a", [], "x", 201),
                step(
                    "PROPFIND /d%20e", [("Depth", "0")], askURI, 207,
                    holds: ["<D:add-member><D:href>/d%20e/?add-member</D:href></D:add-member>"]),
                step(
                    "PROPFIND /", [("Depth", "1")], askURI, 207,
                    holds: ["<D:href>/?add-member<", "<D:href>/d%20e/?add-member<", "404 Not Found"],
                    lacks: ["/a/?add-member"]),
                step("PROPFIND /", [("Depth", "0")], nil, 207, lacks: ["add-member"]),
                step(
                    "PROPFIND /", [("Depth", "0")], "<D:propfind xmlns:D=\"DAV:\"><D:propname/></D:propfind>",
                    207,
                    holds: ["<D:add-member/>"]),
                // The property is protected (§3.2.1).
                step(
                    "PROPPATCH /", [],
                    "<D:propertyupdate xmlns:D=\"DAV:\"><D:set><D:prop><D:add-member/></D:prop></D:set></D:propertyupdate>",
                    207, holds: ["403 Forbidden"]),
            ]),
        Scenario(
            "RFC 5995 §3.1: names follow Slug and never replace a resource",
            [
                step("MKCOL /d", [], nil, 201),
                step("POST /d/?add-member", [("Slug", "a b.txt")], "one", 201),
                step("GET /d/a%20b.txt", [], nil, 200, holds: ["one"]),
                step("POST /d?add-member", [("Slug", "a%20b.txt")], "two", 201),
                step("GET /d/a%20b.txt", [], nil, 200, holds: ["one"]),
                step("GET /d/a%20b%20(1).txt", [], nil, 200, holds: ["two"]),
                step("MKCOL /d/c", [], nil, 201), step("POST /d/?add-member", [("Slug", "c")], "three", 201),
                step("GET /d/c%20(1)", [], nil, 200, holds: ["three"]),
                shell("ln -s nowhere d/link"), step("POST /d/?add-member", [("Slug", "link")], "four", 201),
                step("GET /d/link%20(1)", [], nil, 200, holds: ["four"]),
                step(
                    "POST /d/?add-member", [("Slug", "../../x"), ("Content-Type", "image/png")], "five", 201),
                step("GET /d/-..-x", [], nil, 200, holds: ["five"]),
                step("POST /d/?add-member", [("Slug", "photo"), ("Content-Type", "image/png")], "six", 201),
                step("GET /d/photo.png", [], nil, 200, holds: ["six"]),
                step("POST /d/?add-member", [("Slug", "%ff")], "", 201), shell("[ $(ls d | wc -l) = 9 ]"),
            ]),
        Scenario(
            "POST to anything else is refused",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /a", [], "x", 201), step("POST /d/", [], "x", 405),
                step("POST /d/?add-members", [], "x", 405), step("POST /a?add-member", [], "x", 405),
                step("POST /none/?add-member", [], "x", 404), step("POST /no/ne?add-member", [], "x", 404),
                step("POST /d/?add-member", [("Content-Encoding", "gzip")], "x", 415),
                step("POST /d/?add-member", [("If-Match", "\"x\"")], "x", 412),
                shell("[ $(ls -A d | wc -l) = 0 ] && [ ! -e none ]"),
            ]),
        Scenario(
            "RFC 4918 §7.4: a lock on the collection protects its members",
            [
                step("MKCOL /d", [], nil, 201), lock("/d", depth: "0"),
                step("POST /d/?add-member", [("Slug", "a")], "x", 423, holds: ["lock-token-submitted"]),
                step("POST /d/?add-member", [("Slug", "a"), ("If", "(<$1>)")], "x", 201),
                step("POST /d/?add-member", [("Slug", "b"), ("If", "</d/> (<$1>)")], "x", 201),
                step("POST /d/?add-member", [("Slug", "c"), ("If", "(<urn:x:none>)")], "x", 412),
                step("UNLOCK /d", [("Lock-Token", "<$1>")], nil, 204), lock("/", depth: "infinity"),
                step("POST /d/?add-member", [("Slug", "d")], "x", 423),
                shell("[ $(ls d | wc -l) = 2 ]"),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws { try await TestShare.play(scenario) }

    @Test func responseNamesTheNewMember() async throws {
        let share = try TestShare()
        let answer = try await share.client.send("POST", "/?add-member", [("Slug", "é")], text: "x")
        #expect(answer.status == 201 && answer["Location"] == "/%C3%A9")
        #expect(try await share.client.send("GET", "/%C3%A9")["ETag"] == answer["ETag"])
        let unnamed = try await share.client.send(
            "POST", "/?add-member", [("Content-Type", "text/plain; charset=utf-8")], text: "y")
        let location = try #require(unnamed["Location"])
        #expect(location.hasSuffix(".txt"))
        #expect(try await share.client.send("GET", location).text == "y")
    }

    /// Another handler serves `/d/api`, so a member with that name would be inaccessible.
    @Test func nameHiddenByAMountIsNotUsed() async throws {
        let path = try #require(ResourcePath(segments: [Array("d".utf8), Array("api".utf8)]))
        let share = try TestShare { $0.hiddenPaths = [path] }
        #expect(share.shell("mkdir d") == 0)
        let answer = try await share.client.send("POST", "/d/?add-member", [("Slug", "api")], text: "x")
        #expect(answer.status == 201 && answer["Location"] == "/d/api%20%281%29")
    }

    @Test func optionsListPOSTOnlyWhereItIsAllowed() async throws {
        let share = try TestShare()
        let options = try await share.client.send("OPTIONS", "/?add-member")
        #expect(options["Allow"]?.contains("POST") == true && options["Accept-Post"] == "*/*")
        for target in ["/", "/?other"] {
            let other = try await share.client.send("OPTIONS", target)
            #expect(other["Allow"]?.contains("POST") == false && other["Accept-Post"] == nil)
        }
        let readOnly = try TestShare { $0.isReadOnly = true }
        #expect(try await readOnly.client.send("POST", "/?add-member", text: "x").status == 403)
        let asked = try await readOnly.client.send("PROPFIND", "/", [("Depth", "0")], text: Self.askURI)
        #expect(asked.text.contains("404 Not Found"))
    }

    @Test func addMemberURIIncludesTheMountPrefix() async throws {
        try await TestShare.play(
            Scenario(
                "mounted",
                [
                    step(
                        "PROPFIND /x/y/", [("Depth", "0")], Self.askURI, 207,
                        holds: ["<D:href>/x/y/?add-member</D:href>"]),
                    step(
                        "POST /x/y/?add-member", [("Slug", "a"), ("Prefer", "return=representation")], "one",
                        201,
                        holds: ["one"]),
                    step("GET /x/y/a", [], nil, 200, holds: ["one"]),
                ]), mountedAt: "/x/y")
    }

    /// Every tenth content exceeds the memory buffer. It must be received once, not once per candidate name.
    @Test func concurrentAddsWithTheSameSlugAllSucceed() async throws {
        let share = try TestShare()
        let statuses = await withTaskGroup(of: UInt16?.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let body = [UInt8](repeating: UInt8(number), count: number % 10 == 0 ? 100_000 : 10)
                    return try? await share.client.send("POST", "/?add-member", [("Slug", "n.x")], body: body)
                        .status
                }
            }
            return await group.reduce(into: [UInt16: Int]()) { $0[$1 ?? 0, default: 0] += 1 }
        }
        #expect(statuses == [201: 100])
        #expect(share.shell("[ $(ls -A | wc -l) = 100 ] && [ $(cat * | sort -u | wc -c) -gt 0 ]") == 0)
        #expect(share.shell("[ $(md5sum * | cut -c-32 | sort -u | wc -l) = 100 ]") == 0)
    }
}
