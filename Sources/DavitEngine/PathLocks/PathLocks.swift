internal import Synchronization

/// Shared and exclusive locks on paths and everything below them, held while changes run.
///
/// A set of requests is granted when none of them conflicts with an earlier request, held or waiting: first
/// come, first served, without starvation. All locks of a set are granted together, so that two sets cannot
/// deadlock. Waiting does not block a thread.
///
/// Acquiring a lock without waiting locks a mutex once and takes time linear in the number of path segments.
package final class PathLocks: Sendable {
    private struct State {
        var table = PathLockTable()
        var continuations: [UInt64: CheckedContinuation<Bool, Never>] = [:]

        /// - Returns: The continuations to resume after the mutex is released. A waiter that has not
        ///   registered its continuation yet checks the table instead.
        mutating func leave(_ ticket: UInt64) -> [CheckedContinuation<Bool, Never>] {
            table.leave(ticket).compactMap { continuations.removeValue(forKey: $0) }
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits until all `requests` are granted. They may overlap each other.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while waiting; its requests are then withdrawn.
    package func acquire(_ requests: [PathLockRequest]) async throws(CancellationError) -> PathLock {
        let (ticket, isGranted) = state.withLock { $0.table.enter(requests) }
        let pathLock = PathLock(ticket: ticket, pathLocks: self)
        if isGranted { return pathLock }
        let isHeld = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(for: ticket, $0) }
        } onCancel: {
            cancel(ticket)
        }
        guard isHeld else { throw CancellationError() }
        return pathLock
    }

    /// Resumes `continuation` with true when the locks are granted, with false if the wait is cancelled.
    private func wait(for ticket: UInt64, _ continuation: CheckedContinuation<Bool, Never>) {
        let known: Bool? = state.withLock { state in
            switch state.table.isGranted(ticket) {
            case true?: return true
            case nil: return false
            case false?:
                state.continuations[ticket] = continuation
                return nil
            }
        }
        if let known { continuation.resume(returning: known) }
    }

    /// Withdraws a set that is waiting. Does nothing if its locks have already been granted.
    private func cancel(_ ticket: UInt64) {
        let (own, granted) = state.withLock { state in
            guard state.table.isGranted(ticket) == false else {
                return (nil as CheckedContinuation<Bool, Never>?, [CheckedContinuation<Bool, Never>]())
            }
            return (state.continuations.removeValue(forKey: ticket), state.leave(ticket))
        }
        own?.resume(returning: false)
        for continuation in granted { continuation.resume(returning: true) }
    }

    fileprivate func leave(_ ticket: UInt64) {
        let granted = state.withLock { $0.leave(ticket) }
        for continuation in granted { continuation.resume(returning: true) }
    }

    /// Runs `body` while all `requests` are held, and releases them however it ends.
    ///
    /// - Parameter cancellation: The error to throw if the task is cancelled while waiting.
    package func withPathLock<R, E: Error>(
        _ requests: [PathLockRequest], ifCancelled cancellation: @autoclosure () -> E,
        _ body: () async throws(E) -> R
    ) async throws(E) -> R {
        let pathLock: PathLock
        do throws(CancellationError) {
            pathLock = try await acquire(requests)
        } catch {
            throw cancellation()
        }
        defer { pathLock.release() }
        return try await body()
    }

    /// Same as ``withPathLock(_:ifCancelled:_:)`` with a synchronous `body`, but only if all `requests` can be
    /// granted immediately.
    /// - Returns: nil if they cannot be granted immediately, or if `body` returns nil.
    package func withPathLockIfFree<R, E: Error>(
        _ requests: [PathLockRequest], _ body: () throws(E) -> R?
    ) throws(E) -> R? {
        guard let ticket = state.withLock({ $0.table.enterIfFree(requests) }) else { return nil }
        defer { leave(ticket) }
        return try body()
    }

    /// Number of sets that are held or waiting.
    package var count: Int { state.withLock { $0.table.count } }
}

/// A set of granted path locks, held until ``release()`` or until the last reference is dropped.
package final class PathLock: Sendable {
    private let ticket: UInt64
    private let pathLocks: PathLocks
    private let isReleased = Atomic<Bool>(false)

    fileprivate init(ticket: UInt64, pathLocks: PathLocks) {
        self.ticket = ticket
        self.pathLocks = pathLocks
    }

    /// Releases the locks and resumes waiting tasks. Can be called on any thread; a second call does nothing.
    package func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        pathLocks.leave(ticket)
    }

    deinit { release() }
}
