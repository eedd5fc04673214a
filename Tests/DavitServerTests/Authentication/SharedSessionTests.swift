#if TLS
import DavitAccess
import DavitServer
import Synchronization
import Testing

/// Sessions of several servers in one store.
final class SharedSessionTests {
    private let store = MemorySessionStore(isShared: true)
    private let seconds = SessionFixture.Seconds()
    private let ended = SessionFixture.Ended()
    private let credentials = Mutex<[String: SessionCredential]>([
        "anna": SessionCredential(number: 1, secondFactor: nil)
    ])

    private func server() throws -> SessionTable {
        let table = SessionTable(
            store: store, work: InlineWork(), report: { _ in }, now: { [seconds] in seconds.now })
        let known = credentials.withLock { $0 }
        try table.load { known[$0] }
        table.onEnd { [ended] in ended.add($0) }
        return table
    }

    private func begin(on table: SessionTable) async throws -> (token: String, entry: SessionTable.Entry) {
        let credential = SessionCredential(number: 1, secondFactor: nil)
        return try #require(
            try await table.begin("anna", credential, from: "192.0.2.1", agent: "Browser") { true })
    }

    @Test func eachServerFindsSessionsOfOthers() async throws {
        let (one, other) = (try server(), try server())
        let (token, entry) = try await begin(on: one)
        #expect(!one.mayBeElsewhere(token))
        #expect(other.use(token, from: "192.0.2.1") == nil && other.mayBeElsewhere(token))
        await other.find(token)
        #expect(other.use(token, from: "192.0.2.1")?.session == entry.session)
        #expect(!other.mayBeElsewhere(token))
    }

    @Test func unknownTokensAreLookedForOnceInAWhile() async throws {
        let table = try server()
        let token = String(repeating: "a", count: 48)
        #expect(table.mayBeElsewhere(token) && !table.mayBeElsewhere("x"))
        await table.find(token)
        #expect(!table.mayBeElsewhere(token) && table.use(token, from: "192.0.2.1") == nil)
        _ = table.performMaintenance()
        #expect(table.mayBeElsewhere(token))
    }

    @Test func sessionsEndOnAllServers() async throws {
        let (one, other) = (try server(), try server())
        let (token, entry) = try await begin(on: one)
        await other.find(token)
        let number = try #require(other.use(token, from: "192.0.2.1")).number
        await one.end([entry.session.id], of: "anna")
        #expect(other.performMaintenance() == false)
        #expect(other.use(token, from: "192.0.2.1") == nil && ended.numbers == [entry.number, number])
        // It is not found again.
        for table in [one, other] {
            await table.find(token)
            #expect(table.use(token, from: "192.0.2.1") == nil)
        }
    }

    /// A session that has ended here does not begin again while its removal has not reached the store.
    @Test func endedSessionsAreNotFoundInTheStore() async throws {
        let table = try server()
        let (token, entry) = try await begin(on: table)
        store.fail(true)
        await table.end([entry.session.id], of: "anna")
        store.fail(false)
        #expect(store.all.count == 1)
        await table.find(token)
        #expect(table.use(token, from: "192.0.2.1") == nil)
        _ = table.performMaintenance()
        #expect(store.all.isEmpty)
    }

    /// A session that is used on one server does not expire on another one.
    @Test func usesOnOtherServersCount() async throws {
        let (one, other) = (try server(), try server())
        let (token, _) = try await begin(on: one)
        await other.find(token)
        let idle = BrowserSession.Limits().idleSeconds
        for _ in 0..<3 {
            seconds.advance(idle - 1000)
            #expect(one.use(token, from: "192.0.2.1") != nil)
            one.flush(force: true)
            _ = other.performMaintenance()
            other.flush(force: true)
        }
        #expect(other.use(token, from: "192.0.2.1") != nil && store.all.count == 1)
    }

    @Test func accountsThatCannotSignInHaveNoSessions() async throws {
        let one = try server()
        let (token, _) = try await begin(on: one)
        credentials.withLock { $0 = [:] }
        let other = try server()
        await other.find(token)
        #expect(other.use(token, from: "192.0.2.1") == nil)
    }

    @Test func aStoreThatFailsEndsNothing() async throws {
        let (one, other) = (try server(), try server())
        let (token, _) = try await begin(on: one)
        await other.find(token)
        store.fail(true)
        _ = other.performMaintenance()
        #expect(other.use(token, from: "192.0.2.1") != nil && ended.numbers.isEmpty)
    }
}
#endif
