public import DavitHTTP
internal import Synchronization

/// A log entry for a request that was refused because of a limit.
public struct LimitRefusal: Hashable, Sendable {
    /// A short description of the limited quantity, such as "number of locks".
    public var cause: String
    /// The account of the request; nil if unauthenticated.
    public var account: String?
    /// The numeric address of the client.
    public var address: String
    /// The number of refusals for this cause, from all clients, that were not logged since the previous
    /// entry.
    public var suppressedCount: Int

    /// Creates an entry. `account` is nil for an unauthenticated request.
    public init(cause: String, account: String?, address: String, suppressedCount: Int) {
        self.cause = cause
        self.account = account
        self.address = address
        self.suppressedCount = suppressedCount
    }
}

/// Reports requests refused because of a limit: the first refusal for each cause, then at most one per
/// minute.
///
/// Memory use is bounded by the number of causes, which are compile-time constants.
public final class LimitLog: Sendable {
    private struct Entry {
        var last: Timestamp
        var suppressedCount = 0
    }

    /// Minimum seconds between two entries for the same cause.
    public static let intervalSeconds: Int64 = 60

    private let entries = Mutex<[String: Entry]>([:])
    private let write: @Sendable (LimitRefusal) -> Void

    /// - Parameter write: called for each entry to log, on the calling thread; must return quickly.
    public init(write: @escaping @Sendable (LimitRefusal) -> Void) { self.write = write }

    /// Records a refusal, and reports it unless one for the same cause was reported within the last minute.
    ///
    /// - Parameters:
    ///   - cause: the limited quantity; a constant, so that clients cannot add entries.
    ///   - now: the time of the request. If the clock was set back, the next refusal is reported.
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
