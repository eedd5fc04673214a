package import DavitServer
package import DavitSystem

/// Adapts a thread pool for use by handlers.
package struct PooledWorkRunner: BlockingWorkRunner {
    private let pool: BlockingPool

    package init(pool: BlockingPool) { self.pool = pool }

    package func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        await pool.run(sendable: work)
    }

    package func run<T: Sendable>(sequence: Int, _ work: @escaping @Sendable () -> T) async -> T? {
        await pool.run(sendable: work, sequence: sequence)
    }

    package func runBriefly<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        await pool.runBriefly(work)
    }

    package func runLong<T: Sendable>(
        for client: String, _ stage: LongWorkStage, _ work: @escaping @Sendable () -> T
    ) async -> T? {
        await pool.longWork.run(
            for: client, isAdmitted: stage != .begins, isCancellable: stage != .cleansUp, work)
    }

    /// The default executor of `HTTPResponse.file`; its threads start on first use.
    static let shared = PooledWorkRunner(pool: BlockingPool())
}
