/// Tracks the counts received with each nonce (RFC 7616 §3.4, `nc`), to prevent replay.
///
/// Contains only nonces for which a correct response was received.
package struct NonceCountTable: Sendable {
    private struct Record: Sendable {
        /// The hash value of the account name.
        var account: Int
        /// The number of the credential of the first response.
        var credential: UInt64
        var time: Int64
        var highest: UInt32
        /// Bit n is set if the count `highest - n` was received.
        var seen: UInt128
    }

    /// Counts are accepted if they are less than this far below the highest, because requests on several
    /// connections may arrive out of order.
    package static let window: UInt32 = 128
    package static let limit = 4096

    private var records: [UInt64: Record] = [:]
    /// Nonces up to this number that have no record are rejected, because their records may have been
    /// discarded.
    private var forgotten: UInt64 = 0

    package init() {}

    package var count: Int { records.count }

    /// Whether this account has already used this nonce with a correct response.
    package func isKnown(_ number: UInt64, account: Int) -> Bool { records[number]?.account == account }

    /// Returns the number of the credential that was used first with a nonce; nil if none was.
    package func credential(of number: UInt64) -> UInt64? { records[number]?.credential }

    /// Records a count.
    ///
    /// - Parameters:
    ///   - number: the number of the nonce; later nonces have higher numbers.
    ///   - time: when the nonce was created.
    ///   - oldest: the earliest creation time of valid nonces; records of earlier ones may be removed.
    /// - Returns: false if the count was or may have been used before, or if the nonce belongs to another
    ///   account.
    package mutating func take(
        _ count: UInt32, of number: UInt64, time: Int64, account: Int, credential: UInt64 = 0, oldest: Int64
    ) -> Bool {
        guard var record = records[number] else {
            guard number > forgotten else { return false }
            if records.count >= Self.limit { makeRoom(oldest: oldest) }
            records[number] = Record(
                account: account, credential: credential, time: time, highest: count, seen: 1)
            return true
        }
        guard record.account == account else { return false }
        if count > record.highest {
            let distance = count - record.highest
            record.seen = distance < Self.window ? record.seen << UInt128(distance) | 1 : 1
            record.highest = count
        } else {
            let distance = record.highest - count
            let bit = UInt128(1) << UInt128(distance)
            guard distance < Self.window, record.seen & bit == 0 else { return false }
            record.seen |= bit
        }
        records[number] = record
        return true
    }

    /// Removes nonces created before `oldest`. If more than three quarters of the limit remain, also removes
    /// the earliest of them, a quarter of the limit.
    private mutating func makeRoom(oldest: Int64) {
        records = records.filter { $0.value.time >= oldest }
        guard records.count > Self.limit * 3 / 4 else { return }
        let gone = records.keys.sorted().prefix(Self.limit / 4)
        for number in gone { records[number] = nil }
        forgotten = max(forgotten, gone.last ?? 0)
    }
}
