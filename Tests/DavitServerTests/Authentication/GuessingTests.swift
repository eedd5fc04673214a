import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// The cost of guessing passwords, and which clients it affects.
struct GuessingTests {
    static func makeGate(_ work: any BlockingWorkRunner = InlineWork()) throws -> AuthenticationFixture {
        var accounts = Accounts()
        #if TLS
        // The password is "päss".
        try accounts.add(name: "anna", hash: AccountsTests.scrypt)
        try accounts.add(name: "bert", hash: AccountsTests.scrypt)
        #else
        try accounts.add(name: "anna", password: "päss")
        try accounts.add(name: "bert", password: "päss")
        #endif
        return try AuthenticationFixture(accounts, work: work)
    }

    @Test func delayGrowsToALimit() async throws {
        let gate = try Self.makeGate()
        for guess in 1...5 { #expect(try await gate.basic("anna:\(guess)").status == .unauthorized) }
        for wait: Int64 in [1, 2, 4, 8, 16, 32, 60, 60] {
            let response = try await gate.basic("anna:other\(wait)")
            #expect(response.status == .tooManyRequests)
            #expect(response.fields.first(.retryAfter) == "\(wait)")
            // The delay applies even to the right password, and to other accounts.
            #expect(try await gate.basic("anna:päss").status == .tooManyRequests)
            #expect(try await gate.basic("bert:päss").status == .tooManyRequests)
            gate.clock.advance(seconds: wait)
            #expect(try await gate.basic("anna:next\(gate.clock.now)").status == .unauthorized)
        }
        #expect(gate.reports.seconds == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        gate.clock.advance(seconds: 60)
        #expect(try await gate.basic("anna:päss").status == .noContent)
    }

    @Test func otherAddressesAreNotDelayed() async throws {
        let gate = try Self.makeGate()
        for guess in 1...5 { _ = try await gate.basic("anna:\(guess)") }
        #expect(try await gate.basic("anna:päss").status == .tooManyRequests)
        #expect(try await gate.basic("anna:päss", from: "192.0.2.2").status == .noContent)
        // Requests without credentials do not count as failures.
        #expect(try await gate.send([]).status == .unauthorized)
    }

    @Test func wholeNetworkIsDelayed() async throws {
        let gate = try Self.makeGate()
        for guess in 1...5 { _ = try await gate.basic("anna:\(guess)", from: "2001:db8::\(guess)") }
        #expect(try await gate.basic("anna:päss", from: "2001:db8::ffff:1:1:1").status == .tooManyRequests)
        #expect(try await gate.basic("anna:päss", from: "2001:db8:0:1::1").status == .noContent)
    }

    @Test func distributedGuessesDelayOnlyTheGuessers() async throws {
        let gate = try Self.makeGate()
        for guess in 1...10 { _ = try await gate.basic("anna:\(guess)", from: "192.0.2.\(guess)") }
        #expect(try await gate.basic("anna:more", from: "192.0.2.1").status == .tooManyRequests)
        #expect(try await gate.basic("bert:more", from: "192.0.2.1").status == .unauthorized)
        #expect(try await gate.basic("anna:päss", from: "198.51.100.1").status == .noContent)
    }

    /// The response must not reveal which names exist.
    @Test func unknownNamesAreDelayedEqually() async throws {
        var answers: [[HTTPStatus]] = []
        for name in ["anna", "nobody"] {
            let work = InlineWork()
            let gate = try Self.makeGate(work)
            var statuses: [HTTPStatus] = []
            for guess in 1...8 { statuses.append(try await gate.basic("\(name):\(guess)").status) }
            answers.append(statuses)
            #if TLS
            // The number of hashes is the same, too.
            #expect(work.count == 5)
            #endif
        }
        #expect(answers[0] == answers[1])
    }

    #if TLS
    @Test func correctPasswordIsHashedOnceEveryFiveMinutes() async throws {
        let work = InlineWork()
        let gate = try Self.makeGate(work)
        for _ in 0..<50 { #expect(try await gate.basic("anna:päss").status == .noContent) }
        #expect(work.count == 1)
        gate.clock.advance(seconds: 299)
        _ = try await gate.basic("anna:päss")
        #expect(work.count == 1)
        gate.clock.advance(seconds: 1)
        #expect(try await gate.basic("anna:päss").status == .noContent)
        #expect(work.count == 2)
    }

    @Test func cachedPasswordIsAnsweredWithoutWaiting() async throws {
        let gate = try Self.makeGate()
        let handler = Greeter().applying(gate.authentication)
        let line = "Authorization: Basic \(Base64.encode(Array("anna:päss".utf8)))"
        let request = try makeRequest("GET /f HTTP/1.1", "Host: a", line)
        let reply = try handler.respond(to: request)
        #expect(reply.readyResponse == nil)
        #expect(try await reply.response().status == .noContent)
        let next = try makeRequest("GET /f HTTP/1.1", "Host: a", line)
        #expect(try handler.respond(to: next).readyResponse?.status == .noContent)
        #expect(next.principal == "anna")
    }

    /// 1,024 correct passwords are cached; one more evicts the older half.
    @Test func cachedCorrectPasswordsAreLimited() async throws {
        let work = InlineWork()
        var accounts = Accounts()
        for number in 0...1_024 { try accounts.add(name: "user\(number)", hash: AccountsTests.scrypt) }
        let gate = try AuthenticationFixture(accounts, work: work)
        func isHashed(_ number: Int) async throws -> Bool {
            let before = work.count
            #expect(try await gate.basic("user\(number):päss").status == .noContent)
            return work.count > before
        }
        for number in 0..<1_024 { #expect(try await isHashed(number)) }
        #expect(try await !isHashed(0))
        #expect(try await isHashed(1_024))
        #expect(try await isHashed(511))
        #expect(try await !isHashed(512))
    }

    /// The same limit applies to wrong passwords, which do not evict correct ones.
    @Test func cachedWrongPasswordsAreLimited() async throws {
        let work = InlineWork()
        let gate = try Self.makeGate(work)
        #expect(try await gate.basic("bert:päss").status == .noContent)
        func isHashed(_ number: Int) async throws -> Bool {
            let before = work.count
            let address = "10.0.\(number >> 8).\(number & 255)"
            #expect(try await gate.basic("anna:wrong\(number)", from: address).status == .unauthorized)
            return work.count > before
        }
        for number in 0..<1_024 { #expect(try await isHashed(number)) }
        #expect(try await !isHashed(0))
        #expect(try await isHashed(1_024))
        #expect(try await !isHashed(512))
        let before = work.count
        #expect(try await gate.basic("bert:päss").status == .noContent)
        #expect(work.count == before)
        // The first password is hashed again and counts as the second failure of its address.
        #expect(try await gate.basic("anna:wrong0", from: "10.0.0.0").status == .tooManyRequests)
    }

    /// A program that repeats an old password is not guessing.
    @Test func repeatedWrongPasswordIsOneGuess() async throws {
        let work = InlineWork()
        let gate = try Self.makeGate(work)
        for _ in 0..<100 { #expect(try await gate.basic("anna:old").status == .unauthorized) }
        #expect(work.count == 1)
        #expect(try await gate.basic("anna:päss").status == .noContent)
        for _ in 0..<200 {
            gate.clock.advance(seconds: 60)
            #expect(try await gate.basic("anna:old").status == .unauthorized)
        }
        #expect(gate.reports.seconds == [])
    }

    @Test func verifiedClientContinuesDuringGuesses() async throws {
        let gate = try Self.makeGate()
        #expect(try await gate.basic("bert:päss").status == .noContent)
        for guess in 1...5 { _ = try await gate.basic("anna:\(guess)") }
        #expect(try await gate.basic("anna:päss").status == .tooManyRequests)
        #expect(try await gate.basic("bert:päss").status == .noContent)
    }

    /// A delayed address must not learn from the cache whether a password is correct.
    @Test func delayedClientLearnsNothingFromTheCache() async throws {
        let gate = try Self.makeGate()
        #expect(try await gate.basic("anna:päss").status == .noContent)
        for guess in 1...5 { _ = try await gate.basic("anna:\(guess)", from: "198.51.100.7") }
        #expect(try await gate.basic("anna:päss", from: "198.51.100.7").status == .tooManyRequests)
        #expect(try await gate.basic("anna:päss").status == .noContent)
        #expect(try await gate.basic("anna:päss", from: "203.0.113.9").status == .noContent)
    }

    @Test func floodOfGuessesIsNotHashed() async throws {
        let work = InlineWork()
        let gate = try Self.makeGate(work)
        for guess in 0..<1000 { _ = try await gate.basic("user\(guess):\(guess)") }
        #expect(work.count == 5)
    }

    @Test func replacedAccountsApplyImmediately() async throws {
        let gate = try Self.makeGate()
        #expect(try await gate.basic("anna:päss").status == .noContent)
        #expect(try await gate.basic("anna:new").status == .unauthorized)
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "new")
        try gate.authentication.replaceAccounts(accounts)
        #expect(try await gate.basic("anna:päss").status == .unauthorized)
        #expect(try await gate.basic("anna:new").status == .noContent)
        #expect(try await gate.basic("bert:päss").status == .unauthorized)
        // The new account has a password instead of a scrypt hash, so Digest is offered, too.
        #expect(try await gate.send([]).fields.challenges.count == 3)
    }

    @Test func invalidAccountsChangeNothing() async throws {
        let gate = try Self.makeGate()
        var settings = AuthenticationSettings()
        settings.realm = "other"
        #expect(throws: Accounts.Problem.otherRealm) {
            try gate.authentication.replaceAccounts(Accounts(settings))
        }
        settings = AuthenticationSettings()
        settings.schemes = [.digestMD5]
        var accounts = Accounts(settings)
        try accounts.add(name: "anna", hash: AccountsTests.scrypt)
        #expect(throws: Accounts.Problem.noScheme) { try gate.authentication.replaceAccounts(accounts) }
        #expect(try await gate.basic("anna:päss").status == .noContent)
    }

    /// A password is checked again if the accounts change while it is being hashed.
    @Test func passwordRevokedDuringHashingIsRefused() async throws {
        let work = HeldWork()
        let gate = try Self.makeGate(work)
        async let response = gate.basic("anna:päss").status
        await work.waitUntil(count: 1)
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "new")
        try gate.authentication.replaceAccounts(accounts)
        work.open()
        #expect(try await response == .unauthorized)
    }

    @Test func concurrentLoginsWithOnePasswordShareOneHash() async throws {
        let work = HeldWork()
        let gate = try Self.makeGate(work)
        let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<20 { group.addTask { try await gate.basic("anna:päss").status } }
            await work.waitUntil(count: 1)
            work.open()
            return try await group.reduce(into: [HTTPStatus]()) { $0.append($1) }
        }
        #expect(statuses == [HTTPStatus](repeating: .noContent, count: 20))
        #expect(work.count == 1)
    }

    @Test func fullQueueReturns503() async throws {
        let response = try await Self.makeGate(FullQueue()).basic("anna:päss")
        #expect(response.status == .serviceUnavailable)
        #expect(response.fields.first(.retryAfter) != nil)
    }

    /// With Digest, attempts during a delay are not checked, and a client with a verified nonce is not
    /// delayed.
    @Test func digestGuessesAreDelayed() async throws {
        let gate = try DigestAuthenticationTests.makeGate()
        var good = try await DigestAuthenticationTests.begin(gate)
        #expect(try await gate.send([good.field]).status == .noContent)
        var bad = try await DigestAuthenticationTests.begin(gate)
        for count in 1...5 {
            bad.password = "\(count)"
            #expect(try await gate.send([bad.field]).status == .unauthorized)
        }
        let held = try await gate.send([bad.field])
        #expect(held.status == .tooManyRequests)
        #expect(held.fields.first(.retryAfter) == "1")
        // A correct response to a new nonce must wait; a correct response to a verified nonce need not wait.
        bad.password = "Circle of Life"
        #expect(try await gate.send([bad.field]).status == .tooManyRequests)
        good.count = "00000002"
        #expect(try await gate.send([good.field]).status == .noContent)
        // The verified nonce of another account does not bypass the wait.
        good.user = "Jäsøn Doe"
        good.count = "00000003"
        #expect(try await gate.send([good.field]).status == .tooManyRequests)
        gate.clock.advance(seconds: 1)
        #expect(try await gate.send([bad.field]).status == .noContent)
    }
    #endif
}
