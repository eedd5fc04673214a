/// A count-down latch: threads can wait until its count is zero.
package final class Latch: Sendable {
    private let monitor: Monitor<Int>

    package init(count: Int) { monitor = Monitor(count) }

    package func countDown() {
        monitor.withLock { $0 -= 1 }
        monitor.broadcast()
    }

    /// Blocks the calling thread until the count is zero.
    package func wait() {
        monitor.wait { $0 <= 0 ? () : nil }
    }
}
