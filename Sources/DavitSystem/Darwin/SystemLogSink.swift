#if canImport(os)
internal import os

/// The log of Apple's systems, which Console shows. Has a clock and levels of its own; texts are public, because
/// they are escaped and hold what a log on standard error would.
public struct SystemLogSink: LogSink {
    private let logger: Logger

    /// - Parameters:
    ///   - subsystem: as `os.Logger` has it: the app's bundle identifier.
    ///   - category: names the server among the app's other parts.
    public init(subsystem: String, category: String = "davit") {
        logger = Logger(subsystem: subsystem, category: category)
    }

    public func write(_ entry: LogEntry) {
        logger.log(level: entry.level.systemType, "\(entry.text, privacy: .public)")
    }
}

extension Log.Level {
    /// `default` is kept on disk, `info` in memory only: what people look for afterwards is the former.
    fileprivate var systemType: OSLogType {
        switch self {
        case .error: .error
        case .warning, .info: .default
        case .access, .verbose: .info
        case .debug: .debug
        }
    }
}
#endif
