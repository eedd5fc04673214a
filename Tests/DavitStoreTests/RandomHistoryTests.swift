import DavitHTTP
import DavitSQLite
import DavitStore
import DavitTesting
import DavitWebDAV
import Synchronization
import Testing

struct RandomHistoryTests {
    private static func outcome(_ body: () throws(StateError) -> Void) -> StateError? {
        do throws(StateError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    /// Both stores return the same results after every transaction, including failed ones and restarts.
    @Test(arguments: 0..<8)
    func sqliteStoreEqualsMemoryStore(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var sqlite = try SQLiteStateStore(folder: folder.path)
        let memory = MemoryStateStore()
        var history = RandomHistory(seed: seed)
        let emptied = Mutex<[Set<Int>]>([])
        for step in 0..<200 {
            if step % 40 == 39 { sqlite = try SQLiteStateStore(folder: folder.path) }
            let changes = history.next()
            let inMemory = Self.outcome { () throws(StateError) in
                try memory.apply(changes) { emptying in emptied.withLock { $0.append(emptying) } }
            }
            let inSQLite = Self.outcome { () throws(StateError) in
                try sqlite.apply(changes) { emptying in emptied.withLock { $0.append(emptying) } }
            }
            try #require(inMemory == inSQLite, "step \(step): \(changes)")
            let published = emptied.withLock { emptied in
                defer { emptied = [] }
                return emptied
            }
            try #require(published.first == published.last, "step \(step): \(changes)")
            let expected = try StateSnapshot(of: memory, paths: [])
            let actual = try StateSnapshot(of: sqlite, paths: RandomHistory.paths)
            try #require(expected == actual, "step \(step): \(changes)")
        }
        #expect(try sqlite.integrityCheck() == [])
    }

    /// After every transaction, the state in memory equals what a restart would read.
    @Test(arguments: 0..<6, StateBackend.allCases)
    func shareStateEqualsItsStore(seed: UInt64, backend: StateBackend) throws {
        let folder = try TemporaryFolder()
        let store = try backend.makeStore(in: folder)
        var state = try IndexedShareState(store: store)
        var history = RandomHistory(seed: 1000 + seed)
        for step in 0..<150 {
            if step % 50 == 49 { state = try IndexedShareState(store: store) }
            let changes = history.next()
            _ = Self.outcome { () throws(StateError) in try state.commit(changes) }
            if step % 20 == 19 {
                #expect(
                    state.hasEndedLocks(now: RandomHistory.now)
                        == (try store.locks().contains { $0.lock.expiry <= RandomHistory.now }))
                state.expireLocks(now: RandomHistory.now)
                #expect(try store.locks().allSatisfy { $0.lock.expiry > RandomHistory.now })
            }
            let snapshot = try StateSnapshot(of: store, paths: [])
            for path in RandomHistory.paths {
                try Self.compare(state, with: snapshot, at: path, "step \(step): \(changes)")
            }
            try #require(state.hasLocks == !snapshot.locks.isEmpty)
        }
    }

    private static func compare(
        _ state: any ShareState, with snapshot: StateSnapshot, at path: ResourcePath, _ step: String
    ) throws {
        let now = RandomHistory.now
        let roots = Set(snapshot.locks.map(\.lock.root))
        let active = snapshot.locks.map(\.lock).filter { $0.expiry > now }
        let rowPaths = roots.union(snapshot.records.keys)

        try #require(state.hasRows(at: path) == rowPaths.contains(path), "\(path), \(step)")
        try #require(
            state.hasRows(atOrUnder: path) == rowPaths.contains { path.contains($0) }, "\(path), \(step)")
        let bound =
            snapshot.locks.first { $0.lock.root == path }?.binding ?? snapshot.records[path]?.binding
        try #require(state.binding(ofLockRoot: path) == bound, "\(path), \(step)")

        // Outermost first; a stable sort by length keeps the order of creation on each path.
        let covering = active.enumerated().filter { $0.element.covers(path) }
            .sorted { ($0.element.root.bytes.count, $0.offset) < ($1.element.root.bytes.count, $1.offset) }
        try #require(state.locks(covering: path, now: now) == covering.map(\.element), "\(path), \(step)")
        let below = active.filter { path.contains($0.root) && $0.root != path }
        try #require(state.locks(under: path, now: now) == below, "\(path), \(step)")
        for lock in snapshot.locks.map(\.lock) {
            try #require(state.lock(for: lock.token, now: now) == (lock.expiry > now ? lock : nil))
        }

        for inode in 1..<4 as Range<UInt64> {
            let held = snapshot.records[path].flatMap { $0.binding.holds(for: identity(inode)) ? $0 : nil }
            let found = try state.properties(at: path, identity: identity(inode))
            try #require(found == held?.properties ?? [], "\(path), \(step)")
        }
        try #require(
            state.hasProperties(below: path)
                == snapshot.records.keys.contains { path.contains($0) && $0 != path })
        let under = try state.records(under: path).map(\.path)
        try #require(Set(under) == Set(snapshot.records.keys.filter { path.contains($0) }))
    }
}
