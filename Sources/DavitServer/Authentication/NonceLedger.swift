/// Which counts have come with which nonce (RFC 7616 §3.4, `nc`), so that nothing that was overheard can be sent again.
///
/// Only nonces that came back with the right answer to them are here.
package struct NonceLedger: Sendable {
    private struct Record: Sendable {
        /// The hash value of the name.
        var account: Int
        var time: Int64
        var highest: UInt32
        /// Bit n: the count `highest - n` has come.
        var seen: UInt128
    }

    /// How far a count may be behind the highest: requests on several connections overtake each other.
    package static let window: UInt32 = 128
    package static let limit = 4096

    private var records: [UInt64: Record] = [:]
    /// Nonces up to this number have no record any more, and count no more.
    private var forgotten: UInt64 = 0

    package init() {}

    package var count: Int { records.count }

    /// Whether this account has given the right answer to this nonce before.
    package func isKnown(_ number: UInt64, account: Int) -> Bool { records[number]?.account == account }

    /// Takes note of a count.
    ///
    /// - Parameters:
    ///   - number: of the nonce; later ones have higher numbers.
    ///   - time: when the nonce was made.
    /// - Returns: false if the count has come before, or may have, or if the nonce is somebody else's.
    package mutating func take(
        _ count: UInt32, of number: UInt64, time: Int64, account: Int, oldest: Int64
    ) -> Bool {
        guard var record = records[number] else {
            guard number > forgotten else { return false }
            if records.count >= Self.limit { makeRoom(oldest: oldest) }
            records[number] = Record(account: account, time: time, highest: count, seen: 1)
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

    /// Forgets nonces from before `oldest`, and if they are few, a quarter of all.
    private mutating func makeRoom(oldest: Int64) {
        records = records.filter { $0.value.time >= oldest }
        guard records.count > Self.limit * 3 / 4 else { return }
        let gone = records.keys.sorted().prefix(Self.limit / 4)
        for number in gone { records[number] = nil }
        forgotten = max(forgotten, gone.last ?? 0)
    }
}
