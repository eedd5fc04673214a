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
