internal import DavitServer
internal import DavitSystem

/// The pool, as handlers know it.
struct PoolWork: BlockingWork {
    let pool: BlockingPool

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { await pool.run { work() } }
}
