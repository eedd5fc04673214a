#if canImport(os)
internal import os

/// Writes to the unified log of Apple's systems, which Console shows. The unified log adds the time and
/// level. Texts are logged as public, because they are escaped and contain no more than a log on standard
/// error would.
public struct SystemLogSink: LogSink {
    private let logger: Logger

    /// - Parameters:
    ///   - subsystem: the subsystem of `os.Logger`, usually the app's bundle identifier.
    ///   - category: distinguishes the server from other parts of the app.
    public init(subsystem: String, category: String = "davit") {
        logger = Logger(subsystem: subsystem, category: category)
    }

    public func write(_ entry: LogEntry) {
        logger.log(level: entry.level.systemType, "\(entry.text, privacy: .public)")
    }
}

extension Log.Level {
    /// The corresponding level of the unified log. Messages of level `default` are stored on disk, those of
    /// level `info` only in memory. Errors, warnings and general information must remain available later.
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
