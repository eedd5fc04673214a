internal import DavitFileStore
internal import DavitSystem
internal import Synchronization

/// A thread that sleeps until something happens in a folder that is watched.
///
/// It keeps the queue of events short while nobody asks: the system drops them when there are too many.
final class WatchThread: Sendable {
    /// How long it rests after each time, so that many changes wake it few times.
    private static let restMilliseconds = 50

    private let watch: FolderWatch
    private let isEnded = Atomic<Bool>(false)
    private let end = Latch(count: 1)

    /// - Parameter body: called on the thread when there are events.
    /// - Throws: if there is no thread to be had.
    init(_ watch: FolderWatch, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        self.watch = watch
        try Thread.start(named: "davit-journal") { [self] in
            defer { end.countDown() }
            while true {
                watch.wait()
                if isEnded.load(ordering: .acquiring) { return }
                body()
                Thread.sleep(milliseconds: Self.restMilliseconds)
            }
        }
    }

    /// Has it end. Returns at once.
    func stop() {
        isEnded.store(true, ordering: .releasing)
        watch.wake()
    }

    /// Blocks until it has ended, after ``stop()``.
    func waitForEnd() { end.wait() }
}
