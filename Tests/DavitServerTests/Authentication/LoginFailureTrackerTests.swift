import DavitServer
import DavitTesting
import Testing

private let second: Int64 = 1_000_000_000

struct LoginFailureTrackerTests {
    static let waits: [(failures: Int, seconds: Int64)] = [
        (0, 0), (1, 0), (4, 0), (5, 1), (6, 2), (7, 4), (10, 32), (11, 60), (12, 60), (1_000_000, 60),
    ]

    @Test(arguments: waits)
    func delayGrowsToALimit(failures: Int, seconds: Int64) {
        #expect(LoginFailureTracker.ofAddress.seconds(after: failures) == seconds)
    }

    @Test func addressWaitsForTheReportedTime() {
        var ledger = LoginFailureTracker()
        for failure in 1...4 {
            #expect(ledger.failed(address: 1, account: failure, now: 0) == 0)
            #expect(ledger.wait(address: 1, account: failure, now: 0) == nil)
        }
        #expect(ledger.failed(address: 1, account: 9, now: 0) == 1)
        #expect(ledger.wait(address: 1, account: 5, now: 0) == 1)
        #expect(ledger.wait(address: 1, account: 5, now: second - 1) == 1)
        #expect(ledger.wait(address: 1, account: 5, now: second) == nil)
        #expect(ledger.blockedAddresses(now: second - 1) == 1)
        #expect(ledger.blockedAddresses(now: second) == 0)
        // Other addresses do not wait.
        #expect(ledger.wait(address: 2, account: 9, now: 0) == nil)
    }

    @Test func failuresExpire() {
        var ledger = LoginFailureTracker()
        for _ in 1...20 { _ = ledger.failed(address: 1, account: 1, now: 0) }
        #expect(ledger.wait(address: 1, account: 1, now: 59 * second) == 1)
        #expect(ledger.failed(address: 1, account: 1, now: LoginFailureTracker.memory - 1) == 60)
        #expect(ledger.failed(address: 1, account: 1, now: 3 * LoginFailureTracker.memory) == 0)
    }

    /// Guesses at one account from many addresses delay only addresses with failures.
    @Test func accountIsDelayedOnlyForAddressesWithFailures() {
        var ledger = LoginFailureTracker()
        for address in 1...10 { _ = ledger.failed(address: address, account: 7, now: 0) }
        #expect(ledger.wait(address: 10, account: 7, now: 0) == 1)
        #expect(ledger.wait(address: 10, account: 8, now: 0) == nil)
        #expect(ledger.wait(address: 11, account: 7, now: 0) == nil)
        for address in 12...1000 { _ = ledger.failed(address: address, account: 7, now: 0) }
        #expect(ledger.wait(address: 999, account: 7, now: 0) == 30)
        #expect(ledger.wait(address: 11, account: 7, now: 0) == nil)
    }

    /// A client with many addresses can only fill tables of limited size, and cannot clear its own failures.
    @Test func tablesAreBounded() {
        var ledger = LoginFailureTracker()
        for address in 0..<(4 * LoginFailureTracker.addressLimit) {
            _ = ledger.failed(address: address, account: address, now: 0)
            if address % 1000 == 0 {
                for _ in 0..<6 { _ = ledger.failed(address: -1, account: -1, now: 0) }
            }
        }
        #expect(ledger.count <= LoginFailureTracker.addressLimit + LoginFailureTracker.accountLimit)
        #expect(ledger.wait(address: -1, account: 0, now: 0) == 60)
    }

    /// One address above the limit evicts the oldest addresses.
    @Test func oldestAddressesAreEvicted() {
        var ledger = LoginFailureTracker()
        for address in 0..<LoginFailureTracker.addressLimit {
            _ = ledger.failed(address: address, account: -1, now: 0)
        }
        #expect(ledger.count == LoginFailureTracker.addressLimit + 1)
        #expect(ledger.hasFailed(address: 0, now: 0))
        _ = ledger.failed(address: LoginFailureTracker.addressLimit, account: -1, now: 0)
        #expect(!ledger.hasFailed(address: 0, now: 0))
        #expect(ledger.hasFailed(address: LoginFailureTracker.addressLimit - 1, now: 0))
    }

    /// The same applies to delayed accounts.
    @Test func oldestAccountsAreEvicted() {
        var ledger = LoginFailureTracker()
        for address in 1...10 { _ = ledger.failed(address: address, account: -1, now: 0) }
        for account in 1..<LoginFailureTracker.accountLimit {
            _ = ledger.failed(address: 1_000 + account, account: account, now: 0)
        }
        #expect(ledger.wait(address: 10, account: -1, now: 0) == 1)
        _ = ledger.failed(address: 100_000, account: 100_000, now: 0)
        #expect(ledger.wait(address: 10, account: -1, now: 0) == nil)
    }
}

