import DavitHTTP
import DavitTesting
import Testing

@testable import DavitStub

/// The JSON API below `/.davit/api/`, and the database.
struct StubControlTests {
    static let rule = #"{"name":"r","path":"/a","replies":[{"text":"ok"}]}"#

    @Test func rulesAreChanged() async throws {
        let stub = try StubFixture()
        #expect(try await stub.api("POST", "rules", Self.rule).0 == 201)
        #expect(try await stub.api("POST", "rules", Self.rule).0 == 409)
        #expect(try await stub.api("PUT", "rules/r", Self.rule).0 == 200)
        #expect(
            try await stub.api("PUT", "rules/new", #"{"name":"new","path":"/b","replies":[{}]}"#).0 == 201)
        #expect(try await stub.api("PUT", "rules/new", #"{"name":"r","path":"/b","replies":[{}]}"#).0 == 409)
        #expect(
            try await stub.api("PUT", "rules/new", #"{"name":"newer","path":"/b","replies":[{}]}"#).0 == 200)
        #expect(stub.state.rules.map(\.rule.name) == ["newer", "r"])
        _ = try await stub.send("GET", "/a")
        #expect(try await stub.api("GET", "rules/r").1?["hits"] == 1)
        #expect(try await stub.api("DELETE", "rules/r").0 == 204)
        #expect(try await stub.api("DELETE", "rules/r").0 == 404)
        #expect(try await stub.api("GET", "rules/r").0 == 404)
        #expect(try await stub.api("PUT", "rules", #"{"rules":[\#(Self.rule)]}"#).0 == 200)
        // If one rule is refused, none is replaced.
        let twice =
            #"{"rules":[{"name":"x","path":"/","replies":[{}]},{"name":"y","path":"","replies":[{}]}]}"#
        #expect(try await stub.api("PUT", "rules", twice).0 == 422)
        #expect(stub.state.rules.map(\.rule.name) == ["r"])
        #expect(try await stub.api("POST", "rules", "{").0 == 400)
    }

    @Test func requestsAreListed() async throws {
        let stub = try StubFixture(Self.rule)
        _ = try await stub.send("GET", "/a?x=%20")
        _ = try await stub.send("PUT", "/b", [("Content-Type", "image/png")], "\u{1}")
        let list = try await stub.api("GET", "requests").1
        #expect(list?["latest"] == 2)
        #expect(list?["requests"]?.elements?.map { $0["target"]?.text } == ["/a?x=%20", "/b"])
        #expect(list?["requests"]?.elements?.map { $0["rule"] ?? "" } == ["r", .null])
        #expect(try await stub.api("GET", "requests?after=1").1?["requests"]?.elements?.count == 1)
        #expect(try await stub.api("GET", "requests?after=x").0 == 400)
        let second = try await stub.api("GET", "requests/2").1
        #expect(second?["content"]?["text"] == "\u{1}" && second?["contentLength"] == 1)
        let raw = try await stub.send("GET", "/.davit/api/requests/2/content")
        #expect(raw["Content-Type"] == "image/png" && raw.body == [1])
        #expect(raw["Content-Security-Policy"] == "sandbox; default-src 'none'")
        #expect(try await stub.api("GET", "requests/3").0 == 404)
        #expect(try await stub.api("DELETE", "requests").0 == 204)
        #expect(try await stub.api("GET", "requests").1?["latest"] == 2)
        #expect(try await stub.api("GET", "requests").1?["requests"] == [])
    }

    /// The API's answer to `verify` after `GET /a`, `GET /a`, `POST /a?x=1`.
    @Test(arguments: [
        (#"{"path":"/a"}"#, true, 3), (#"{"path":"/a","methods":["GET"],"count":2}"#, true, 2),
        (#"{"path":"/a","methods":["GET"],"count":3}"#, false, 2), (#"{"path":"/b"}"#, false, 0),
        (#"{"path":"/b","count":0}"#, true, 0), (#"{"path":"/**","atLeast":2,"atMost":3}"#, true, 3),
        (#"{"atMost":2}"#, false, 3), (#"{"path":"~a$","atLeast":4}"#, false, 3),
        (#"{"path":"/{x}","count":3}"#, true, 3),
    ])
    func verification(_ wanted: String, _ holds: Bool, _ count: Int64) async throws {
        let stub = try StubFixture(Self.rule)
        for (method, target) in [("GET", "/a"), ("GET", "/a"), ("POST", "/a?x=1")] {
            _ = try await stub.send(method, target)
        }
        let (status, answer) = try await stub.api("POST", "verify", wanted)
        #expect(status == 200)
        #expect(answer?["holds"] == .bool(holds) && answer?["count"] == .integer(count))
        #expect(answer?["isComplete"] == true)
    }

    @Test(arguments: [#"{"count":1,"atLeast":1}"#, #"{"path":"x"}"#, #"{"other":1}"#])
    func impossibleVerificationIsRefused(_ wanted: String) async throws {
        #expect(try await StubFixture().api("POST", "verify", wanted).0 == 422)
    }

    /// A rule made from a recorded request answers the next one in the same way.
    @Test func ruleFromRequest() async throws {
        let stub = try StubFixture(
            #"{"name":"r","path":"/**","replies":[{"status":201,"fields":{"X":"y"},"text":"ok"}]}"#)
        _ = try await stub.send("POST", "/a/b%20c?q=1", [], "x")
        let made = try #require(try await stub.api("POST", "rules-from/1").1)
        #expect(made["name"] == "POST /a/b c" && made["path"] == "/a/b c")
        #expect(made["when"] == [["query": "q", "is": "1"]])
        #expect(made["replies"]?.elements?.first?["status"] == 201)
        #expect(stub.state.rules.count == 1)
        try stub.state.replaceRules([])
        try stub.state.store(try StubRule(json: made))
        let again = try await stub.send("POST", "/a/b%20c?q=1")
        #expect(again.status == 201 && again["X"] == "y" && again.text == "ok")
    }

    @Test func stateIsShownAndChanged() async throws {
        let stub = try StubFixture(
            seed: 9,
            #"{"name":"r","path":"/","scenario":{"name":"s"},"replies":[{"template":"{{counter c}}"}]}"#)
        _ = try await stub.send("GET", "/")
        let state = try await stub.api("GET", "state").1
        #expect(state?["scenarios"]?["s"] == "start" && state?["counters"]?["c"] == 1 && state?["seed"] == 9)
        #expect(
            try await stub.api("PUT", "state", #"{"scenarios":{"s":"end"}}"#).1?["scenarios"]?["s"] == "end")
        #expect(try await stub.api("PUT", "state", #"{"scenarios":{"t":"end"}}"#).0 == 422)
        #expect(try await stub.api("POST", "reset").0 == 204)
        let after = try await stub.api("GET", "state").1
        #expect(after?["scenarios"]?["s"] == "start" && after?["counters"] == [:])
        #expect(try await stub.api("GET", "requests").1?["requests"] == [])
        #expect(stub.state.rules.count == 1)
    }

    /// Pages of other sites cannot use the API: neither by a form, nor by pointing their name at this machine.
    @Test func otherSitesAreRefused() async throws {
        let stub = try StubFixture()
        let form = [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")]
        #expect(try await stub.send("POST", "/.davit/api/reset", form).status == 403)
        var client = stub.client
        client.host = "evil.example"
        #expect(try await client.send("GET", "/.davit/api/rules", []).status == 421)
        // Stubs themselves answer any host.
        try stub.add(Self.rule)
        #expect(try await client.send("GET", "/a", []).status == 200)
    }

    /// The log keeps a limited number of requests, and says how many it has dropped.
    @Test func logIsLimited() throws {
        let log = RequestLog()
        let entry = StubRequest(HTTPRequest(), at: 0)
        for _ in 0..<RequestLog.entryLimit + 5 { log.add(entry) }
        let snapshot = log.requests()
        #expect(snapshot.requests.count == RequestLog.entryLimit && snapshot.dropped == 5)
        #expect(snapshot.requests.first?.number == 6)
        #expect(log.request(5) == nil && log.request(6)?.number == 6)
        #expect(
            log.requests(after: 10_000).requests.map(\.number) == [10_001, 10_002, 10_003, 10_004, 10_005])
    }

    @Test func otherDatabasesAreRefused() throws {
        let folder = try TemporaryFolder()
        let text = folder.path + "/text"
        try SmallFiles.write(
            "This is not a database, but a text that is long enough to have a header.", to: text)
        #expect(throws: StubError.self) { try StubDatabase(path: text) }
        #expect(throws: StubError.self) { try StubDatabase(path: folder.path + "/missing/a.sqlite") }
    }
}
