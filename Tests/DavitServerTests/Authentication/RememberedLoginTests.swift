#if TLS
import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Credentials that repeat on a connection are admitted without a lookup, as long as they are valid.
struct RememberedLoginTests {
    private let work = InlineWork()

    private func gate() throws -> AuthenticationFixture {
        var accounts = Accounts(AppPasswordTests.settings)
        try accounts.add(Accounts.Entry(name: "anna", hash: AppPasswordTests.hash(of: "secret")))
        return try AuthenticationFixture(accounts, work: work, hasAppPasswords: true)
    }

    /// A request on a connection, which remembers what another request on it remembered.
    private func request(
        _ pair: String, after other: HTTPRequest? = nil,
        from peer: NetworkAddress = .ipv4(192, 0, 2, 1, port: 1)
    ) throws -> HTTPRequest {
        let request = try makeRequest(
            "GET /f HTTP/1.1", "Host: a", "Authorization: Basic \(Base64.encode(Array(pair.utf8)))")
        request.endpoints = ConnectionEndpoints(local: .ipv4(192, 0, 2, 9, port: 80), remote: peer)
        if let other { request.memory = other.memory }
        return request
    }

    private func status(_ gate: AuthenticationFixture, _ request: HTTPRequest) async throws -> HTTPStatus {
        try await gate.handler.respond(to: request).response().status
    }

    /// Sends the same credentials twice, after which they are remembered.
    private func signedIn(_ gate: AuthenticationFixture) async throws -> HTTPRequest {
        let first = try request("anna:secret")
        #expect(try await status(gate, first) == .noContent && first.memory.login == nil)
        let second = try request("anna:secret")
        #expect(try await status(gate, second) == .noContent && second.memory.login != nil)
        #expect(work.count == 1)
        return second
    }

    @Test func requestsAreAdmittedAsBefore() async throws {
        let gate = try gate()
        let first = try await signedIn(gate)
        let next = try request("anna:secret", after: first, from: .ipv4(192, 0, 2, 1, port: 2))
        #expect(try await status(gate, next) == .noContent)
        #expect(next.principal == "anna" && next.credentialNumber == first.credentialNumber)
        #expect(work.count == 1)
    }

    @Test(arguments: ["anna:secres", "anna:secret2", "anna:secre", "ben:secret", ":"])
    func otherCredentialsAreChecked(pair: String) async throws {
        let gate = try gate()
        let first = try await signedIn(gate)
        #expect(try await status(gate, request(pair, after: first)) == .unauthorized)
    }

    @Test func changesEndTheMemory() async throws {
        let gate = try gate()
        let first = try await signedIn(gate)
        _ = gate.authentication.update("anna", to: nil)
        #expect(try await status(gate, request("anna:secret", after: first)) == .unauthorized)
    }

    @Test func expiredEntriesAreVerifiedAgain() async throws {
        let gate = try gate()
        let first = try await signedIn(gate)
        gate.clock.advance(seconds: 301)
        #expect(try await status(gate, request("anna:secret", after: first)) == .noContent)
        #expect(work.count == 2)
    }

    /// A login that another middleware has remembered is not admitted.
    @Test func memoryBelongsToOneMiddleware() async throws {
        let first = try await signedIn(gate())
        var accounts = Accounts(AppPasswordTests.settings)
        try accounts.add(Accounts.Entry(name: "anna", hash: AppPasswordTests.hash(of: "other")))
        let other = try AuthenticationFixture(accounts)
        #expect(try await status(other, request("anna:secret", after: first)) == .unauthorized)
    }

    /// Without credentials, with two, and from another address.
    @Test func onlyRepetitionsFromTheSameAddressAreAdmitted() async throws {
        let gate = try gate()
        let first = try await signedIn(gate)
        let none = try makeRequest("GET /f HTTP/1.1", "Host: a")
        let field = "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))"
        let two = try makeRequest("GET /f HTTP/1.1", "Host: a", field, field)
        for request in [none, two] {
            request.endpoints = first.endpoints
            request.memory = first.memory
            #expect(try await status(gate, request) == .unauthorized)
        }
        // A blocked address must not find out that a guess is right.
        let attacker = NetworkAddress.ipv4(198, 51, 100, 1, port: 1)
        for guess in 0..<6 {
            _ = try await status(gate, request("anna:\(guess)", after: first, from: attacker))
        }
        let right = try request("anna:secret", after: first, from: attacker)
        #expect(try await status(gate, right) == .tooManyRequests)
    }
}
#endif
