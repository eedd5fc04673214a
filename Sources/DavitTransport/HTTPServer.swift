public import DavitHTTP
public import DavitLogging
public import DavitServer
public import DavitSystem
internal import Synchronization

#if TLS
package import DavitCrypto
#endif

/// An HTTP/1.1 server that passes the requests of its connections to a handler.
///
/// ```
/// let server = HTTPServer(configuration: configuration, handler: handler, log: log)
/// let addresses = try server.start()
/// server.waitUntilStopped()
/// ```
///
/// A server can be started again after it has stopped.
public final class HTTPServer: Sendable {
    private enum Phase {
        case stopped, starting
        case running(LoopGroup)
    }

    private struct State {
        var phase = Phase.stopped
        /// The port that the system chose at an earlier start; reused at later starts. 0 if there is none.
        var chosenPort: UInt16 = 0
        #if TLS
        /// The TLS context that has replaced the configured one.
        var tls: TLSContext?
        #endif
    }

    private let configuration: TransportConfiguration
    private let handler: any Handler
    private let pool: BlockingPool?
    private let log: Log
    private let state = Mutex(State())

    /// - Parameter pool: runs operations that block, such as reads that wait for a disk. If nil, the server
    ///   creates a pool and shuts it down when it stops; a pool that is passed in is not shut down.
    public init(
        configuration: TransportConfiguration, handler: some Handler, pool: BlockingPool? = nil, log: Log
    ) {
        self.configuration = configuration
        self.handler = handler
        self.pool = pool
        self.log = log
    }

    /// Binds all endpoints and begins to serve, on its own threads. Blocks while host names are resolved.
    ///
    /// Also raises the descriptor limit and ignores SIGPIPE, for the whole process.
    /// - Returns: the addresses the server listens on: inherited sockets, endpoints, then local sockets, each
    ///   in the configured order. A port that the system chose is reused at later starts unless another
    ///   program occupies it.
    /// - Throws: ``TransportError`` if the server cannot listen, or if it is already running.
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

    /// The configuration with the current TLS context.
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
            // Set the phase before the threads run, because a signal may stop the server immediately.
            state.withLock { $0.phase = .running(group) }
            try group.start(sockets) { [self] () -> ThreadCompletion.Announcement in
                if self.pool == nil { pool.shutdown() }
                configuration.onStop?()
                state.withLock { state in
                    state.phase = .stopped
                    #if TLS
                    // Keep renewed certificates for the next start.
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
    /// Replaces the certificates for new connections; open connections keep theirs. Can be called on any
    /// thread. Does nothing for a server without TLS.
    package func replaceTLS(_ context: TLSContext) {
        state.withLock { state in
            if state.tls != nil || configuration.tls != nil { state.tls = context }
        }
        group?.replaceTLS(context)
    }
    #endif

    /// Stops listening, closes idle connections, and gives requests in flight the grace period to complete.
    /// Returns immediately. Can be called on any thread.
    public func shutdown() { group?.requestDrain() }

    /// Blocks the calling thread until the server has stopped; returns immediately if it is not running.
    public func waitUntilStopped() { group?.wait() }

    var group: LoopGroup? {
        state.withLock { state in
            if case .running(let group) = state.phase { group } else { nil }
        }
    }
}

extension HTTPServer {
    /// Closes the listening sockets; open connections remain. Up to 64 connections in the backlog of each
    /// socket are accepted first.
    /// - Parameter completion: called on a loop when the sockets are closed; not called if the server stops
    ///   first.
    public func pauseListening(then completion: @escaping @Sendable () -> Void = {}) {
        group?.pauseListening(then: completion)
    }

    /// Listens again on the same addresses and ports. Call it after ``pauseListening(then:)`` has completed.
    /// - Throws: ``TransportError`` if the server cannot listen; the call can then be repeated. The reason is
    ///   `notRunning` if the server is not running or is stopping, and `alreadyStarted` if it already
    ///   listens.
    public func resumeListening() throws(TransportError) {
        guard let group else { throw TransportError(.notRunning) }
        try group.resumeListening()
    }

    /// Closes each connection after its request in flight. Returns immediately.
    public func dismissConnections() { group?.dismissConnections() }

    /// Aborts requests in flight: cancels their tasks and aborts their connections. Returns immediately. Each
    /// loop searches its connections, so that requests need no bookkeeping.
    /// - Parameter isRevoked: selects the requests to abort. Called on the loops; must not block. The handler
    ///   must no longer admit requests that `isRevoked` selects.
    public func endRequests(where isRevoked: @escaping @Sendable (HTTPRequest) -> Bool) {
        group?.endRequests(where: isRevoked)
    }

    /// Aborts connections and their requests in flight. Returns immediately.
    /// - Parameter isRevoked: selects the connections by the address of the peer. Called on the loops; must not block.
    package func abortConnections(where isRevoked: @escaping @Sendable (NetworkAddress) -> Bool) {
        group?.abortConnections(where: isRevoked)
    }

    /// Calls `action` on a loop after `nanoseconds`, up to about a quarter of a second late; does not call it
    /// if the server stops first.
    package func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        group?.schedule(after: nanoseconds, action)
    }
}
