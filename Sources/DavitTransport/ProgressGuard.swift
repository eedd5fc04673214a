/// Says until when a transfer may wait: in each window of waiting, so many bytes must have moved.
///
/// Only the time in which bytes were waited for counts, so that a slow handler or disk is not held against
/// the peer.
package struct ProgressGuard: Sendable {
    private let window: Int64
    private let bytesPerWindow: Int
    private var waited: Int64 = 0
    private var moved = 0
    private var waitStart: Int64 = 0
    /// All bytes that were moved, whether or not they have reached the peer.
    package private(set) var total: Int64 = 0

    /// - Parameter window: nanoseconds.
    package init(window: Int64, bytesPerSecond: Int) {
        self.window = window
        let (product, overflow) = (window / 1_000_000).multipliedReportingOverflow(by: Int64(bytesPerSecond))
        bytesPerWindow = overflow ? .max : Int(product / 1000)
    }

    package mutating func didMove(_ count: Int) {
        moved += count
        total += Int64(count)
    }

    /// Bytes that were moved earlier have come closer to the peer.
    package mutating func didReachPeer(_ count: Int) { moved += count }

    /// A wait begins.
    /// - Returns: when it has lasted too long, unless something moves.
    package mutating func beginWait(now: Int64) -> Int64 {
        if moved >= bytesPerWindow { reset() }
        waitStart = now
        return now + window - waited
    }

    package mutating func endWait(now: Int64) { waited += max(0, now - waitStart) }

    private mutating func reset() {
        moved = 0
        waited = 0
    }
}
