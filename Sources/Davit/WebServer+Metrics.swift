internal import DavitControl
internal import DavitHTTP
internal import DavitLogging
public import DavitMetrics
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

extension WebServer {
    /// Reads the metrics of the server and of the application, as the admin listener returns them at `/metrics`.
    ///
    /// Requests are counted only if ``Configuration/collectsMetrics`` is set or there is an admin listener. The server
    /// must not be used by the application's own ``Configuration/metrics``.
    public func metrics() async -> [Metric] {
        let status = status
        return await Self.blocking { status.metrics() }
    }

    /// Runs the checks of the server's health, as the admin listener returns them at `/livez` and `/readyz`.
    public func healthChecks() async -> [HealthCheck] {
        let status = status
        return await Self.blocking { status.allChecks() }
    }

    private static func blocking<R: Sendable>(_ work: @escaping @Sendable () -> [R]) async -> [R] {
        let thread = BlockingPool(threads: 1)
        defer { thread.shutdown() }
        return await thread.run(sendable: work) ?? []
    }
}

extension Configuration {
    /// Creates the status of a server, and connects it with the control sockets of its shares.
    func status(
        of http: HTTPServer, _ lifecycle: LifecycleController, _ authentication: Authentication?,
        _ limits: ClientLimits, _ auditLog: AuditLog?, _ events: EventDelivery?, _ publicPort: PublicPort?,
        in environment: ServerEnvironment,
        certificateValidity: @escaping @Sendable () -> ClosedRange<Timestamp>?
    ) -> ServerStatus {
        var shares: [OpenShare] = []
        environment.forEachLifecycleObserver { if let share = $0 as? OpenShare { shares.append(share) } }
        let status = ServerStatus(
            http, lifecycle, shares, authentication, limits, auditLog, events, publicPort,
            certificateValidity: certificateValidity,
            others: metrics, version: DavitVersion.text)
        for share in shares {
            share.respondToStatus { [weak status] in
                guard let status else { return .refused(reason: "the server is not running") }
                let checks = status.allChecks().map { StatusLine.check(name: $0.name, problem: $0.problem) }
                let values = status.summary().map { StatusLine.value(name: $0.name, text: $0.text) }
                return .lines((checks + values).map(\.text))
            }
        }
        return status
    }
}
