import DavitAccess
import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Users whose passwords are verified elsewhere.
struct ExternalLoginTests {
    /// A service with scripted answers, which records each password that it is asked to verify.
    final class Service: PasswordVerifier {
        private let answers: Mutex<[String: PasswordVerification]>
        private let asked = Mutex<[String]>([])
        private let gate: HeldWork?

        let service: String

        init(
            _ answers: [String: PasswordVerification], named service: String = "test",
            held gate: HeldWork? = nil
        ) {
            self.answers = Mutex(answers)
            self.service = service
            self.gate = gate
        }

        var log: [String] { asked.withLock { $0 } }

        func set(_ pair: String, _ answer: PasswordVerification) { answers.withLock { $0[pair] = answer } }

        func verify(name: String, password: String) async -> PasswordVerification {
            let pair = "\(name):\(password)"
            asked.withLock { $0.append(pair) }
            _ = await gate?.run { true }
            return answers.withLock { $0[pair] ?? $0["*"] ?? .wrong }
        }
    }

    /// Responds with the principal.
    struct Mirror: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            let identity = request.identity
            return .ready(.text("\(identity.name ?? "-") \(identity.groups.sorted().joined(separator: "|"))"))
        }
    }

    /// A server with the local accounts `local`, whose password is `secret`, and `gone`, which is disabled.
    struct Fixture {
        let clock = ManualClock()
        let authentication: Authentication
        let external: ExternalLogins
        let reports = ReportLog()
        let revocations = Revocations()

        final class Revocations: Sendable {
            private let all = Mutex<(numbers: Set<UInt64>, names: Set<String>)>(([], []))
            var numbers: Set<UInt64> { all.withLock { $0.numbers } }
            var names: Set<String> { all.withLock { $0.names } }

            func add(_ numbers: Set<UInt64>, _ names: Set<String>) {
                all.withLock {
                    $0.numbers.formUnion(numbers)
                    $0.names.formUnion(names)
                }
            }
        }

        final class ReportLog: Sendable {
            private let all = Mutex<[ExternalLogins.Report]>([])
            var list: [ExternalLogins.Report] { all.withLock { $0 } }
            func add(_ report: ExternalLogins.Report) { all.withLock { $0.append(report) } }
        }

        init(_ services: [any PasswordVerifier], deadline: Duration = .seconds(600)) throws {
            var settings = AuthenticationSettings()
            settings.schemes = [.digestSHA256, .basic]
            var accounts = Accounts(settings)
            try accounts.add(name: "local", password: "secret")
            accounts.disable("gone")
            external = ExternalLogins(
                services, deadline: deadline, report: { [reports] in reports.add($0) },
                now: { [clock] in clock.now })
            authentication = try Authentication(
                accounts: accounts, work: InlineWork(), external: external, now: { [clock] in clock.now })
            authentication.onExternalRevocation { [revocations] in revocations.add($0, $1) }
        }

        /// Returns the number of the credential with which a request is admitted.
        func number(_ pair: String) async throws -> UInt64 {
            let request = try request(pair, from: "192.0.2.1")
            let response = try await Mirror().applying(authentication).respond(to: request).response()
            return response.status == .ok ? request.credentialNumber : 0
        }

        private func request(_ pair: String, from peer: String) throws -> HTTPRequest {
            let field = "Authorization: Basic \(Base64.encode(Array(pair.utf8)))"
            let request = try HTTPRequest(
                parsing: Array("GET /f HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n".utf8))
            request.peerAddress = peer
            return request
        }

        func send(_ pair: String, from peer: String = "192.0.2.1") async throws -> HTTPResponse {
            return try await Mirror().applying(authentication).respond(to: request(pair, from: peer))
                .response()
        }

        /// Returns the status, and the content if it is 200.
        func answer(_ pair: String, from peer: String = "192.0.2.1") async throws -> String {
            let response = try await send(pair, from: peer)
            guard response.status == .ok, case .bytes(let text) = response.body else {
                return "\(response.status.code)"
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    static let right = PasswordVerification.right(name: "dora", groups: ["staff", "editors"])

    static let table: [(pair: String, answer: String, asked: [String])] = [
        ("dora:pw", "dora editors|staff", ["dora:pw"]),
        // The spelling of the service is that of the rules.
        ("DORA:pw", "dora editors|staff", ["DORA:pw"]),
        ("dora:other", "401", ["dora:other"]), ("eve:pw", "401", ["eve:pw"]),
        ("frank:pw", "401", ["frank:pw"]),
        // Names with an account here are never verified elsewhere, also not those that are disabled.
        ("local:secret", "local ", []), ("local:pw", "401", []), ("gone:pw", "401", []),
        // Nor are other spellings of them.
        ("LOCAL:pw", "401", ["LOCAL:pw"]), ("GONE:pw", "401", ["GONE:pw"]),
        // Directories accept an empty password for every name.
        ("dora:", "401", []), ("dora", "401", []), (":pw", "401", []), ("dora:a\u{0}b", "401", []),
        ("dora:\(String(repeating: "a", count: 257))", "401", []),
        ("\(String(repeating: "a", count: 257)):pw", "401", []),
        ("dora:a:b", "dora ", ["dora:a:b"]),
    ]

    private static let answers: [String: PasswordVerification] = [
        "dora:pw": right, "DORA:pw": right, "dora:a:b": .right(name: "dora", groups: []),
        "frank:pw": .disabled, "dora:": right, "gone:pw": .right(name: "gone", groups: []),
        "local:pw": .right(name: "local", groups: []), "LOCAL:pw": .right(name: "local", groups: []),
        "GONE:pw": .right(name: "gone", groups: []),
    ]

    @Test(arguments: table)
    func passwordsAreVerifiedElsewhere(pair: String, answer: String, asked: [String]) async throws {
        let service = Service(Self.answers)
        let fixture = try Fixture([service])
        #expect(try await fixture.answer(pair) == answer)
        #expect(service.log == asked)
    }

    static let revocations: [(answer: PasswordVerification, isRevoked: Bool, names: Set<String>)] = [
        (right, false, []), (.right(name: "dora", groups: ["staff"]), true, []), (.wrong, true, []),
        (.disabled, true, ["dora"]), (.unavailable(reason: "down"), false, []),
    ]

    /// Requests in flight end when the service no longer accepts what they were admitted with.
    @Test(arguments: revocations)
    func laterVerificationsRevokeLogins(
        answer: PasswordVerification, isRevoked: Bool, names: Set<String>
    ) async throws {
        let service = Service(["dora:pw": Self.right, "eve:pw": .right(name: "eve", groups: [])])
        let fixture = try Fixture([service])
        let number = try await fixture.number("dora:pw")
        #expect(number != 0)
        #expect(try await fixture.number("dora:pw") == number)
        #expect(try await fixture.number("eve:pw") != number)
        fixture.clock.advance(seconds: 61)
        service.set("dora:pw", answer)
        let later = try await fixture.number("dora:pw")
        #expect(fixture.revocations.numbers == (isRevoked ? [number] : []))
        #expect(fixture.revocations.names == names)
        #expect(!fixture.revocations.numbers.contains(later))
    }

    /// A user who is disabled has no valid password, whichever was verified first.
    @Test func disabledUsersLoseAllLogins() async throws {
        let service = Service(["dora:pw": Self.right, "dora:old": Self.right])
        let fixture = try Fixture([service])
        let numbers = [try await fixture.number("dora:pw"), try await fixture.number("dora:old")]
        fixture.clock.advance(seconds: 61)
        service.set("dora:pw", .disabled)
        #expect(try await fixture.number("dora:pw") == 0)
        #expect(fixture.revocations.numbers == Set(numbers))
    }

    @Test func onlyBasicIsOffered() async throws {
        let fixture = try Fixture([Service([:])])
        #expect(try await fixture.send("eve:pw").fields.challenges.map { $0.prefix(6) } == ["Basic "])
        var settings = AuthenticationSettings()
        settings.schemes = [.digestSHA256]
        #expect(throws: Accounts.Problem.noScheme) {
            try Authentication(
                accounts: Accounts(settings), work: InlineWork(), external: fixture.external, now: { 0 })
        }
    }

    @Test func rightPasswordsAreVerifiedOnceInAMinute() async throws {
        let service = Service(["dora:pw": Self.right])
        let fixture = try Fixture([service])
        for _ in 0..<3 { #expect(try await fixture.answer("dora:pw") == "dora editors|staff") }
        #expect(service.log.count == 1)
        // Disabled users, and changes of passwords and groups, are noticed within this time.
        service.set("dora:pw", .disabled)
        fixture.clock.advance(seconds: 59)
        #expect(try await fixture.answer("dora:pw") == "dora editors|staff")
        fixture.clock.advance(seconds: 2)
        #expect(try await fixture.answer("dora:pw") == "401")
        #expect(service.log.count == 2)
        #expect(try await fixture.answer("dora:pw") == "401")
        #expect(service.log.count == 2)
        service.set("dora:pw", .right(name: "dora", groups: ["new"]))
        fixture.clock.advance(seconds: 61)
        #expect(try await fixture.answer("dora:pw") == "dora new")
    }

    /// A program that repeats an old password must not lock out its user.
    @Test func wrongPasswordsAreVerifiedOnce() async throws {
        let service = Service([:])
        let fixture = try Fixture([service])
        for _ in 0..<20 {
            #expect(try await fixture.answer("dora:old") == "401")
            fixture.clock.advance(seconds: 40)
        }
        #expect(service.log.count == 1)
    }

    @Test func guessingIsDelayed() async throws {
        let service = Service(["dora:pw": Self.right])
        let fixture = try Fixture([service])
        #expect(try await fixture.answer("dora:pw", from: "198.51.100.7") == "dora editors|staff")
        var last = ""
        for guess in 0..<100 where last != "429" { last = try await fixture.answer("dora:\(guess)") }
        #expect(last == "429")
        let count = service.log.count
        #expect(count < 50)
        // The delay applies to right passwords from this address, even if they are cached, but to no other address.
        #expect(try await fixture.answer("dora:pw") == "429")
        #expect(try await fixture.answer("dora:pw", from: "198.51.100.7") == "dora editors|staff")
        #expect(service.log.count == count)
    }

    @Test func changedLocalAccountsTakeEffectImmediately() async throws {
        let fixture = try Fixture([Service(["dora:pw": Self.right])])
        #expect(try await fixture.answer("dora:pw") == "dora editors|staff")
        var settings = AuthenticationSettings()
        settings.schemes = [.digestSHA256, .basic]
        var accounts = Accounts(settings)
        accounts.disable("dora")
        try fixture.authentication.replaceAccounts(accounts)
        #expect(try await fixture.answer("dora:pw") == "401")
    }

    @Test func concurrentRequestsVerifyAPasswordOnce() async throws {
        let gate = HeldWork()
        let service = Service(["dora:pw": Self.right], held: gate)
        let fixture = try Fixture([service])
        async let first = fixture.answer("dora:pw")
        await gate.waitUntil(count: 1)
        async let second = fixture.answer("dora:pw", from: "192.0.2.2")
        async let third = fixture.answer("dora:pw")
        gate.open()
        #expect(try await [first, second, third] == Array(repeating: "dora editors|staff", count: 3))
        #expect(service.log.count == 1)
    }

    // MARK: Outages

    @Test func outagesAreNotRefusals() async throws {
        let service = Service(["*": .unavailable(reason: "down")])
        let fixture = try Fixture([service])
        let response = try await fixture.send("dora:pw")
        #expect(response.status == .serviceUnavailable)
        #expect(response.fields.challenges == [])
        #expect(String(decoding: response.fields.encoded, as: UTF8.self).contains("Retry-After: 5\r\n"))
        // The service is not asked for a while; accounts here keep working.
        #expect(try await fixture.answer("dora:pw") == "503")
        #expect(try await fixture.answer("eve:pw") == "503")
        #expect(try await fixture.answer("local:secret") == "local ")
        #expect(service.log.count == 1)
        fixture.clock.advance(seconds: 6)
        #expect(try await fixture.answer("dora:pw") == "503")
        #expect(service.log.count == 2)
        fixture.clock.advance(seconds: 6)
        service.set("dora:pw", Self.right)
        #expect(try await fixture.answer("dora:pw") == "dora editors|staff")
        #expect(try await fixture.answer("eve:pw") == "503")
        #expect(
            fixture.reports.list == [
                .unavailable(service: "test", reason: "down"), .availableAgain(service: "test"),
                .unavailable(service: "test", reason: "down"),
            ])
    }

    @Test func knownPasswordsOutliveShortOutagesOnly() async throws {
        let service = Service(["dora:pw": Self.right])
        let fixture = try Fixture([service])
        #expect(try await fixture.answer("dora:pw") == "dora editors|staff")
        service.set("dora:pw", .unavailable(reason: "down"))
        fixture.clock.advance(seconds: 30)
        #expect(try await fixture.answer("dora:pw") == "dora editors|staff")
        fixture.clock.advance(seconds: 40)
        #expect(try await fixture.answer("dora:pw") == "503")
    }

    @Test func outagesDoNotAffectOtherServices() async throws {
        let down = Service(["*": .unavailable(reason: "down")], named: "down")
        let up = Service(["dora:pw": Self.right], named: "up")
        for services in [[down, up], [up, down]] {
            let fixture = try Fixture(services)
            #expect(try await fixture.answer("eve:pw") == "503")
            #expect(try await fixture.answer("dora:pw") == "dora editors|staff")
            // The user could be known to the service that does not respond.
            #expect(try await fixture.answer("eve:pw") == "503")
            #expect(fixture.reports.list == [.unavailable(service: "down", reason: "down")])
        }
    }

    /// A service that never answers occupies no turn for longer than the deadline.
    @Test func silentServicesAreUnavailable() async throws {
        let gate = HeldWork()
        let fixture = try Fixture([Service([:], held: gate)], deadline: .milliseconds(10))
        #expect(try await fixture.answer("dora:pw") == "503")
        for index in 0..<10 {
            fixture.clock.advance(seconds: 6)
            #expect(try await fixture.answer("dora\(index):pw") == "503")
        }
        #expect(fixture.reports.list.count == 1)
        gate.open()
    }

    @Test func fewPasswordsAreVerifiedAtATime() async throws {
        let gate = HeldWork()
        let service = Service([:], held: gate)
        let fixture = try Fixture([service])
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask {
                    let answer = try? await fixture.answer("u\(index):pw", from: "198.51.100.\(index)")
                    #expect(answer == "401")
                }
            }
            await gate.waitUntil(count: ExternalLogins.atATime)
            while fixture.external.waitingCount < 12 - ExternalLogins.atATime { await Task.yield() }
            #expect(service.log.count == ExternalLogins.atATime)
            gate.open()
        }
        #expect(service.log.count == 12)
    }
}
