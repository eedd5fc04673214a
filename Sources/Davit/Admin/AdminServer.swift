internal import DavitHTTP
internal import DavitLogging
internal import DavitMetrics
internal import DavitServer
internal import DavitSystem
internal import DavitTransport
internal import Synchronization

/// The listener for health checks and metrics: a server of its own, with one event loop, so that it responds even if the
/// loops of the main server are blocked.
final class AdminServer: SideServer {
    /// Programs that check health or collect metrics; a few of each are enough.
    private static let connectionLimit = 32
    /// Threads for checks and metrics, which read disks, and the number of requests that wait for one.
    private static let threads = 2
    private static let queueLimit = 16

    private let http: HTTPServer
    private let pool: BlockingPool
    private let log: Log

    init(_ listener: Configuration.AdminListener, status: ServerStatus, log: Log) throws(ServerError) {
        var transport = TransportConfiguration(endpoints: [])
        switch listener.address {
        case .unixSocket(let socket): transport.localSockets = [.init(path: socket.path, mode: socket.mode)]
        case .loopback(let host, let port):
            guard Configuration.isLoopback(host) else { throw .adminListenerNotLocal(host: host) }
            transport.endpoints = [.init(host: host, port: port)]
        }
        transport.loops = 1
        transport.maxConnections = Self.connectionLimit
        transport.backlog = Self.connectionLimit
        transport.grace = .zero
        pool = BlockingPool(threads: Self.threads, queueLimit: Self.queueLimit)
        self.log = log
        let liveness = LivenessCheck(of: status.http)
        let handler = AdminHandler(
            AdminHandler.Source(
                liveness: { [await liveness.run()] },
                readiness: { [pool] in await pool.run(sendable: { status.checks() }) },
                metrics: { [pool] in await pool.run(sendable: { status.metrics() }) }))
        // Without credentials, a web page could reach the listener under a host name of its own.
        http = HTTPServer(
            configuration: transport, handler: handler.applying(HostGuard(names: [])), pool: pool, log: log)
        liveness.useTimer(of: http)
    }

    /// Begins to listen.
    func start() throws(TransportError) {
        pool.reopen()
        let addresses = try http.start()
        log.info("admin listener started", ["address": addresses.map { $0.url() }.joined(separator: " ")])
    }

    /// Stops listening, and returns when the threads have ended. Does nothing if the listener is not running.
    func stop() {
        http.shutdown()
        http.waitUntilStopped()
        pool.shutdown()
    }
}

/// Asks the event loops of a server whether they are running. Concurrent requests share one poll, and its outcome is used for
/// a short time, so that clients cannot occupy the loops.
final class LivenessCheck: Sendable {
    private static let timeoutNanoseconds: Int64 = 1_000_000_000
    private static let reuseNanoseconds: Int64 = 100_000_000

    private struct State {
        var last: (time: Int64, outcome: LoopPoll.Outcome)?
        /// The requests that wait for the poll in progress; nil if there is none.
        var waiting: [CheckedContinuation<LoopPoll.Outcome, Never>]?
        var timer: HTTPServer?
    }

    private let server: HTTPServer
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    init(of server: HTTPServer, now: @escaping @Sendable () -> Int64 = { Clock.coarseNow() }) {
        self.server = server
        self.now = now
    }

    /// Sets the server whose loop ends polls that take too long.
    func useTimer(of timer: HTTPServer) { state.withLock { $0.timer = timer } }

    func run() async -> HealthCheck {
        Self.check(
            await withCheckedContinuation { continuation in
                let (known, isFirst) = state.withLock { state -> (LoopPoll.Outcome?, Bool) in
                    if let last = state.last, last.outcome.isAlive, now() - last.time < Self.reuseNanoseconds
                    {
                        return (last.outcome, false)
                    }
                    let isFirst = state.waiting == nil
                    state.waiting = (state.waiting ?? []) + [continuation]
                    return (nil, isFirst)
                }
                if let known { continuation.resume(returning: known) } else if isFirst { begin() }
            })
    }

    private func begin() {
        let poll = server.pollLoops { [self] in end($0) }
        state.withLock { $0.timer }?.schedule(after: Self.timeoutNanoseconds) { poll.expire() }
    }

    private func end(_ outcome: LoopPoll.Outcome) {
        let waiting = state.withLock { state in
            state.last = (now(), outcome)
            defer { state.waiting = nil }
            return state.waiting ?? []
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }

    static func check(_ outcome: LoopPoll.Outcome) -> HealthCheck {
        let problem =
            outcome.isAlive
            ? nil
            : outcome.loops == 0
                ? "the server is not running"
                : "\(outcome.loops - outcome.responding) of \(outcome.loops) event loops did not respond"
                    + " within 1 s"
        return HealthCheck("event-loops", problem: problem)
    }
}
