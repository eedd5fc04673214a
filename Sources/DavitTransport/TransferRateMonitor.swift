/// Enforces a minimum transfer rate: in each window of waiting time, a minimum number of bytes must be
/// transferred.
///
/// Only time spent waiting for the peer counts, so that the peer is not penalized for a slow handler or disk.
package struct TransferRateMonitor: Sendable {
    private let window: Int64
    private let bytesPerWindow: Int
    private var waited: Int64 = 0
    private var moved = 0
    private var waitStart: Int64 = 0
    /// The total number of bytes transferred, whether or not they have reached the peer.
    package private(set) var total: Int64 = 0

    /// - Parameter window: the length of a window in nanoseconds.
    package init(window: Int64, bytesPerSecond: Int) {
        self.window = window
        let (product, overflow) = (window / 1_000_000).multipliedReportingOverflow(by: Int64(bytesPerSecond))
        bytesPerWindow = overflow ? .max : Int(product / 1000)
    }

    package mutating func didMove(_ count: Int) {
        moved += count
        total += Int64(count)
    }

    /// Records that bytes counted earlier have reached the peer.
    package mutating func didReachPeer(_ count: Int) { moved += count }

    /// Begins a wait.
    /// - Returns: the time at which the wait must end unless enough bytes are transferred before then.
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
