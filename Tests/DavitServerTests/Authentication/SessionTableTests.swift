#if TLS
import DavitAccess
import DavitServer
import Testing

struct SessionTableTests {
    @Test func tokensFindTheirSession() async throws {
        let fixture = SessionFixture()
        let (token, entry) = try #require(try await fixture.begin())
        let found = try #require(fixture.table.use(token, from: "192.0.2.1"))
        #expect(found.session == entry.session && found.number == entry.number)
        #expect(found.session.account == "anna")
        for other in ["", "x", String(token.dropLast()), token + "0", String(repeating: "0", count: 48)] {
            #expect(fixture.table.use(other, from: "192.0.2.1") == nil)
        }
    }

    /// Tokens have 192 bits, and no two sessions have one token or one number.
    @Test func tokensAreUniqueAndNotStored() async throws {
        let fixture = SessionFixture()
        var tokens: Set<String> = []
        var numbers: Set<UInt64> = []
        for _ in 0..<20 {
            let (token, entry) = try #require(try await fixture.begin())
            tokens.insert(token)
            numbers.insert(entry.number)
            #expect(token.utf8.count == 48)
            let stored = try #require(fixture.store.all[entry.session.id])
            #expect(stored.tokenHash.count == 32 && !"\(stored)".contains(token))
        }
        #expect(tokens.count == 20 && numbers.count == 20)
    }

    @Test func unusedSessionsExpire() async throws {
        var limits = BrowserSession.Limits()
        limits.idleSeconds = 1000
        limits.lifetimeSeconds = 2500
        let fixture = SessionFixture(limits: limits)
        let (token, entry) = try #require(try await fixture.begin())
        for _ in 0..<2 {
            fixture.seconds.advance(1000)
            #expect(fixture.table.use(token, from: "192.0.2.1") != nil)
        }
        // The session is in use, but has reached its age.
        fixture.seconds.advance(501)
        #expect(fixture.table.use(token, from: "192.0.2.1") == nil)
        #expect(fixture.table.sessions(of: "anna").isEmpty)
        fixture.table.flush(force: true)
        #expect(fixture.ended.numbers == [entry.number])
        #expect(fixture.store.all.isEmpty && fixture.table.count == 0)

        let (idle, _) = try #require(try await fixture.begin())
        fixture.seconds.advance(1001)
        #expect(fixture.table.use(idle, from: "192.0.2.1") == nil)
    }

    @Test func endedSessionsAreNotFound() async throws {
        let fixture = SessionFixture()
        let first = try #require(try await fixture.begin())
        let second = try #require(try await fixture.begin())
        await fixture.table.end([first.entry.session.id], of: "ben")
        #expect(fixture.table.use(first.token, from: "192.0.2.1") != nil)
        await fixture.table.end([first.entry.session.id], of: "anna")
        #expect(fixture.table.use(first.token, from: "192.0.2.1") == nil)
        #expect(fixture.table.use(second.token, from: "192.0.2.1") != nil)
        #expect(fixture.ended.numbers == [first.entry.number])
        #expect(Set(fixture.store.all.keys) == [second.entry.session.id])
    }

    /// A session belongs to the password with which it began.
    @Test func changedAccountsEndTheirSessions() async throws {
        let fixture = SessionFixture()
        let anna = try #require(try await fixture.begin("anna", number: 1))
        let ben = try #require(try await fixture.begin("ben", number: 2))
        let eve = try #require(try await fixture.begin("eve", number: 3))
        fixture.table.endSessions { ["anna": 1, "ben": 7][$0].map { .init(number: $0, secondFactor: nil) } }
        #expect(fixture.table.use(anna.token, from: "192.0.2.1") != nil)
        #expect(fixture.table.use(ben.token, from: "192.0.2.1") == nil)
        #expect(fixture.table.use(eve.token, from: "192.0.2.1") == nil)
        #expect(fixture.ended.numbers == [ben.entry.number, eve.entry.number])
    }

