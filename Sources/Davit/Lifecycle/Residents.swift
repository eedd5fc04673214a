internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// What lives behind the handlers of a server, from each of its starts to the end that belongs to it.
final class Residents: Sendable {
    private enum Phase { case ended, prepared, started }

    private let environment: ServerEnvironment
    private let pool: BlockingPool
    private let accessLog: LogFile?
    /// Held while residents are called, one call at a time.
    private let phase = Mutex(Phase.prepared)

    init(_ environment: ServerEnvironment, _ pool: BlockingPool, _ accessLog: LogFile?) {
        self.environment = environment
        self.pool = pool
        self.accessLog = accessLog
    }

    /// The server is about to listen.
    func prepare() {
        phase.withLock { $0 = .prepared }
        pool.reopen()
        accessLog?.takeLines()
    }

    /// The server listens; it may also have been stopped meanwhile.
    func start() {
        phase.withLock { phase in
            guard phase == .prepared else { return }
            environment.forEachResident { $0.serverStarted() }
            phase = .started
        }
    }

    /// Ends what is behind the handlers, and then the pool. Blocks.
    func end() {
        phase.withLock { phase in
            phase = .ended
            environment.forEachResident { $0.serverEnds() }
            pool.shutdown()
            environment.forEachResident { $0.serverEnded() }
            accessLog?.finish()
        }
    }
}
