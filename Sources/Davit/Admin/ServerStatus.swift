internal import DavitHTTP
internal import DavitLogging
internal import DavitMetrics
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

/// Determines the health and the metrics of a server, for the admin listener, `davit status` and the application.
final class ServerStatus: Sendable {
    /// How long the event loops may take to respond.
    private static let timeoutMilliseconds: Int32 = 1000

    let http: HTTPServer
    private let lifecycle: LifecycleController
    private let shares: [OpenShare]
    private let authentication: Authentication?
    private let limits: ClientLimits
    private let auditLog: AuditLog?
    private let events: EventDelivery?
    private let publicPort: PublicPort?
    /// Returns the period in which all certificates are valid; nil without TLS.
    private let certificateValidity: @Sendable () -> ClosedRange<Timestamp>?
    /// Metrics of the application.
    private let others: (@Sendable () -> [Metric])?
    /// The version of davit.
    private let version: String

    init(
        _ http: HTTPServer, _ lifecycle: LifecycleController, _ shares: [OpenShare],
        _ authentication: Authentication?, _ limits: ClientLimits, _ auditLog: AuditLog?,
        _ events: EventDelivery?, _ publicPort: PublicPort?,
        certificateValidity: @escaping @Sendable () -> ClosedRange<Timestamp>?,
        others: (@Sendable () -> [Metric])?, version: String
    ) {
        self.http = http
        self.lifecycle = lifecycle
        self.shares = shares
        self.authentication = authentication
        self.limits = limits
        self.auditLog = auditLog
        self.events = events
        self.publicPort = publicPort
        self.certificateValidity = certificateValidity
        self.others = others
        self.version = version
    }

    /// Whether the server can serve requests. Blocks.
    func checks() -> [HealthCheck] {
        var checks = [
            HealthCheck(
                "listening", problem: lifecycle.isListening ? nil : "the server does not accept connections")
        ]
        if !shares.isEmpty { checks += OpenShare.healthChecks(of: shares) }
        if let auditLog {
            checks.append(
                HealthCheck(
                    "audit-log",
                    problem: auditLog.statistics.isFailing ? "the audit log cannot be written" : nil))
        }
        if let validity = certificateValidity() {
            checks.append(.certificate(validity, now: Timestamp(nanoseconds: Clock.wallNow())))
        }
        return checks
    }

    /// Whether the event loops run, and all other checks. Blocks.
    func allChecks() -> [HealthCheck] { [LivenessCheck.check(poll())] + checks() }

    private func poll() -> LoopPoll.Outcome {
        do throws(SystemError) {
            return try http.pollLoops(milliseconds: Self.timeoutMilliseconds)
        } catch {
            return LoopPoll.Outcome(loops: 0, responding: 0)
        }
    }

    /// All metrics. Blocks.
    func metrics() -> [Metric] {
        let outcome = poll()
        var metrics: [Metric] = []
        if let statistics = http.statistics { metrics += ServerMetrics.transport(statistics, outcome) }
        if !shares.isEmpty {
            metrics += ServerMetrics.state(
                OpenShare.statistics(of: shares), freeBytes: OpenShare.freeBytes(of: shares),
                journalBacklog: OpenShare.journalBacklog(of: shares))
        }
        if let load = authentication?.load { metrics += ServerMetrics.authentication(load) }
        metrics += limits.metrics
        if let audit = auditLog?.statistics { metrics += ServerMetrics.audit(audit) }
        if let events { metrics += events.metrics }
        if let publicPort { metrics.append(publicPort.metric) }
        if let validity = certificateValidity() {
            metrics.append(
                Metric(
                    "davit_certificate_expiry_timestamp_seconds", .gauge, unit: "seconds",
                    "End of the validity of the certificate that expires first, since 1970.",
                    value: Double(validity.upperBound.seconds)))
        }
        metrics.append(ServerMetrics.checks([LivenessCheck.check(outcome)] + checks()))
        return metrics + ServerMetrics.process(.current(), version: version) + (others?() ?? [])
    }

    /// A summary for people, as pairs of a name and a text. Blocks; call ``allChecks()`` first.
    func summary() -> [(name: String, text: String)] {
        var lines: [(String, String)] = []
        if let statistics = http.statistics {
            let counts = statistics.requests
            let kinds = 0..<HTTPMethod.kindCount
            let all = RequestCounts.Outcome.allCases.map { outcome in
                kinds.reduce(0) { $0 + counts.requests(kind: $1, outcome) }
            }
            if all.contains(where: { $0 > 0 }) {
                let failed = all[RequestCounts.Outcome.serverError.rawValue]
                lines.append(("requests", "\(all.reduce(0, +)), \(failed) with a server error"))
            }
            let connections = statistics.connections
            lines.append(("connections", "\(connections.open) open, \(connections.accepted) accepted"))
        }
        if !shares.isEmpty {
            let state = OpenShare.statistics(of: shares)
            lines.append(("locks", "\(state.locks)"))
            lines.append(("open uploads", "\(state.openUploads), \(state.openUploadBytes) bytes"))
            lines.append(("trash", "\(state.trashEntries) entries, \(state.trashBytes) bytes"))
            if let free = OpenShare.freeBytes(of: shares) { lines.append(("free space", "\(free) bytes")) }
        }
        if let load = authentication?.load {
            lines.append(("passwords waiting", "\(load.waiting)"))
            lines.append(("throttled addresses", "\(load.throttledAddresses)"))
        }
        lines += limits.summary
        if let audit = auditLog?.statistics {
            lines.append(("audit log", "\(audit.records) records, \(audit.lost) lost"))
        }
        if let events { lines.append(events.summary) }
        if let publicPort { lines.append(publicPort.summary) }
        if let validity = certificateValidity() {
            let days =
                (validity.upperBound.seconds - Timestamp(nanoseconds: Clock.wallNow()).seconds) / 86_400
            lines.append(("certificate", "\(days) days left"))
        }
        return lines
    }
}
