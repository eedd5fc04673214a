internal import DavitAccounts
internal import DavitControl
package import DavitLogging
internal import DavitPage
public import DavitServer
internal import DavitSystem
public import DavitTransport

/// An HTTP server with routes, WebDAV shares, or both, which share its port, authentication and middleware.
///
/// ```swift
/// let server = try WebServer { routes in
///     routes.get("/hello") { _ in .text("Hello") }
///     routes.mount("/files", WebDAVShare("/srv/files"))
/// }
/// try await server.run()
/// ```
/// A process can have several servers. The routes and mounts of a server are fixed when it is
/// created. A server that has stopped can be started again; see ``events`` and ``suspend()`` for its life
/// cycle in an application.
public final class WebServer: Sendable {
    let configuration: Configuration
    let lifecycleController: LifecycleController
    let http: HTTPServer
    #if TLS
    /// Nil without TLS.
    let certificates: ServerCertificates?
    #endif
    let reloads = ReloadActions()
    package let log: Log
    /// Nil without accounts.
    let authentication: Authentication?
    #if TLS
    /// Nil if browsers cannot sign in with a form.
    let accountEndpoint: AccountEndpoint?
    #endif
    /// Whether the accounts are those of a database.
    let hasAccountDatabase: Bool
    /// Nil without an access log.
    private let accessLog: LogFile?
    /// Nil without an audit log.
    private let auditLog: AuditLog?
    private let lifecycleObservers: LifecycleObservers
    let status: ServerStatus
    /// The servers of ``Configuration/adminListener`` and of ``Configuration/TLS/plainPort``.
    private let sideServers: [any SideServer]
    private let runningSideServers = RunningSideServers()
    /// Nil without ``Configuration/announcement``.
    private let announcer: ServerAnnouncer?
    /// Nil without ``Configuration/portMapping``.
    let publicPort: PublicPort?

    /// Creates a server for one handler at the root, such as a ``WebDAVShare``. Opens everything it needs,
    /// but does not listen yet.
    /// - Throws: ``ServerError``; nothing then remains open.
    public init(
        _ root: some Mountable, configuration: Configuration = Configuration()
    ) throws(ServerError) {
        try configuration.check()
        let isShare = root is WebDAVShare
        let root = try configuration.placed(root)
        // Passwords must not remain in memory.
        var kept = configuration
        kept.accounts = []
        self.configuration = kept
        let log = configuration.makeLog()
        self.log = log
        let pool = BlockingPool(priority: configuration.priority)
        let auditLog = try configuration.openAuditLog(reportingTo: log)
        let events = try configuration.eventDelivery(reportingTo: log)
        let environment = ServerEnvironment(
            publicHosts: try configuration.publicHosts(),
            publicAuthorities: try configuration.publicAuthorities(),
            securePublicHosts: try configuration.securePublicHosts(),
            pageOrigins: configuration.cors?.originTexts ?? [],
            storage: try DiskStorage(path: configuration.temporaryFolder), pool: pool, log: log
        ).recording(in: auditLog, events?.outbox)
        let accessLog = try configuration.openAccessLog(reportingTo: log)
        let lifecycleObservers = LifecycleObservers(environment, pool, accessLog, auditLog)
        let lifecycleController = LifecycleController(configuration.lifecycle)
        let announcer: ServerAnnouncer?
        let publicPort: PublicPort?
        let front: ServerFront
        #if TLS
        let certificateUpkeep: CertificateUpkeep?
        #endif
        do throws(ServerError) {
            announcer = try configuration.announcer(isShare: isShare, log: log) {
                [weak lifecycleController] in lifecycleController?.announced(as: $0)
            }
            let application = try Self.application(root, in: environment)
            try configuration.checkFiles(in: environment)
            if let events {
                try events.open(in: environment)
                environment.addLifecycleObserver(events)
            }
            let limits = try ClientLimits(of: configuration, in: environment, log: log)
            front = try ServerFront(
                of: application, announcing: root.announcedFields, isShare: isShare, configuration,
                in: environment, limits, pool, auditLog, log)
            authentication = front.authentication
            var transport = configuration.transport(log: log, accessLog: accessLog)
            transport.proxies = try configuration.proxyNetworks()
            transport.isBanned = { limits.bans.isBanned($0.address) }
            transport.maintenance = { environment.performMaintenance() }
            transport.occupancy = { [weak lifecycleController] in lifecycleController?.occupancyChanged($0) }
            if let announcer { transport.withdraw(announcer) }
            publicPort = configuration.portMapping.map { mapping in
                PublicPort(mapping, prefix: configuration.prefix, log: log) {
                    [weak lifecycleController] in lifecycleController?.portMappingChanged($0, $1)
                }
            }
            if let publicPort {
                if configuration.tls == nil || authentication == nil { throw .portMappingNotSafe }
                transport.withdraw(publicPort)
            }
            transport.onStop = { [runningSideServers] in
                announcer?.stop()
                publicPort?.stop()
                runningSideServers.stop()
                lifecycleObservers.end()
            }
            transport.didStop = { [weak lifecycleController] in lifecycleController?.didStop() ?? {} }
            try configuration.startRecording(of: &transport, in: environment, log: log)
            let reload = configuration.reload(reloads)
            if configuration.reloadsOnSIGHUP { transport.onSIGHUP = { _ = reload() } }
            environment.acceptReloads(reload)
            #if TLS
            let certificates = try ServerCertificates.of(configuration, in: environment, log: log)
            try certificates?.secure(&transport, prefix: configuration.prefix)
            let handler =
                certificates?.inFront(of: front.handler, prefix: configuration.prefix) ?? front.handler
            self.certificates = certificates
            #else
            if configuration.tls != nil { throw .noTLS }
            let handler = front.handler
            #endif
            http = HTTPServer(configuration: transport, handler: handler, pool: pool, log: log)
            lifecycleController.attach(http)
            let bans = limits.bans
            bans.onBan { [weak http, weak bans] in
                guard let bans else { return }
                http?.abortConnections { bans.isBanned($0.address) }
            }
            let status = configuration.status(
                of: http, lifecycleController, authentication, limits, auditLog, events, publicPort,
                in: environment
            ) {
                #if TLS
                certificates?.validity
                #else
                nil
                #endif
            }
            self.status = status
            var sideServers: [any SideServer] = []
            if let listener = configuration.adminListener {
                sideServers.append(try AdminServer(listener, status: status, log: log))
            }
            #if TLS
            if let certificates {
                let plain = try configuration.plainServer(of: lifecycleController, certificates, log: log)
                if let plain { sideServers.append(plain) }
            }
            certificateUpkeep = try certificates.flatMap { (certificates) throws(ServerError) in
                try CertificateUpkeep(certificates, log: log)
            }
            if let certificateUpkeep { environment.addLifecycleObserver(certificateUpkeep) }
            #endif
            self.sideServers = sideServers
        } catch {
            lifecycleObservers.end()
            throw error
        }
        self.announcer = announcer
        if let announcer {
            lifecycleController.announce(with: announcer, inherited: configuration.inheritedSockets)
        }
        self.publicPort = publicPort
        if let publicPort { lifecycleController.onListening { publicPort.map($0) } }
        self.lifecycleController = lifecycleController
        self.lifecycleObservers = lifecycleObservers
        self.accessLog = accessLog
        self.auditLog = auditLog
        hasAccountDatabase = front.directory != nil
        #if TLS
        accountEndpoint = front.accountEndpoint
        #endif
        if let directory = front.directory, let uses = front.appPasswordUses {
            follow(directory, uses, log: log)
        }
        if let authentication { followExternalLogins(of: authentication) }
        #if TLS
        certificateUpkeep?.onChange { [weak self] in _ = self?.reloadCertificatesAndReport() }
        accountEndpoint?.sessions.onEnd { [weak self] numbers in
            self?.endRequests { numbers.contains($0.credentialNumber) }
        }
        #endif
        handleReload { [weak self] in self?.reloadCertificatesAndReport() ?? ReloadReport() }
    }

