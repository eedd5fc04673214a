internal import Synchronization

/// Lets a few in at a time, in the order in which they come; nobody holds a thread while waiting.
package final class Gate: Sendable {
    private struct State {
        var inside = 0
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let limit: Int
    private let waitingLimit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: how many are inside at a time.
    ///   - waitingLimit: how many may wait.
    package init(limit: Int, waitingLimit: Int) {
        self.limit = limit
        self.waitingLimit = waitingLimit
    }

    /// - Returns: false if too many wait already; else ``leave()`` is to be called.
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

    /// Lets the next one in.
    package func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.inside -= 1
                return nil
            }
            // Takes the place of who leaves.
            return state.waiting.removeFirst()
        }
        next?.resume(returning: true)
    }
}