/// RFC 7616 §3.4, `nc`.
struct NonceCountTableTests {
    static func take(
        _ ledger: inout NonceCountTable, _ count: UInt32, of number: UInt64 = 1, account: Int = 1
    )
        -> Bool
    {
        ledger.take(count, of: number, time: Int64(number), account: account, oldest: 0)
    }

    @Test func everyCountIsAcceptedOnce() {
        var ledger = NonceCountTable()
        for count: UInt32 in [1, 2, 3, 5, 4, 100, 99, 6, 300, 301, 299, 200] {
            #expect(Self.take(&ledger, count), "\(count)")
            #expect(!Self.take(&ledger, count), "\(count) again")
        }
    }

    static let counts: [(first: UInt32, then: UInt32, isTaken: Bool)] = [
        (200, 73, true), (200, 72, false), (129, 1, false), (128, 1, true), (1, 1, false),
        (1, .max, true), (.max, .max - 127, true), (.max, .max - 128, false), (.max, 1, false),
    ]

    /// Counts that are too old may have been used before.
    @Test(arguments: counts)
    func oldCountsAreRefused(first: UInt32, then: UInt32, isTaken: Bool) {
        var ledger = NonceCountTable()
        #expect(Self.take(&ledger, first))
        #expect(Self.take(&ledger, then) == isTaken)
    }

    /// Compares with a set of all accepted counts.
    @Test func acceptedCountsMatchASetOfAllCounts() {
        var generator = SeededGenerator(seed: 7616)
        for _ in 0..<50 {
            var ledger = NonceCountTable()
            var seen: Set<UInt32> = []
            var highest: UInt32 = 0
            for _ in 0..<400 {
                let count = UInt32.random(
                    in: max(1, highest > 140 ? highest - 140 : 1)...(highest + 3), using: &generator)
                let isNew =
                    !seen.contains(count) && (count > highest || highest - count < NonceCountTable.window)
                #expect(Self.take(&ledger, count) == isNew)
                if isNew { seen.insert(count) }
                highest = max(highest, isNew ? count : 0)
            }
        }
    }

    @Test func nonceBelongsToOneAccount() {
        var ledger = NonceCountTable()
        #expect(Self.take(&ledger, 1, account: 1))
        #expect(!Self.take(&ledger, 2, account: 2))
        #expect(ledger.isKnown(1, account: 1))
        #expect(!ledger.isKnown(1, account: 2))
        #expect(!ledger.isKnown(2, account: 1))
    }

    /// Discarded nonces are refused and never accepted again.
    @Test func boundedTableNeverAcceptsAReplay() {
        var ledger = NonceCountTable()
        let numbers = 1...UInt64(3 * NonceCountTable.limit)
        for number in numbers { #expect(Self.take(&ledger, 1, of: number)) }
        #expect(ledger.count <= NonceCountTable.limit)
        for number in numbers { #expect(!Self.take(&ledger, 1, of: number)) }
        #expect(Self.take(&ledger, 2, of: numbers.upperBound))
    }

    /// One nonce above the limit evicts the oldest quarter.
    @Test func oldestQuarterIsEvicted() {
        var ledger = NonceCountTable()
        let limit = UInt64(NonceCountTable.limit)
        for number in 1...limit { #expect(Self.take(&ledger, 1, of: number)) }
        #expect(ledger.count == NonceCountTable.limit)
        #expect(ledger.isKnown(1, account: 1))
        #expect(Self.take(&ledger, 1, of: limit + 1))
        #expect(!ledger.isKnown(limit / 4, account: 1))
        #expect(ledger.isKnown(limit / 4 + 1, account: 1))
    }
}

/// A cache that evicts its oldest entries when it is full.
struct BoundedCacheTests {
    @Test(arguments: [2, 100, Authentication.provenLimit])
    func oldestHalfIsEvicted(limit: Int) {
        var table = BoundedCache<Int, Bool>(limit: limit)
        for key in 0..<limit { table.set(true, for: key) }
        #expect(table.count == limit)
        #expect(table[0] == true)
        table.set(true, for: limit)
        #expect(table.count == limit / 2 + 1)
        #expect(table[limit / 2 - 1] == nil)
        #expect(table[limit / 2] == true)
    }
}