    /// Creates a server that shares a folder over WebDAV, with the defaults of ``WebDAVShare``.
    /// - Throws: ``ServerError``; nothing then remains open.
    public convenience init(
        sharing folder: String, configuration: Configuration = Configuration()
    ) throws(ServerError) {
        try self.init(WebDAVShare(folder), configuration: configuration)
    }

    /// Creates a server with routes and mounts; see ``DavitServer/Router``.
    /// - Throws: ``ServerError``; nothing then remains open.
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

    /// Starts to listen and to accept requests.
    ///
    /// If ``Configuration/port`` is 0, later starts of the same object use the port of the first start,
    /// unless another program uses it.
    /// - Returns: the bound addresses, as in ``addresses``.
    /// - Throws: ``ServerError/cannotListen(_:)``, with the reason `alreadyStarted` if the server is running.
    @discardableResult
    public func start() throws(ServerError) -> [BoundAddress] {
        let addresses: [BoundAddress]
        var hasStartedSideServers = false
        do throws(TransportError) {
            // Before the server listens, so that probes find out that it is not ready yet.
            if !isRunning {
                try runningSideServers.start(sideServers)
                hasStartedSideServers = true
            }
            addresses = try lifecycleController.start {
                lifecycleObservers.prepare()
                announcer?.prepare()
            }
        } catch {
            if hasStartedSideServers { runningSideServers.stop() }
            throw .cannotListen(error)
        }
        lifecycleObservers.start()
        return addresses
    }

    /// The addresses that the server listens on, or will listen on when it resumes, with the actual port;
    /// empty while it is not running.
    public var addresses: [BoundAddress] { lifecycleController.addresses }

    /// Reopens the files of the access log and of the audit log, for log rotation. Returns immediately; responses sent
    /// before the call are logged to the old file.
    public func reopenLogs() {
        accessLog?.reopen()
        auditLog?.reopen()
    }

    /// Stops accepting connections. Requests in flight finish, or are cancelled after the grace period.
    /// Returns immediately.
    public func shutdown() { lifecycleController.stop() }

    /// Blocks the calling thread until the server has stopped. The state of shares is then completely in
    /// their databases, and this process does not write to them until the server starts again.
    public func waitUntilStopped() { lifecycleController.waitUntilStopped() }

    /// Waits until the server has stopped. Occupies one thread in the meantime.
    public func waitUntilStopped() async {
        let waiting = BlockingPool(threads: 1)
        let end: @Sendable () -> Void = { self.waitUntilStopped() }
        _ = await waiting.run { end() }
        waiting.shutdown()
    }

    /// Stops the server, and returns when requests in flight have finished or were cancelled after the grace
    /// period.
    public func stop() async {
        shutdown()
        await waitUntilStopped()
    }

    /// Starts the server and returns when it has stopped.
    /// - Throws: any error that ``start()`` throws.
    public func run() async throws(ServerError) {
        try start()
        await waitUntilStopped()
    }

}
