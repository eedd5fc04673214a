public import DavitServer
public import DavitSystem

extension Configuration {
    /// Where the lines of the access log go, and how they look.
    public struct AccessLog: Hashable, Sendable {
        /// A file, or standard error.
        public var destination: LogFile.Destination
        /// How a line looks.
        public var format = AccessFormat.combined

        /// Combined lines unless you say otherwise.
        public init(_ destination: LogFile.Destination, format: AccessFormat = .combined) {
            self.destination = destination
            self.format = format
        }
    }

    func makeLog() -> Log { logSink.map { Log(level: logLevel, sink: $0) } ?? Log(level: logLevel) }

    /// Nil if there is to be none.
    func openAccessLog(reportingTo log: Log) throws(ServerError) -> LogFile? {
        guard let accessLog else { return nil }
        do throws(SystemError) {
            return try LogFile(accessLog.destination, log: log)
        } catch {
            throw .accessLogNotUsable(accessLog.destination, error)
        }
    }

    /// What is done for each response; nil if that is nothing.
    func accessReport(_ log: Log, _ file: LogFile?) -> (@Sendable (AccessRecord) -> Void)? {
        let isLogged = log.isOn(.access)
        guard let file else {
            guard isLogged else { return nil }
            return { record in log.text(.access, record.line.utf8) }
        }
        let format = accessLog?.format ?? .combined
        return { record in
            file.append { lines in
                format.append(record, to: &lines)
                lines.append(UInt8(ascii: "\n"))
            }
            if isLogged { log.text(.access, record.line.utf8) }
        }
    }
}
