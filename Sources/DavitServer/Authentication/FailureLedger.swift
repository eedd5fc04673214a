/// Who guessed how often, and how long they have to wait.
///
/// Time is nanoseconds of a clock that never goes back. Names and addresses are kept as hash values, so that what a
/// stranger sends takes no room.
package struct FailureLedger: Sendable {
    /// How the wait grows.
    package struct Pace: Sendable {
        /// So many failures cost nothing; the next one a second, and each further one twice as much.
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

    /// People mistype, and several can share an address.
    package static let ofAddress = Pace(free: 4, limitSeconds: 60)
    /// For guesses that come from many addresses.
    package static let ofAccount = Pace(free: 9, limitSeconds: 30)
    /// A record without a new failure for so long is forgotten.
    package static let memory: Int64 = 600 * second
    package static let addressLimit = 8192
    package static let accountLimit = 4096
    private static let second: Int64 = 1_000_000_000

    private var addresses = AgingTable<Int, Record>(limit: addressLimit)
    private var accounts = AgingTable<Int, Record>(limit: accountLimit)

    package init() {}

    /// How many records there are.
    package var count: Int { addresses.count + accounts.count }

    /// How many seconds an attempt has to wait, at least 1; nil if it may be made now.
    ///
    /// What others did to an account holds up nobody who has not failed himself: whoever knows the password gets in
    /// at once from an address of his own.
    package func wait(address: Int, account: Int, now: Int64) -> Int64? {
        guard let record = addresses[address], now - record.last < Self.memory else { return nil }
        var until = record.blockedUntil
        if let other = accounts[account], now - other.last < Self.memory {
            until = max(until, other.blockedUntil)
        }
        return until > now ? (until - now - 1) / Self.second + 1 : nil
    }

    /// Whether the address has failed and that is not forgotten yet.
    package func hasFailed(address: Int, now: Int64) -> Bool {
        guard let record = addresses[address] else { return false }
        return now - record.last < Self.memory
    }

    /// - Returns: how many seconds the address is held up from now on; 0 if not.
    package mutating func failed(address: Int, account: Int, now: Int64) -> Int64 {
        Self.note(account, in: &accounts, Self.ofAccount, now)
        return Self.note(address, in: &addresses, Self.ofAddress, now)
    }

    @discardableResult
    private static func note(
        _ key: Int, in table: inout AgingTable<Int, Record>, _ pace: Pace, _ now: Int64
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
