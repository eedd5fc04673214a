internal import DavitSystem

/// A destination of a ``Log``.
public protocol LogSink: Sendable {
    /// Writes an entry whose level is enabled. Called on any thread, including event loops: it must not
    /// block.
    func write(_ entry: LogEntry)
}

/// A sink that calls a closure; see ``LogSink/custom(_:)``.
public struct ClosureSink: LogSink {
    private let take: @Sendable (LogEntry) -> Void

    /// Creates a sink that calls `take` for each entry, on the thread that logs it.
    public init(_ take: @escaping @Sendable (LogEntry) -> Void) { self.take = take }

    public func write(_ entry: LogEntry) { take(entry) }
}

extension LogSink where Self == ClosureSink {
    /// Returns a sink that calls a closure: `configuration.logSink = .custom { entry in … }`.
    public static func custom(_ take: @escaping @Sendable (LogEntry) -> Void) -> ClosureSink {
        ClosureSink(take)
    }
}

/// Writes to standard error. Each line begins with the time or, if systemd's journal reads standard error,
/// with the priority. Colors are never used.
///
/// Each line is a single `write(2)`, so that lines of different threads are not interleaved.
public struct StandardErrorSink: LogSink {
    private let isJournal: Bool

    /// Checks once whether systemd's journal reads standard error.
    public init() { isJournal = Journal.readsStandardError }

    public func write(_ entry: LogEntry) {
        // A failure to write the log cannot be reported anywhere.
        StandardStreams.writeErrorOnce(isJournal ? entry.journalLine : entry.line)
    }
}
