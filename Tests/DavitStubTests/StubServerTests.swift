import DavitHTTP
import DavitRecording
import DavitStub
import DavitTesting
import Testing

/// The library: a stub server on a free port, with rules in Swift.
struct StubServerTests {
    private func send(
        _ method: String, _ path: String, _ content: String? = nil, to url: String
    ) throws -> (status: Int, text: String) {
        let address = try #require(ServerAddress(parsing: url))
        let found = try SingleExchange(method, path, to: address, content: content.map { Array($0.utf8) })
        return (found.status, String(decoding: found.content, as: UTF8.self))
    }

    @Test func rulesAreWrittenInSwift() async throws {
        let stub = try StubServer(seed: 42)
        try stub.on(.post, "/login")
            .requiring(json: "$.email", format: "email")
            .requiring(field: "Host")
            .reply(.created, .json(["token": "abc"]), fields: ["X-A": "b"])
            .reply(.text("again"))
        try stub.on(.get, "/**").when(["query": "page", "is": 2]).reply(.template("{{query.page}}"))
        try stub.collection("/things")
        let url = try stub.start()
        #expect(stub.url == url && stub.seed == 42)
        #expect(try send("POST", "/login", #"{"email":"a@b.de"}"#, to: url) == (201, #"{"token":"abc"}"#))
        #expect(try send("POST", "/login", #"{"email":"a@b.de"}"#, to: url) == (200, "again"))
        #expect(try send("POST", "/login", "{}", to: url).status == 422)
        #expect(try send("GET", "/x/y?page=2", to: url) == (200, "2"))
        #expect(try send("POST", "/things", "{}", to: url) == (201, #"{"id":1}"#))
        #expect(stub.requests.map(\.status) == [.created, .ok, HTTPStatus(422), .ok, .created])
        #expect(stub.requests[2].problems.map(\.subject) == ["json $.email"])
        try stub.reset()
        #expect(stub.requests.isEmpty && stub.rules.count == 3)
        #expect(try stub.removeRule(named: "POST /login"))
        #expect(try send("POST", "/login", "{}", to: url).status == 404)
        await stub.stop()
        #expect(stub.url == nil)
    }

    /// The second of two rules with the same path is tried first, and has a name of its own.
    @Test func laterRulesWin() throws {
        let stub = try StubServer()
        let names = try [stub.on(.get, "/a"), stub.on(.get, "/a"), stub.on(nil, "/a")].map(\.rule.name)
        #expect(names == ["GET /a", "GET /a (2)", "* /a"])
        #expect(stub.rules.map(\.name) == names.reversed())
        #expect(throws: StubError.self) { try stub.on(.get, "a") }
        #expect(throws: StubError.self) { try stub.on(.get, "/b").faults("nonsense") }
    }

    /// A test waits for a request of its client: for one that has been received, and for one that is to come.
    @Test func requestsAreAwaited() async throws {
        let stub = try StubServer()
        try stub.on(.put, "/a/{id}").reply(.noContent)
        let url = try stub.start()
        #expect(try send("PUT", "/a/1", "one", to: url).status == 204)
        #expect(try await stub.waitForRequest(.put, "/a/{id}").content == Array("one".utf8))
        async let second = stub.waitForRequest(.put, "/a/{id}", number: 2)
        async let other = stub.waitForRequest(nil, "~other")
        #expect(try send("GET", "/other", to: url).status == 404)
        #expect(try send("PUT", "/a/2", "two", to: url).status == 204)
        #expect(try await second.content == Array("two".utf8))
        #expect(try await other.status == .notFound)
        let waiting = Task { try await stub.waitForRequest(.get, "/never") }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await stub.stop()
    }

    /// Delays and errors of a rule are those of `--faults`.
    @Test func faultsAreInjected() async throws {
        let stub = try StubServer(seed: 1)
        try stub.on(.get, "/slow").reply(.text("x")).delay(.milliseconds(20)).failing(
            probability: 0.5, .badGateway)
        let url = try stub.start()
        let clock = ContinuousClock()
        var statuses: [Int] = []
        for _ in 0..<10 {
            let start = clock.now
            statuses.append(try send("GET", "/slow", to: url).status)
            #expect(start.duration(to: clock.now) >= .milliseconds(20))
        }
        #expect(Set(statuses) == [200, 502])
        await stub.stop()
    }
}

/// Requests that no rule matches are forwarded to another server.
struct ForwardingTests {
    @Test func requestsAreForwardedAndRepeated() async throws {
        let upstream = try StubServer()
        try upstream.on(nil, "/base/**").reply(
            .created, .template("{{method}} {{path}} {{query.q}} {{field.Destination}} {{content}}"),
            fields: ["X-A": "b", "Location": "/base/next", "Set-Cookie": "a=b"])
        let upstreamURL = try upstream.start()
        let stub = try StubServer(forwardingTo: upstreamURL + "base")
        try stub.on(.get, "/own").reply(.text("own"))
        let url = try stub.start()
        let address = try #require(ServerAddress(parsing: url))
        func send(_ method: String, _ target: String, _ content: String? = nil) throws -> SingleExchange {
            try SingleExchange(
                method, target, to: address,
                fields: [
                    WireField(name: "Destination", value: url + "to"),
                    WireField(name: "Connection", value: "x"),
                ],
                content: content.map { Array($0.utf8) })
        }
        #expect(String(decoding: try send("GET", "/own").content, as: UTF8.self) == "own")
        let first = try send("PUT", "/a%20b?q=1", "content")
        #expect(first.status == 201 && first.fields["X-A"] == "b")
        #expect(
            String(decoding: first.content, as: UTF8.self) == "PUT /base/a b 1 \(upstreamURL)base/to content")
        let entry = try #require(stub.requests.last)
        #expect(entry.isForwarded && entry.rule == nil && entry.status == .created)
        #expect(
            upstream.requests.first?.fields.contains { $0.name == "Connection" && $0.value == "x" } == false)

        // Without the other server, the last response is repeated.
        await upstream.stop()
        let again = try send("PUT", "/a%20b?q=1", "other")
        #expect(again.status == 201 && again.content == first.content && again.fields["X-A"] == "b")
        #expect(try send("PUT", "/a%20b?q=2").status == 502)
        #expect(stub.requests.last?.misses.count == 1)
        await stub.stop()
    }

    @Test func malformedURLIsRefused() {
        #expect(throws: StubError.badUpstream("x")) { try StubServer(forwardingTo: "x") }
    }
}
