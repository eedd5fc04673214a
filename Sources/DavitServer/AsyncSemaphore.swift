internal import Synchronization

/// Admits a limited number of tasks at a time, in order of arrival. Waiting tasks do not occupy a thread.
package final class AsyncSemaphore: Sendable {
    private struct State {
        var inside = 0
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let limit: Int
    private let waitingLimit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: maximum number of admitted tasks.
    ///   - waitingLimit: maximum number of waiting tasks.
    package init(limit: Int, waitingLimit: Int) {
        self.limit = limit
        self.waitingLimit = waitingLimit
    }

    /// Waits for admission. An admitted caller must call ``leave()``.
    /// - Returns: false if too many tasks are already waiting.
    package func enter() async -> Bool {
        await withCheckedContinuation { continuation in
            let isAdmitted = state.withLock { state -> Bool? in
                if state.inside < limit {
                    state.inside += 1
                    return true
                }
                guard state.waiting.count < waitingLimit else { return false }
                state.waiting.append(continuation)
                return nil
            }
            if let isAdmitted { continuation.resume(returning: isAdmitted) }
        }
    }

    /// Ends an admission and admits the next waiting task.
    package func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.inside -= 1
                return nil
            }
            // The next task takes over the admission, so `inside` does not change.
            return state.waiting.removeFirst()
        }
        next?.resume(returning: true)
    }
}
