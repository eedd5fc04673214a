internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// Starts and stops the shares, websites, thread pool and logs of a server.
final class LifecycleObservers: Sendable {
    private enum Phase { case ended, prepared, started }

    private let environment: ServerEnvironment
    private let pool: BlockingPool
    private let accessLog: LogFile?
    private let auditLog: AuditLog?
    /// Locked during calls to the lifecycle observers, to serialize the calls.
    private let phase = Mutex(Phase.prepared)

    init(_ environment: ServerEnvironment, _ pool: BlockingPool, _ accessLog: LogFile?, _ auditLog: AuditLog?)
    {
        self.environment = environment
        self.pool = pool
        self.accessLog = accessLog
        self.auditLog = auditLog
    }

    /// Prepares for the start of the server, before it listens.
    func prepare() {
        phase.withLock { $0 = .prepared }
        pool.reopen()
        accessLog?.takeLines()
        auditLog?.takeRecords()
    }

    /// Notifies the lifecycle observers that the server listens. Does nothing if the server has stopped in
    /// the meantime.
    func start() {
        phase.withLock { phase in
            guard phase == .prepared else { return }
            environment.forEachLifecycleObserver { $0.serverDidStart() }
            phase = .started
        }
    }

    /// Notifies the lifecycle observers before and after shutting down the pool, and then waits until the
    /// logs are written. Blocks.
    func end() {
        phase.withLock { phase in
            phase = .ended
            environment.forEachLifecycleObserver { $0.serverWillStop() }
            pool.shutdown()
            environment.forEachLifecycleObserver { $0.serverDidStop() }
            accessLog?.finish()
            auditLog?.finish()
        }
    }
}
