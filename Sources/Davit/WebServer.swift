public import DavitServer
internal import DavitSystem
public import DavitTransport

/// An HTTP server with routes, WebDAV shares, or both: one port, one authentication, one set of middleware.
///
/// ```swift
/// let server = try WebServer { routes in
///     routes.get("/hello") { _ in .text("Hello") }
///     routes.mount("/files", WebDAVShare("/srv/files"))
/// }
/// try await server.run()
/// ```
/// A process can have several. What a server serves is fixed when it is made. It can be started again when it has
/// stopped; see ``events`` and ``suspend()`` for its life in an application.
public final class WebServer: Sendable {
    let configuration: Configuration
    let life: ServerLife
    let http: HTTPServer
    #if TLS
    /// Nil without TLS.
    let certificates: ServerCertificates?
    #endif
    let reloads = ReloadActions()
    /// Nil without accounts.
    let authentication: Authentication?
    /// Nil without an access log of its own.
    private let accessLog: LogFile?
    private let residents: Residents

    /// Serves one thing at the root, a ``WebDAVShare`` or any handler. Opens what it needs; listens to nothing yet.
    /// - Throws: ``ServerError``, and nothing is left open.
    public init(
        _ root: some Mountable, configuration: Configuration = Configuration()
    ) throws(ServerError) {
        try configuration.check()
        let root = try configuration.placed(root)
        self.configuration = configuration
        let log = configuration.makeLog()
        let pool = BlockingPool()
        let environment = ServerEnvironment(
            publicHosts: try configuration.publicHosts(),
            securePublicHosts: try configuration.securePublicHosts(),
            pageOrigins: configuration.cors?.originTexts ?? [],
            storage: try DiskStorage(path: configuration.temporaryFolder), pool: pool, log: log)
        let accessLog = try configuration.openAccessLog(reportingTo: log)
        let residents = Residents(environment, pool, accessLog)
        let life = ServerLife(configuration.lifecycle)
        do throws(ServerError) {
            let application = try Self.application(root, in: environment)
            authentication = try configuration.makeAuthentication(
                announcing: root.announcedFields, pool, log)
            let front = try configuration.front(of: application, behind: authentication)
            var transport = configuration.transport(log: log, accessLog: accessLog)
            transport.proxies = try configuration.proxyNetworks()
            transport.upkeep = { environment.upkeep() }
            transport.occupancy = { [weak life] in life?.occupancyChanged($0) }
            transport.onStop = { residents.end() }
            transport.didStop = { [weak life] in life?.didStop() ?? {} }
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
            life.attach(http)
        } catch {
            residents.end()
            throw error
        }
        self.life = life
        self.residents = residents
        self.accessLog = accessLog
        reloads.add { [weak self] in
            guard let self else { return }
            reopenLogs()
            do throws(ServerError) { try reloadCertificates() } catch {
                log.error("the certificates stay as they were", ["reason": error.certificateReason])
            }
        }
    }

    /// Serves a folder over WebDAV, as ``WebDAVShare`` does by default.
    /// - Throws: ``ServerError``, and nothing is left open.
    public convenience init(
        sharing folder: String, configuration: Configuration = Configuration()
    ) throws(ServerError) {
        try self.init(WebDAVShare(folder), configuration: configuration)
    }

    /// Serves routes and what is mounted below them; see ``DavitServer/Router``.
    /// - Throws: ``ServerError``, and nothing is left open.
    public convenience init(
        configuration: Configuration = Configuration(), _ routes: (inout Routes) -> Void
    ) throws(ServerError) {
        try self.init(Router(routes), configuration: configuration)
    }

    private static func application(
        _ root: any Mountable, in environment: ServerEnvironment
    ) throws(ServerError) -> any Handler {
        let handler: any Handler
        do { handler = try root.handler(in: environment) } catch {
            throw error as? ServerError ?? .mountNotUsable(reason: "\(error)")
        }
        try environment.checkShares()
        return handler
    }

    /// Listens. Requests are answered from now on.
    ///
    /// Where the configuration leaves the port open, later starts of the same object have the port of the first one,
    /// unless another program has it by then.
    /// - Returns: as ``addresses``.
    /// - Throws: ``ServerError/cannotListen(_:)``, with the reason `alreadyStarted` while it runs.
    @discardableResult
    public func start() throws(ServerError) -> [BoundAddress] {
        let addresses: [BoundAddress]
        do throws(TransportError) {
            addresses = try life.start { residents.prepare() }
        } catch {
            throw .cannotListen(error)
        }
        residents.start()
        return addresses
    }

    /// Where the server listens, or will again when it is resumed, with the port that was chosen where the configuration
    /// left it open; empty while it does not run.
    public var addresses: [BoundAddress] { life.addresses }

    /// Closes the access log and opens its name again, for programs that have renamed it. Returns at once; what was
    /// answered before is in the old file.
    public func reopenLogs() { accessLog?.reopen() }

    /// Stops accepting; requests in flight end, or are cut after the grace time. Returns at once.
    public func shutdown() { life.stop() }

    /// Blocks the calling thread until the server has stopped. The state of shares then is in their databases alone, and
    /// nothing of this process writes there any more, until it is started again.
    public func waitUntilStopped() { life.waitUntilStopped() }

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
    /// - Throws: as ``start()``.
    public func run() async throws(ServerError) {
        try start()
        await waitUntilStopped()
    }

}
