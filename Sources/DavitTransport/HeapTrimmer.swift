internal import DavitSystem

/// Returns free memory to the system after many connections were closed or parked. Belongs to its loop's
/// thread.
///
/// The C library keeps freed memory. Without trimming, the memory of a burst of connections would stay
/// resident as long as the server runs, because objects of connections that are still open are scattered
/// among it.
final class HeapTrimmer: TimerEntry {
    /// The number of closed or parked connections after which trimming is worthwhile: they leave a few MiB.
    private static let worthwhileCount = 256
    /// Connections often close together, so one trim after a delay covers them all.
    private static let delayNanoseconds: Int64 = 2_000_000_000

    private var count = 0
    private var pool: BlockingPool?

    /// Records that a connection was closed, or released its memory while idle.
    /// - Parameter pool: the threads on which the heap is trimmed, because trimming takes too long for a
    ///   loop.
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
