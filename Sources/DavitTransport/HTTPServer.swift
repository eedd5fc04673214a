public import DavitHTTP
public import DavitServer
public import DavitSystem
internal import Synchronization

#if TLS
package import DavitCrypto
#endif

/// An HTTP/1.1 server: sockets in, a handler, sockets out.
///
/// ```
/// let server = HTTPServer(configuration: configuration, handler: handler, log: log)
/// let addresses = try server.start()
/// server.waitUntilStopped()
/// ```
///
/// It can be started again when it has stopped.
public final class HTTPServer: Sendable {
    private enum Phase {
        case stopped, starting
        case running(LoopGroup)
    }

    private struct State {
        var phase = Phase.stopped
        /// The port that the system chose at the last start; kept for the next.
        var chosenPort: UInt16 = 0
        #if TLS
        /// What has taken the place of the configuration's.
        var tls: TLSContext?
        #endif
    }

    private let configuration: TransportConfiguration
    private let handler: any Handler
    private let pool: BlockingPool?
    private let log: Log
    private let state = Mutex(State())

    /// - Parameter pool: for reads that have to wait for a disk. Without one the server makes its own and
    ///   ends it when it stops; one that is given stays with its owner.
    public init(
        configuration: TransportConfiguration, handler: some Handler, pool: BlockingPool? = nil, log: Log
    ) {
        self.configuration = configuration
        self.handler = handler
        self.pool = pool
        self.log = log
    }

    /// Binds all endpoints and begins to serve, on threads of its own. Blocks while names are looked up.
    ///
    /// Also raises the limit of descriptors and ignores SIGPIPE, for the whole process.
    /// - Returns: where the server listens: the sockets that were handed over, the endpoints, the local sockets, each
    ///   in their order. A port that the system chose is kept at later starts, unless another program has it by then.
    /// - Throws: ``TransportError``; nothing listens then.
    public func start() throws(TransportError) -> [BoundAddress] {
        let chosenPort = state.withLock { state -> UInt16? in
            guard case .stopped = state.phase else { return nil }
            state.phase = .starting
            return state.chosenPort
        }
        guard let chosenPort else { throw TransportError(.alreadyStarted) }
        do throws(TransportError) {
            return try run(on: try bind(preferring: chosenPort))
        } catch {
            state.withLock { $0.phase = .stopped }
            throw error
        }
    }

    private func bind(preferring port: UInt16) throws(TransportError) -> [ListeningSocket] {
        ResourceLimits.raiseDescriptorLimit()
        Signals.ignoreBrokenPipes()
        guard port != 0 else { return try ListeningSocket.open(configuration) }
        var kept = configuration
        kept.endpoints = configuration.endpoints.map { endpoint in
            TransportConfiguration.Endpoint(
                host: endpoint.host, port: endpoint.port == 0 ? port : endpoint.port)
        }
        do throws(TransportError) {
            return try ListeningSocket.open(kept)
        } catch {
            guard error.reason == .inUse, error.port == port else { throw error }
            return try ListeningSocket.open(configuration)
        }
    }

    /// The configuration with what was replaced in it.
    private var current: TransportConfiguration {
        var current = configuration
        #if TLS
        if let tls = state.withLock({ $0.tls }) { current.tls = tls }
        #endif
        return current
    }

    private func run(on sockets: [ListeningSocket]) throws(TransportError) -> [BoundAddress] {
        let pool = pool ?? BlockingPool()
        do throws(SystemError) {
            let context = ServerContext(current, handler: handler, pool: pool, log: log)
            let group = try LoopGroup(
                configuration, context: context, addresses: sockets.compactMap(\.endpoint))
            // Before it runs: a signal may end it at once.
            state.withLock { $0.phase = .running(group) }
            try group.start(sockets) { [self] () -> ThreadEnds.Announcement in
                if self.pool == nil { pool.shutdown() }
                configuration.onStop?()
                state.withLock { state in
                    state.phase = .stopped
                    #if TLS
                    // It may have been renewed.
                    state.tls = context.tls?.current
                    #endif
                }
                guard let didStop = configuration.didStop else { return {} }
                return didStop()
            }
        } catch {
            for socket in sockets { socket.file?.remove() }
            throw TransportError(.system(error))
        }
        let given = configuration.endpoints.map(\.port)
        if let chosen = sockets.compactMap(\.endpoint?.port).first(where: { !given.contains($0) }) {
            state.withLock { $0.chosenPort = chosen }
        }
        return sockets.map(\.boundAddress)
    }

    #if TLS
    /// Gives connections from now on other certificates; those that are open keep theirs. From any thread. Does nothing
    /// for a server that was made without TLS.
    package func replaceTLS(_ context: TLSContext) {
        state.withLock { state in
            if state.tls != nil || configuration.tls != nil { state.tls = context }
        }
        group?.replaceTLS(context)
    }
    #endif

    /// Stops listening, closes idle connections, and lets requests in flight end for the time of grace.
    /// Returns at once. From any thread.
    public func shutdown() { group?.requestDrain() }

    /// Blocks the calling thread until the server has stopped; returns at once if it does not run.
    public func waitUntilStopped() { group?.wait() }

    private var group: LoopGroup? {
        state.withLock { state in
            if case .running(let group) = state.phase { group } else { nil }
        }
    }
}

extension HTTPServer {
    /// Closes the listening sockets; open connections go on. What waited to be accepted is accepted before.
    /// - Parameter completion: called on a loop when they are closed; not if the server stops before that.
    public func pauseListening(then completion: @escaping @Sendable () -> Void = {}) {
        group?.pauseListening(then: completion)
    }

    /// Listens again where the server listened before, on the same ports; to be called when
    /// ``pauseListening(then:)`` has completed.
    /// - Throws: ``TransportError``; nothing listens then, and it can be tried again. `notRunning` after
    ///   ``shutdown()``, `alreadyStarted` while it listens.
    public func resumeListening() throws(TransportError) {
        guard let group else { throw TransportError(.notRunning) }
        try group.resumeListening()
    }

    /// Ends all connections, each when the request in flight on it has been answered. Returns at once.
    public func dismissConnections() { group?.dismissConnections() }

    /// Ends requests in flight: their tasks are cancelled, and their connections are cut. Returns immediately; each loop
    /// looks through its connections, so that requests need no bookkeeping.
    /// - Parameter isRevoked: called on the loops; must not block. Requests that it selects must not be admitted any more.
    public func endRequests(where isRevoked: @escaping @Sendable (HTTPRequest) -> Bool) {
        group?.endRequests(where: isRevoked)
    }

    /// Calls `action` on a loop after a while, at most a quarter of a second late; never if the server stops before.
    package func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        group?.schedule(after: nanoseconds, action)
    }
}
