#if TLS
import DavitHTTP
import DavitServer
import Synchronization

/// A session store in memory that can fail.
final class MemorySessionStore: SessionStore {
    private struct State {
        var sessions: [Int64: BrowserSession] = [:]
        var isFailing = false
        var writes = 0
    }

    private let state = Mutex(State())
    let isShared: Bool

    init(isShared: Bool = false) { self.isShared = isShared }

    func session(withHash hash: [UInt8]) throws(SessionStoreError) -> BrowserSession? {
        try read { $0.values.first { $0.tokenHash == hash } }
    }

    func uses(of ids: [Int64]) throws(SessionStoreError) -> [Int64: Int64] {
        try read { state in state.filter { ids.contains($0.key) }.mapValues(\.usedAt) }
    }

    private func read<T>(_ body: ([Int64: BrowserSession]) -> T) throws(SessionStoreError) -> T {
        let result = state.withLock { $0.isFailing ? nil : body($0.sessions) }
        guard let result else { throw SessionStoreError(reason: "failing") }
        return result
    }

    var all: [Int64: BrowserSession] { state.withLock { $0.sessions } }
    var writes: Int { state.withLock { $0.writes } }
    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

    func sessions() throws(SessionStoreError) -> [BrowserSession] { Array(all.values) }

    func insert(
        _ session: BrowserSession, removing removed: [Int64], if isCurrent: () -> Bool
    ) throws(SessionStoreError) -> Bool {
        guard isCurrent() else { return false }
        try change { state in
            for id in removed { state[id] = nil }
            state[session.id] = session
        }
        return true
    }

    func update(removing removed: [Int64], used: [BrowserSession]) throws(SessionStoreError) {
        try change { state in
            for id in removed { state[id] = nil }
            for session in used where state[session.id] != nil { state[session.id] = session }
        }
    }

    private func change(_ body: (inout [Int64: BrowserSession]) -> Void) throws(SessionStoreError) {
        let isDone = state.withLock { state in
            if state.isFailing { return false }
            state.writes += 1
            body(&state.sessions)
            return true
        }
        if !isDone { throw SessionStoreError(reason: "failing") }
    }
}

/// A table of sessions with a clock that advances only on request.
struct SessionFixture {
    let store = MemorySessionStore()
    let table: SessionTable
    let seconds = Seconds()
    let ended = Ended()

    final class Seconds: Sendable {
        private let value = Mutex<Int64>(1_700_000_000)
        var now: Int64 { value.withLock { $0 } }
        func advance(_ seconds: Int64) { value.withLock { $0 += seconds } }
    }

    final class Ended: Sendable {
        private let value = Mutex<Set<UInt64>>([])
        var numbers: Set<UInt64> { value.withLock { $0 } }
        func add(_ numbers: Set<UInt64>) { value.withLock { $0.formUnion(numbers) } }
    }

    init(limits: BrowserSession.Limits = BrowserSession.Limits(), isStored: Bool = true) {
        table = SessionTable(
            limits: limits, store: isStored ? store : nil, work: InlineWork(), report: { _ in },
            now: { [seconds] in seconds.now })
        table.onEnd { [ended] in ended.add($0) }
    }

    func begin(
        _ account: String = "anna", number: UInt64 = 1, from address: String = "192.0.2.1",
        isCurrent: Bool = true
    ) async throws -> (token: String, entry: SessionTable.Entry)? {
        try await table.begin(
            account, SessionCredential(number: number, secondFactor: nil), from: address, agent: "Browser",
            isCurrent: { isCurrent })
    }
}
#endif
