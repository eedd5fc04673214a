internal import Synchronization

/// The bytes per second that a client may transfer in one direction, shared by all its requests (a generic cell rate algorithm).
///
/// Each piece is charged when it has been transferred, and the next one waits until the earlier pieces have taken the time that
/// they need at the rate. After a second without transfers, the bytes of one second need not wait.
package final class TransferRate: Sendable {
    private static let burstNanoseconds: Int64 = 1_000_000_000

    package let bytesPerSecond: Int
    /// The time at which all bytes charged so far have taken the time that they need.
    private let end = Atomic<Int64>(.min)

    /// - Parameter bytesPerSecond: at least 1.
    package init(bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

    /// Charges transferred bytes.
    /// - Parameter now: nanoseconds of a monotonic clock.
    package func charge(_ count: Int, now: Int64) {
        guard count > 0 else { return }
        let nanoseconds = Double(count) / Double(bytesPerSecond) * 1e9
        var current = end.load(ordering: .relaxed)
        while true {
            let start = max(current, now - Self.burstNanoseconds)
            let next = Int64(min(Double(start) + nanoseconds, 9e18))
            let (isDone, found) = end.compareExchange(expected: current, desired: next, ordering: .relaxed)
            if isDone { return }
            current = found
        }
    }

    /// The time from which the next piece may be transferred; in the past if it need not wait.
    package var readyTime: Int64 { end.load(ordering: .relaxed) }

    /// Whether the rate behaves like a new one, because enough time has passed.
    package func isUnused(now: Int64) -> Bool { readyTime <= now - Self.burstNanoseconds }
}

/// The rates at which the content of one request may be transferred. Requests of the same client share the rates.
package final class TransferPacer: Sendable {
    /// The smallest piece in which content is transferred, in bytes.
    private static let leastPieceBytes = 16 * 1024
    /// How many pieces are transferred in a second, at rates that permit larger pieces.
    private static let piecesPerSecond = 8

    /// The rates of the client: those of its account and of its network, as far as they are limited.
    private let sending: [TransferRate]
    private let receiving: [TransferRate]
    /// The size of the pieces in which content is transferred, in bytes.
    package let pieceBytes: Int

    /// - Parameters:
    ///   - sending: the rates for content of responses.
    ///   - receiving: the rates for content of requests.
    package init(sending: [TransferRate], receiving: [TransferRate]) {
        (self.sending, self.receiving) = (sending, receiving)
        let lowest = (sending + receiving).map(\.bytesPerSecond).min() ?? .max
        pieceBytes = max(Self.leastPieceBytes, lowest / Self.piecesPerSecond)
    }

    package func didSend(_ count: Int, now: Int64) { for rate in sending { rate.charge(count, now: now) } }
    package func didReceive(_ count: Int, now: Int64) {
        for rate in receiving { rate.charge(count, now: now) }
    }

    /// The time from which content may be sent.
    package var sendingTime: Int64 { sending.reduce(.min) { max($0, $1.readyTime) } }
    /// The time from which content may be received.
    package var receivingTime: Int64 { receiving.reduce(.min) { max($0, $1.readyTime) } }
}
