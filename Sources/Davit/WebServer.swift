public import DavitServer
internal import DavitSystem
public import DavitTransport
internal import Synchronization

/// An HTTP server with routes, WebDAV shares, or both: one port, one authentication, one set of middleware.
///
/// ```swift
/// let server = try WebServer { routes in
///     routes.get("/hello") { _ in .text("Hello") }
///     routes.mount("/files", WebDAVShare("/srv/files"))
/// }
/// try await server.run()
/// ```
/// A process can have several. What a server serves is fixed when it is made.
public final class WebServer: Sendable {
    let configuration: Configuration
    let http: HTTPServer
    #if TLS
    /// Nil without TLS.
    let certificates: ServerCertificates?
    #endif
    let reloads = ReloadActions()
    private let pool: BlockingPool
    /// Nil without accounts.
    let authentication: Authentication?
    private let environment: ServerEnvironment
    /// Nil without an access log of its own.
    private let accessLog: LogFile?
    private let bound = Mutex<[BoundAddress]>([])
    private let isEnding = Atomic<Bool>(false)
    private let ended = Latch(count: 1)

    /// Serves one thing at the root, a ``WebDAVShare`` or any handler. Opens what it needs; listens to nothing yet.
    public init(
        _ root: some Mountable, configuration: Configuration = Configuration()
    ) throws(ServerError) {
        try configuration.check()
        self.configuration = configuration
        let log = configuration.makeLog()
        let pool = BlockingPool()
        let environment = ServerEnvironment(
            publicHosts: try configuration.publicHosts(),
            storage: try DiskStorage(path: configuration.temporaryFolder), pool: pool, log: log)
        do throws(ServerError) {
            accessLog = try configuration.openAccessLog(reportingTo: log)
            let application = try Self.application(root, in: environment)
            authentication = try configuration.makeAuthentication(
                announcing: root.announcedFields, pool, log)
            let front = try configuration.front(of: application, behind: authentication)
            var transport = configuration.transport(log: log, accessLog: accessLog)
            transport.proxies = try configuration.proxyNetworks()
            transport.upkeep = { environment.upkeep() }
            try configuration.startRecording(of: &transport, in: environment, log: log)
            if configuration.reloadsOnHangUp { transport.onHangUp = configuration.reload(reloads) }
            #if TLS
            let certificates = try ServerCertificates.of(configuration, in: environment, log: log)
            transport.tls = try certificates?.load()
            if let certificates, certificates.canRenew { transport.renewTLS = { certificates.renewed() } }
            self.certificates = certificates
            #else
            if configuration.tls != nil { throw .noTLS }
            #endif
            http = HTTPServer(configuration: transport, handler: front, pool: pool, log: log)
        } catch {
            environment.end(pool)
            throw error
        }
        self.pool = pool
        self.environment = environment
        reloads.add { [weak self] in
            guard let self else { return }
            reopenLogs()
            do throws(ServerError) { try reloadCertificates() } catch {
                log.error("the certificates stay as they were", ["reason": error.certificateReason])
            }
        }
    }

    /// Serves a folder over WebDAV, as ``WebDAVShare`` does by default.
    public convenience init(
        sharing folder: String, configuration: Configuration = Configuration()
    ) throws(ServerError) {
        try self.init(WebDAVShare(folder), configuration: configuration)
    }

    /// Serves routes and what is mounted below them; see ``DavitServer/Router``.
    public convenience init(
        configuration: Configuration = Configuration(), _ routes: (inout Routes) -> Void
    ) throws(ServerError) {
        try self.init(Router(routes), configuration: configuration)
    }

    private static func application(
        _ root: some Mountable, in environment: ServerEnvironment
    ) throws(ServerError) -> any Handler {
        let handler: any Handler
        do { handler = try root.handler(in: environment) } catch {
            throw error as? ServerError ?? .mountNotUsable(reason: "\(error)")
        }
        try environment.checkShares()
        return handler
    }

    /// Listens. Requests are answered from now on.
    /// - Returns: as ``addresses``.
    @discardableResult
    public func start() throws(ServerError) -> [BoundAddress] {
        let addresses: [BoundAddress]
        do throws(TransportError) { addresses = try http.start() } catch { throw .cannotListen(error) }
        bound.withLock { $0 = addresses }
        environment.forEachResident { $0.serverStarted() }
        return addresses
    }

    /// Where the server listens, with the port that was chosen where the configuration left it open; empty before the
    /// start.
    public var addresses: [BoundAddress] { bound.withLock { $0 } }

    /// Closes the access log and opens its name again, for programs that have renamed it. Returns at once; what was
    /// answered before is in the old file.
    public func reopenLogs() { accessLog?.reopen() }

    /// Stops accepting; requests in flight end, or are cut after the grace time. Returns at once.
    public func shutdown() { http.shutdown() }

    /// Blocks the calling thread until the server has stopped. The state of shares then is in their databases alone, and
    /// nothing of this process writes there any more.
    public func waitUntilStopped() {
        http.waitUntilStopped()
        if isEnding.exchange(true, ordering: .relaxed) { return ended.wait() }
        environment.end(pool)
        accessLog?.finish()
        ended.countDown()
    }

    /// Returns when the server has stopped, as the one that blocks; holds a thread meanwhile.
    public func waitUntilStopped() async {
        let waiting = BlockingPool(threads: 1)
        let end: @Sendable () -> Void = { self.waitUntilStopped() }
        _ = await waiting.run { end() }
        waiting.shutdown()
    }

    /// Stops accepting, and returns when requests in flight have ended, or were cut after the grace time.
    public func stop() async {
        shutdown()
        await waitUntilStopped()
    }

    /// Listens, and returns when the server has stopped.
    public func run() async throws(ServerError) {
        try start()
        await waitUntilStopped()
    }

}

extension ServerEnvironment {
    /// Ends what is behind the handlers, and then the pool. Blocks.
    fileprivate func end(_ pool: BlockingPool) {
        forEachResident { $0.serverEnds() }
        pool.shutdown()
        forEachResident { $0.serverEnded() }
    }
}
