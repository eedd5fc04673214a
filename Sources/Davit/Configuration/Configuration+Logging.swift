public import DavitLogging

extension Configuration {
    /// The destination and format of the access log.
    public struct AccessLog: Hashable, Sendable {
        /// A file, or standard error.
        public var destination: LogFile.Destination
        /// The format of a line.
        public var format = AccessFormat.combined

        /// Creates an access log; the default format is combined.
        public init(_ destination: LogFile.Destination, format: AccessFormat = .combined) {
            self.destination = destination
            self.format = format
        }
    }

    /// The destination of the audit log, and what happens if it cannot be written.
    public struct Audit: Hashable, Sendable {
        /// A file, syslog or the journal.
        public var destination: AuditLog.Destination
        /// What happens to changes whose records cannot be written.
        public var failurePolicy = AuditLog.FailurePolicy.refuse
        /// When a file is replaced by a new one; nil to let it grow.
        public var rotation: AuditLog.Rotation?

        /// Creates settings of an audit log.
        public init(
            _ destination: AuditLog.Destination, failurePolicy: AuditLog.FailurePolicy = .refuse,
            rotation: AuditLog.Rotation? = nil
        ) {
            self.destination = destination
            self.failurePolicy = failurePolicy
            self.rotation = rotation
        }
    }

    /// Opens the audit log; returns nil if none is configured.
    func openAuditLog(reportingTo log: Log) throws(ServerError) -> AuditLog? {
        guard let audit else { return nil }
        do throws(SystemError) {
            return try AuditLog(
                audit.destination, policy: audit.failurePolicy, rotation: audit.rotation, log: log)
        } catch {
            throw .auditLogNotUsable(audit.destination, error)
        }
    }

    func makeLog() -> Log { logSink.map { Log(level: logLevel, sink: $0) } ?? Log(level: logLevel) }

    /// Opens the access log; returns nil if none is configured.
    func openAccessLog(reportingTo log: Log) throws(ServerError) -> LogFile? {
        guard let accessLog else { return nil }
        do throws(SystemError) {
            return try LogFile(accessLog.destination, log: log)
        } catch {
            throw .accessLogNotUsable(accessLog.destination, error)
        }
    }

    /// Returns the function that logs a response, or nil if responses are not logged.
    func accessReport(_ log: Log, _ file: LogFile?) -> (@Sendable (AccessRecord) -> Void)? {
        guard let file else {
            guard log.isOn(.access) else { return nil }
            return { record in if log.isOn(.access) { log.text(.access, record.line.utf8) } }
        }
        let format = accessLog?.format ?? .combined
        return { record in
            file.append { lines in
                format.append(record, to: &lines)
                lines.append(UInt8(ascii: "\n"))
            }
            if log.isOn(.access) { log.text(.access, record.line.utf8) }
        }
    }
}
