import DavitHTTP
import DavitServer
import Testing

/// RFC 7617, with passwords that are verified immediately.
struct BasicAuthenticationTests {
    static let schemes: AuthenticationSettings = {
        var settings = AuthenticationSettings()
        settings.realm = "files"
        return settings
    }()

    static func makeGate() throws -> AuthenticationFixture {
        var accounts = Accounts(schemes)
        try accounts.add(name: "anna", password: "open:sesame")
        try accounts.add(name: "jörg", password: "pässword")
        try accounts.add(name: "long", password: String(repeating: "x", count: Accounts.limitBytes))
        var fields = HTTPFields()
        fields.append(.dav, "1, 2, 3")
        fields.append(.msAuthorVia, "DAV")
        return try AuthenticationFixture(accounts, fields: fields)
    }

    static let accepted: [(credentials: String, name: String)] = [
        // RFC 7617 §2: the first colon ends the name. anna:open:sesame
        ("Basic YW5uYTpvcGVuOnNlc2FtZQ==", "anna"),
        // RFC 9110 §11.1: the scheme is case-insensitive.
        ("bAsIc YW5uYTpvcGVuOnNlc2FtZQ==", "anna"),
        // §2.1: UTF-8. jörg:pässword
        ("Basic asO2cmc6cMOkc3N3b3Jk", "jörg"),
    ]

    @Test(arguments: accepted)
    func validCredentialsAreAccepted(credentials: String, name: String) async throws {
        let gate = try Self.makeGate()
        // The second request is answered from the cache.
        for _ in 0..<2 {
            let response = try await gate.send(["Authorization: \(credentials)"], method: "PUT")
            #expect(response.status == .noContent)
            #expect(response.fields.first(.etag) == name)
            #expect(response.fields.first(named: "Authentication-Info") == nil)
        }
    }

    static let refused: [[String]] = [
        [],
        ["Authorization:"],
        ["Authorization: Basic"],
        ["Authorization: Bearer"],
        ["Authorization: Digest username=\"anna\""],
        ["Authorization: Basic ***"],
        // anna:open:sesam, anna:open:sesamee, anna:, Anna:open:sesame, nobody:open:sesame, no colon
        ["Authorization: Basic YW5uYTpvcGVuOnNlc2Ft"],
        ["Authorization: Basic YW5uYTpvcGVuOnNlc2FtZWU="],
        ["Authorization: Basic YW5uYTo="],
        ["Authorization: Basic QW5uYTpvcGVuOnNlc2FtZQ=="],
        ["Authorization: Basic bm9ib2R5Om9wZW46c2VzYW1l"],
        ["Authorization: Basic YW5uYQ=="],
        // The field is repeated, so the request is refused even though both values are correct.
        [
            "Authorization: Basic YW5uYTpvcGVuOnNlc2FtZQ==",
            "Authorization: Basic YW5uYTpvcGVuOnNlc2FtZQ==",
        ],
    ]

    @Test(arguments: refused, ["GET", "PROPFIND", "PUT", "OPTIONS", "BREW"])
    func requestsWithoutValidCredentialsAreChallenged(fields: [String], method: String) async throws {
        let response = try await Self.makeGate().send(fields, method: method)
        #expect(response.status == .unauthorized)
        // RFC 9110 §11.6.1: the response has at least one challenge, and all have the same realm.
        #expect(response.fields.challenges.last == #"Basic realm="files", charset="UTF-8""#)
        #expect(response.fields.challenges.allSatisfy { $0.contains(#" realm="files""#) })
        #expect(response.fields.first(.etag) == nil)
        // OPTIONS announces WebDAV even without a password.
        #expect((response.fields.first(.dav) != nil) == (method == "OPTIONS"))
        #expect((response.fields.first(.msAuthorVia) != nil) == (method == "OPTIONS"))
    }

    @Test func refusedRequestHasNoPrincipal() async throws {
        let gate = try Self.makeGate()
        let request = try makeRequest("GET /f HTTP/1.1", "Host: a", "Authorization: Basic YW5uYTo=")
        #expect(try await gate.handler.respond(to: request).response().status == .unauthorized)
        #expect(request.principal == nil)
    }

    static let lengths: [(added: Int, status: HTTPStatus)] = [
        (-1, .unauthorized), (0, .noContent), (1, .unauthorized), (300, .unauthorized),
    ]

    @Test(arguments: lengths)
    func everyCharacterOfAPasswordIsCompared(added: Int, status: HTTPStatus) async throws {
        let pair = "long:" + String(repeating: "x", count: Accounts.limitBytes + added)
        #expect(try await Self.makeGate().basic(pair).status == status)
    }

    /// Credentials that are truncated at any position are refused.
    @Test func truncatedFieldIsRefused() async throws {
        let gate = try Self.makeGate()
        let value = Array("Basic YW5uYTpvcGVuOnNlc2FtZQ==")
        for length in 0..<value.count {
            // Each attempt comes from a different address, so that none is delayed.
            let response = try await gate.send(
                ["Authorization: \(String(value[..<length]))"], from: "192.0.2.\(length)")
            #expect(response.status == .unauthorized)
        }
    }

    @Test func basicIsRefusedIfNotOffered() async throws {
        #if TLS
        var settings = Self.schemes
        settings.schemes = [.digestSHA256]
        var accounts = Accounts(settings)
        try accounts.add(name: "anna", password: "open:sesame")
        let gate = try AuthenticationFixture(accounts)
        for _ in 0..<20 {
            let response = try await gate.basic("anna:open:sesame")
            #expect(response.status == .unauthorized)
            #expect(response.fields.challenges.count == 1)
        }
        #endif
    }

    /// Part of an application requires a second authentication.
    @Test func nestedAuthenticationsBothApply() async throws {
        var inner = Accounts()
        try inner.add(name: "root", password: "secret")
        let gate = try Self.makeGate()
        let second = try Authentication(accounts: inner, work: InlineWork())
        let handler = Greeter().applying(second).applying(gate.authentication)
        let request = try makeRequest(
            "GET /f HTTP/1.1", "Host: a", "Authorization: Basic YW5uYTpvcGVuOnNlc2FtZQ==")
        #expect(try await handler.respond(to: request).response().status == .unauthorized)
    }
}