    /// The session that sets a second factor remains; the others end.
    @Test func otherSecondFactorsEndSessions() async throws {
        let fixture = SessionFixture()
        let first = try #require(try await fixture.begin())
        let second = try #require(try await fixture.begin())
        let credential = SessionCredential(number: 1, secondFactor: [1])
        fixture.table.bind(first.entry.session.id, of: "ben", to: credential)
        fixture.table.bind(second.entry.session.id, of: "anna", to: nil)
        fixture.table.endSessions { _ in credential }
        fixture.table.bind(second.entry.session.id, of: "anna", to: credential)
        fixture.table.endSessions { _ in credential }
        #expect(fixture.table.use(first.token, from: "192.0.2.1") == nil)
        #expect(fixture.table.use(second.token, from: "192.0.2.1") != nil)
        fixture.table.endSessions { _ in SessionCredential(number: 1, secondFactor: nil) }
        #expect(fixture.table.use(second.token, from: "192.0.2.1") == nil)
    }

    /// The password changes after it was verified, before the session is in the table.
    @Test func accountsThatChangeDuringSignInGetNoSession() async throws {
        let fixture = SessionFixture()
        #expect(try await fixture.begin(isCurrent: false) == nil)
        #expect(fixture.table.count == 0 && fixture.store.all.isEmpty)
        // A session that was stored for a moment would begin again after a crash.
        #expect(fixture.store.writes == 0)
    }

