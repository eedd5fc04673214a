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
public final class HTTPServer: Sendable {
    private let configuration: TransportConfiguration
    private let context: ServerContext
    private let ownsPool: Bool
    private let isStarted = Atomic<Bool>(false)
    private let group = AtomicLazyReference<LoopGroup>()

    /// - Parameter pool: for reads that have to wait for a disk. Without one the server makes its own and
    ///   ends it when it stops; one that is given stays with its owner.
    public init(
        configuration: TransportConfiguration, handler: some Handler, pool: BlockingPool? = nil, log: Log
    ) {
        self.configuration = configuration
        ownsPool = pool == nil
        context = ServerContext(configuration, handler: handler, pool: pool ?? BlockingPool(), log: log)
    }

    /// Binds all endpoints and begins to serve, on threads of its own. Blocks while names are looked up.
    ///
    /// Also raises the limit of descriptors and ignores SIGPIPE, for the whole process.
    /// - Returns: where the server listens, in the order of the endpoints.
    /// - Throws: ``TransportError``; nothing listens then.
    public func start() throws(TransportError) -> [BoundAddress] {
        if isStarted.exchange(true, ordering: .acquiringAndReleasing) {
            throw TransportError(.alreadyStarted)
        }
        do throws(TransportError) {
            return try bindAndRun()
        } catch {
            isStarted.store(false, ordering: .releasing)
            throw error
        }
    }

    private func bindAndRun() throws(TransportError) -> [BoundAddress] {
        ResourceLimits.raiseDescriptorLimit()
        Signals.ignoreBrokenPipes()
        let sockets = try ListeningSocket.bind(configuration.endpoints, backlog: configuration.backlog)
        do throws(SystemError) {
            let group = try LoopGroup(configuration, context: context)
            try group.start(sockets)
            _ = self.group.storeIfNil(group)
        } catch {
            throw TransportError(.system(error))
        }
        return sockets.map(\.boundAddress)
    }

    #if TLS
    /// Gives connections from now on other certificates; those that are open keep theirs. From any thread. Does nothing
    /// for a server that was made without TLS.
    package func replaceTLS(_ context: TLSContext) { self.context.tls?.replace(context) }
    #endif

    /// Stops listening, closes idle connections, and lets requests in flight end for the time of grace.
    /// Returns at once. From any thread, and from a signal handler.
    public func shutdown() { group.load()?.requestDrain() }

    /// Blocks the calling thread until the server has stopped.
    public func waitUntilStopped() {
        guard let group = group.load() else { return }
        group.wait()
        if ownsPool { context.pool.shutdown() }
    }
}
