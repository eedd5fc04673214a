internal import DavitAccounts
internal import DavitHTTP
internal import DavitLogging
internal import DavitPage
internal import DavitServer
internal import DavitSystem

/// What requests pass through before they reach the application, with the accounts that it asks for.
struct ServerFront {
    let handler: any Handler
    /// Nil without accounts.
    let authentication: Authentication?
    /// The database of accounts; nil if there is none.
    let directory: AccountDirectory?
    /// Records uses of app passwords in ``directory``.
    let appPasswordUses: AppPasswordUses?
    #if TLS
    /// Nil if browsers cannot sign in with a form.
    let accountEndpoint: AccountEndpoint?
    #endif

    /// - Parameters:
    ///   - fields: what the application announces in responses to OPTIONS.
    ///   - isShare: whether the application is one WebDAV share, without routes.
    init(
        of application: any Handler, announcing fields: HTTPFields, isShare: Bool,
        _ configuration: Configuration, in environment: ServerEnvironment, _ limits: ClientLimits,
        _ pool: BlockingPool, _ auditLog: AuditLog?, _ log: Log
    ) throws(ServerError) {
        directory = try environment.accountDirectory(for: configuration.authentication)
        appPasswordUses = directory.map { AppPasswordUses($0, log: log) }
        if let appPasswordUses { environment.addLifecycleObserver(appPasswordUses) }
        let didFail: @Sendable (String) -> Void = { limits.bans.recordFailure(of: $0) }
        #if TLS
        let endpoint = try configuration.makeAccountEndpoint(with: directory, in: environment)
        accountEndpoint = endpoint
        authentication = try configuration.makeAuthentication(
            with: directory, announcing: fields, pool, log, auditLog, appPasswordUses,
            asking: endpoint.map { [$0] } ?? [], isShare: isShare, didFail: didFail)
        let pages = authentication.flatMap { endpoint?.pages(for: $0) }
        handler = try configuration.front(
            of: pages?.inFront(of: application) ?? application, behind: authentication, limits)
        if let authentication {
            environment.use(authentication, endpoint?.sessions)
            try endpoint?.loadSessions(for: authentication)
        }
        #else
        if configuration.signInProvider != nil { throw .noTLS }
        authentication = try configuration.makeAuthentication(
            with: directory, announcing: fields, pool, log, auditLog, appPasswordUses, isShare: isShare,
            didFail: didFail)
        handler = try configuration.front(of: application, behind: authentication, limits)
        if let authentication { environment.use(authentication, nil) }
        #endif
    }
}
