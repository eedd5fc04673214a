internal import Synchronization

/// Counts the running threads of a server and runs a completion when the last one ends.
///
/// A caller that waits for the end may open the same files immediately, so no thread may hold resources of
/// the server by then: each thread releases its references before it counts down, and the last one releases
/// the rest before it announces the end.
final class ThreadCompletion: Sendable {
    typealias Announcement = @Sendable () -> Void

    private let running: Atomic<Int>
    private let last = Mutex<(@Sendable () -> Announcement)?>(nil)

    init(count: Int) { running = Atomic(count) }

    /// - Parameter work: run by the last thread; it returns the closure to call after everything is released.
    func setLast(_ work: @escaping @Sendable () -> Announcement) { last.withLock { $0 = work } }

    /// Counts another thread. Called by one that runs, before the start.
    func add(_ count: Int) { running.add(count, ordering: .relaxed) }

    /// Subtracts threads that did not start. If no thread runs, the completion is dropped.
    /// - Returns: true if no thread is running.
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
