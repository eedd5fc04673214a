internal import Synchronization

/// The ends of the threads of a server, and what follows the last one.
///
/// Who waits for the end may open the same files at once, so nothing of the server may hang on a thread by then: each
/// drops what it holds before it counts, and the last one drops the rest before it says so.
final class ThreadEnds: Sendable {
    typealias Announcement = @Sendable () -> Void

    private let running: Atomic<Int>
    private let last = Mutex<(@Sendable () -> Announcement)?>(nil)

    init(count: Int) { running = Atomic(count) }

    /// - Parameter work: what the last thread does; it returns what is to be said when all of it is dropped.
    func setLast(_ work: @escaping @Sendable () -> Announcement) { last.withLock { $0 = work } }

    /// So many threads did not start. Nothing follows the last one then, if it has ended already.
    /// - Returns: true if no thread runs.
    func remove(_ count: Int) -> Bool {
        guard running.subtract(count, ordering: .acquiringAndReleasing).newValue == 0 else { return false }
        last.withLock { $0 = nil }
        return true
    }

    func threadEnded() {
        guard running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        finish()?()
    }

    private func finish() -> Announcement? { last.withLock { $0.take() }?() }
}
