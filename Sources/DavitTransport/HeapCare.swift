internal import DavitSystem

/// Gives memory back to the system after many connections gave up theirs. Belongs to the thread of its loop.
///
/// The C library keeps freed memory, and what a burst of connections took would stay resident for as long as the
/// server lives: records of connections that are still open lie among it.
final class HeapCare: TimerEntry {
    /// So many connections leave enough, some MiB.
    private static let worthwhileCount = 256
    /// Connections often come and go together: one walk through the heap is enough for them.
    private static let delayNanoseconds: Int64 = 2_000_000_000

    private var count = 0
    private var pool: BlockingPool?

    /// A connection was parked or closed.
    /// - Parameter pool: where the heap is walked through, which takes longer than a loop should be held up.
    func connectionGaveUp(on loop: EventLoop, pool: BlockingPool) {
        count += 1
        guard count == Self.worthwhileCount else { return }
        self.pool = pool
        loop.schedule(self, after: Self.delayNanoseconds)
    }

    override func deadlinePassed() {
        count = 0
        pool?.start { ProcessMemory.returnFreeHeap() }
        pool = nil
    }
}
