internal import DavitServer
package import DavitSystem

/// A pool, as handlers know it.
package struct PoolWork: BlockingWork {
    private let pool: BlockingPool

    package init(pool: BlockingPool) { self.pool = pool }

    package func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        await pool.run { work() }
    }

    /// For files that are opened outside of any server's handlers; its threads start when they are first needed.
    static let shared = PoolWork(pool: BlockingPool())
}
