internal import DavitFileStore
internal import DavitSystem
internal import Synchronization

/// A thread that waits for events in watched folders.
///
/// It keeps the event queue short even without queries, because the system drops events if the queue
/// overflows.
final class WatchThread: Sendable {
    /// The pause after each wake-up, which limits the number of wake-ups caused by frequent changes.
    private static let restMilliseconds = 50

    private let watch: FolderWatch
    private let isStopped = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)
    private let end = Latch(count: 1)

    /// - Parameter body: called on the thread when there are events.
    /// - Throws: an error if the thread cannot be created.
    init(_ watch: FolderWatch, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        self.watch = watch
        try SystemThread.start(named: "davit-journal") { [self] in
            defer {
                isOver.store(true, ordering: .releasing)
                end.countDown()
            }
            while true {
                watch.wait()
                if isStopped.load(ordering: .acquiring) { return }
                body()
                SystemThread.sleep(milliseconds: Self.restMilliseconds)
            }
        }
    }

    /// Stops the thread. Returns immediately.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        watch.wake()
    }

    /// Whether the thread has ended.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Blocks until the thread has ended, after ``stop()``.
    func waitForEnd() { end.wait() }
}
