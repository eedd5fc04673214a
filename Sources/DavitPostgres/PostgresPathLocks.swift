#if Postgres
/// Advisory locks for the changes of a transaction: exclusive ones for what changes, shared ones for the collections above.
///
/// The server holds them until the end of the transaction. They are taken in the order of their keys, so that transactions
/// do not wait for each other in a circle. A key is a hash of the path: two paths with one key only exclude each other
/// without need.
package struct PostgresPathLocks: Sendable {
    /// Paths that are deeper are locked at this depth, so that one transaction does not fill the server's table of locks.
    package static let depthLimit = 64

    private let share: Int64
    /// Whether the lock is exclusive, by its key.
    private var locks: [Int64: Bool] = [:]

    package init(share: Int64) { self.share = share }

    /// Adds the lock of a resource that changes, with all its members.
    ///
    /// - Parameter path: the names from the root of the share, each in normalization form C.
    package mutating func addChange(of path: some Collection<[UInt8]>) { add(path, isExclusive: true) }

    /// Adds the lock of a resource that must not be changed, moved or removed. Its members may change; the lock of
    /// ``addChange(of:)`` excludes that too.
    package mutating func addUse(of path: some Collection<[UInt8]>) { add(path, isExclusive: false) }

    /// The keys in the order in which they are locked, and whether the locks are exclusive.
    package var keys: [(key: Int64, isExclusive: Bool)] {
        locks.map { (key: $0.key, isExclusive: $0.value) }.sorted { $0.key < $1.key }
    }

    /// Appends the statement that takes the locks. A statement after it in the same transaction, with the isolation level
    /// READ COMMITTED, sees what other transactions committed under these locks.
    package func add(to batch: inout PostgresBatch) {
        let keys = keys
        batch.add(
            """
            SELECT count(CASE WHEN is_exclusive = 1 THEN pg_advisory_xact_lock(key)
                ELSE pg_advisory_xact_lock_shared(key) END)
            FROM unnest($1::bigint[], $2::bigint[]) AS wanted (key, is_exclusive)
            """, .integers(keys.map(\.key)), .integers(keys.map { $0.isExclusive ? 1 : 0 }))
    }

    private mutating func add(_ path: some Collection<[UInt8]>, isExclusive: Bool) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        // FNV-1a: all nodes must compute the same keys.
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for shift in stride(from: 0, to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: share >> Int64(shift))) }
        for name in path.prefix(Self.depthLimit) {
            let parent = Int64(bitPattern: hash)
            locks[parent] = locks[parent] ?? false
            // No name contains the byte 0.
            for byte in name { mix(byte) }
            mix(0)
        }
        let key = Int64(bitPattern: hash)
        locks[key] = (locks[key] ?? false) || isExclusive
    }
}
#endif
