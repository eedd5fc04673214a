public import DavitHTTP
internal import Synchronization

/// A request that was refused because of a limit, for the log.
public struct LimitRefusal: Hashable, Sendable {
    /// Which limit, in a few words.
    public var cause: String
    /// The account of the request; nil without one.
    public var account: String?
    /// The numeric address of the client.
    public var address: String
    /// Refusals for the same cause since the previous line, of any client, that were not logged.
    public var suppressedCount: Int

    /// A refusal; without an account, `account` is nil.
    public init(cause: String, account: String?, address: String, suppressedCount: Int) {
        self.cause = cause
        self.account = account
        self.address = address
        self.suppressedCount = suppressedCount
    }
}

/// Reports refusals because of a limit: the first one of each cause, and then at most one a minute.
///
/// Memory is bounded by the number of causes, which are constants of the program.
public final class LimitLog: Sendable {
    private struct Entry {
        var last: Timestamp
        var suppressedCount = 0
    }

    /// Seconds between two lines for one cause.
    public static let intervalSeconds: Int64 = 60

    private let entries = Mutex<[String: Entry]>([:])
    private let write: @Sendable (LimitRefusal) -> Void

    /// - Parameter write: called for each refusal that is to be logged, on the thread of the caller; must be short.
    public init(write: @escaping @Sendable (LimitRefusal) -> Void) { self.write = write }

    /// Records a refusal, and reports it unless one of the same cause was reported within the last minute.
    ///
    /// - Parameters:
    ///   - cause: which limit; a constant, so that clients cannot add entries.
    ///   - now: the time of the request. After the clock was set back the next refusal is reported.
    public func refused(_ cause: StaticString, account: String?, address: String, now: Timestamp) {
        let name = cause.description
        let suppressedCount = entries.withLock { entries -> Int? in
            guard var entry = entries[name] else {
                entries[name] = Entry(last: now)
                return 0
            }
            guard now < entry.last || now >= entry.last.adding(seconds: Self.intervalSeconds) else {
                entry.suppressedCount += 1
                entries[name] = entry
                return nil
            }
            entries[name] = Entry(last: now)
            return entry.suppressedCount
        }
        guard let suppressedCount else { return }
        write(
            LimitRefusal(cause: name, account: account, address: address, suppressedCount: suppressedCount))
    }
}
