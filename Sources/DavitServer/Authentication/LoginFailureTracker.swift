/// Counts failed logins by address and by account, and computes the resulting waits.
///
/// Times are nanoseconds of a monotonic clock. Names and addresses are stored as hash values, so that clients
/// cannot control the memory used.
package struct LoginFailureTracker: Sendable {
    /// How the wait grows with the number of failures.
    package struct Backoff: Sendable {
        /// Number of failures without a wait. The next failure causes a wait of one second, which doubles
        /// with each further failure, up to `limitSeconds`.
        var free: Int
        var limitSeconds: Int64

        package func seconds(after failures: Int) -> Int64 {
            guard failures > free else { return 0 }
            return min(limitSeconds, 1 << Int64(min(failures - free - 1, 30)))
        }
    }

    private struct Record: Sendable {
        var failures = 0
        var last: Int64 = 0
        var blockedUntil: Int64 = 0
    }

    /// The backoff per address. Allows for typing errors and for several users who share an address.
    package static let ofAddress = Backoff(free: 4, limitSeconds: 60)
    /// The backoff per account. Limits guesses distributed over many addresses.
    package static let ofAccount = Backoff(free: 9, limitSeconds: 30)
    /// The time in nanoseconds after which failures are forgotten if no new failure occurs.
    package static let memory: Int64 = 600 * second
    package static let addressLimit = 8192
    package static let accountLimit = 4096
    private static let second: Int64 = 1_000_000_000

    private var addresses = BoundedCache<Int, Record>(limit: addressLimit)
    private var accounts = BoundedCache<Int, Record>(limit: accountLimit)

    package init() {}

    /// Number of records.
    package var count: Int { addresses.count + accounts.count }

    /// Returns the remaining wait in seconds, at least 1; nil if an attempt is allowed now.
    ///
    /// Failures of other clients on the same account never delay an address without failures of its own, so
    /// that a user who knows the password gets in immediately.
    package func wait(address: Int, account: Int, now: Int64) -> Int64? {
        guard let record = addresses[address], now - record.last < Self.memory else { return nil }
        var until = record.blockedUntil
        if let other = accounts[account], now - other.last < Self.memory {
            until = max(until, other.blockedUntil)
        }
        return until > now ? (until - now - 1) / Self.second + 1 : nil
    }

    /// The number of addresses whose passwords are not checked now. O(n).
    package func blockedAddresses(now: Int64) -> Int { addresses.count(where: { $0.blockedUntil > now }) }

    /// Whether the address has failures that are not yet forgotten.
    package func hasFailed(address: Int, now: Int64) -> Bool {
        guard let record = addresses[address] else { return false }
        return now - record.last < Self.memory
    }

    /// Records a failed login.
    /// - Returns: the number of seconds for which the address is blocked from now on because of its own
    ///   failures; 0 if it is not blocked.
    package mutating func failed(address: Int, account: Int, now: Int64) -> Int64 {
        Self.record(account, in: &accounts, Self.ofAccount, now)
        return Self.record(address, in: &addresses, Self.ofAddress, now)
    }

    @discardableResult
    private static func record(
        _ key: Int, in table: inout BoundedCache<Int, Record>, _ pace: Backoff, _ now: Int64
    ) -> Int64 {
        var record = table[key] ?? Record()
        if now - record.last >= memory { record = Record() }
        record.failures += 1
        record.last = now
        let seconds = pace.seconds(after: record.failures)
        record.blockedUntil = max(record.blockedUntil, now + seconds * second)
        table.set(record, for: key)
        return seconds
    }
}