    @Test func limitsEndTheLeastRecentlyUsed() async throws {
        var limits = BrowserSession.Limits()
        limits.perAccount = 3
        limits.total = 5
        let fixture = SessionFixture(limits: limits)
        var tokens: [String] = []
        for _ in 0..<3 {
            tokens.append(try #require(try await fixture.begin()).token)
            fixture.seconds.advance(100)
        }
        #expect(fixture.table.use(tokens[0], from: "192.0.2.1") != nil)
        tokens.append(try #require(try await fixture.begin()).token)
        let alive = tokens.map { fixture.table.use($0, from: "192.0.2.1") != nil }
        #expect(alive == [true, false, true, true])
        fixture.seconds.advance(100)
        for name in ["ben", "eve", "mia"] {
            _ = try await fixture.begin(name)
            fixture.seconds.advance(100)
        }
        #expect(fixture.table.count == 5 && fixture.store.all.count == 5)
        #expect(fixture.table.sessions(of: "anna").count == 2)
    }

    /// A request updates the memory; the store learns of it later, in one write.
    @Test func usesAreWrittenLazily() async throws {
        let fixture = SessionFixture()
        let (token, entry) = try #require(try await fixture.begin())
        let id = entry.session.id
        let start = fixture.seconds.now
        fixture.table.flush(force: true)
        let writes = fixture.store.writes
        for _ in 0..<5 {
            fixture.seconds.advance(60)
            _ = fixture.table.use(token, from: "192.0.2.9")
            _ = fixture.table.performMaintenance()
        }
        #expect(fixture.store.writes == writes && fixture.store.all[id]?.usedAt == start)
        #expect(fixture.table.sessions(of: "anna").first?.usedAt == start + 300)
        fixture.seconds.advance(300)
        _ = fixture.table.performMaintenance()
        #expect(fixture.store.writes == writes + 1)
        #expect(fixture.store.all[id]?.usedAt == start + 300)
        #expect(fixture.store.all[id]?.address == "192.0.2.9")
    }

    @Test func storedSessionsSurviveARestart() async throws {
        let fixture = SessionFixture()
        let anna = try #require(try await fixture.begin("anna"))
        let ben = try #require(try await fixture.begin("ben"))
        let table = SessionTable(
            store: fixture.store, work: InlineWork(), report: { _ in }, now: { fixture.seconds.now })
        let credential = SessionCredential(number: 9, secondFactor: nil)
        try table.load { $0 == "anna" ? credential : nil }
        let found = try #require(table.use(anna.token, from: "192.0.2.1"))
        #expect(found.session == anna.entry.session && found.number != anna.entry.number)
        #expect(table.use(ben.token, from: "192.0.2.1") == nil)
        table.serverDidStop()
        #expect(Set(fixture.store.all.keys) == [found.session.id])
        // The session is bound to the credential that the account has now.
        table.endSessions { _ in credential }
        #expect(table.count == 1)
    }

    @Test func failuresOfTheStoreKeepNothingAlive() async throws {
        let fixture = SessionFixture()
        let (token, entry) = try #require(try await fixture.begin())
        fixture.store.fail(true)
        await #expect(throws: SessionStoreError.self) { _ = try await fixture.begin() }
        #expect(fixture.table.count == 1)
        await fixture.table.end([entry.session.id], of: "anna")
        #expect(fixture.table.use(token, from: "192.0.2.1") == nil)
        #expect(fixture.store.all.count == 1)
        fixture.store.fail(false)
        fixture.table.serverDidStop()
        #expect(fixture.store.all.isEmpty)
    }

    @Test func longAgentsAreTruncated() {
        let session = BrowserSession(
            id: 1, tokenHash: [], account: "anna", createdAt: 0, usedAt: 0, address: "",
            agent: String(repeating: "é", count: 4000))
        #expect(session.agent.utf8.count <= 258)
    }

    @Test func removalsAreRepeatedSoon() async throws {
        let fixture = SessionFixture()
        let (_, entry) = try #require(try await fixture.begin())
        fixture.store.fail(true)
        await fixture.table.end([entry.session.id], of: "anna")
        #expect(fixture.table.performMaintenance())
        fixture.store.fail(false)
        #expect(!fixture.table.performMaintenance())
        #expect(fixture.store.all.isEmpty)
    }

    @Test func clocksThatAreSetBackDoNotExtendSessions() async throws {
        let fixture = SessionFixture()
        fixture.seconds.advance(400_000_000)
        let (ahead, _) = try #require(try await fixture.begin())
        fixture.table.flush(force: true)
        fixture.seconds.advance(-400_000_000)
        #expect(fixture.table.use(ahead, from: "192.0.2.1") == nil)
        let (token, entry) = try #require(try await fixture.begin())
        fixture.seconds.advance(60)
        _ = fixture.table.use(token, from: "192.0.2.9")
        _ = fixture.table.performMaintenance()
        #expect(fixture.store.all[entry.session.id]?.address == "192.0.2.9")
    }

    /// Users without an account here, whose groups may change elsewhere.
    @Test func sessionsOfUsersElsewhereAreShort() throws {
        let fixture = SessionFixture()
        let dora = Principal(.account, "dora", groups: ["staff"])
        let token = try fixture.table.begin(dora, from: "192.0.2.1", agent: "Browser")
        let entry = try #require(fixture.table.use(token, from: "192.0.2.1"))
        #expect(entry.principal == dora && fixture.store.all.isEmpty)
        for _ in 0..<3 {
            fixture.seconds.advance(1200)
            #expect(fixture.table.use(token, from: "192.0.2.1") != nil)
        }
        fixture.seconds.advance(1)
        #expect(fixture.table.use(token, from: "192.0.2.1") == nil)
        #expect(fixture.table.sessions(of: "dora").isEmpty)
        fixture.table.flush(force: true)
        #expect(fixture.ended.numbers == [entry.number] && fixture.table.count == 0)
    }

    @Test func sessionsElsewhereEndWhenAnAccountGetsTheName() throws {
        let fixture = SessionFixture()
        let token = try fixture.table.begin(
            Principal(.account, "dora"), from: "192.0.2.1", agent: "Browser")
        let entry = try #require(fixture.table.use(token, from: "192.0.2.1"))
        let credential = SessionCredential(number: 1, secondFactor: nil)
        fixture.table.endSessions { $0 == "anna" ? credential : nil }
        #expect(fixture.table.use(token, from: "192.0.2.1") != nil)
        fixture.table.endSessions { _ in credential }
        #expect(fixture.table.use(token, from: "192.0.2.1") == nil)
        #expect(fixture.ended.numbers == [entry.number])
    }
}
#endif
