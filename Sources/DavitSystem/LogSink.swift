/// Where a ``Log`` goes.
public protocol LogSink: Sendable {
    /// Takes one entry, whose level is on. Called on any thread, on event loops too: it must not wait.
    func write(_ entry: LogEntry)
}

/// A sink that is a closure; ``LogSink/custom(_:)`` makes it.
public struct ClosureSink: LogSink {
    private let take: @Sendable (LogEntry) -> Void

    /// Calls `take` for each entry, on the thread that wrote it.
    public init(_ take: @escaping @Sendable (LogEntry) -> Void) { self.take = take }

    public func write(_ entry: LogEntry) { take(entry) }
}

extension LogSink where Self == ClosureSink {
    /// `configuration.logSink = .custom { entry in … }`
    public static func custom(_ take: @escaping @Sendable (LogEntry) -> Void) -> ClosureSink {
        ClosureSink(take)
    }
}

/// Standard error: a line that begins with the time or, where systemd's journal reads it, with the priority. Never
/// with colours.
///
/// One line is one `write(2)`, so that lines of several threads do not mix.
public struct StandardErrorSink: LogSink {
    private let isJournal: Bool

    /// Looks once whether systemd's journal reads standard error.
    public init() { isJournal = Journal.readsStandardError }

    public func write(_ entry: LogEntry) {
        // A log that cannot be written has nowhere to say so.
        StandardStreams.writeErrorOnce(isJournal ? entry.journalLine : entry.line)
    }
}
