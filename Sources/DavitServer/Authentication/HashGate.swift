internal import Synchronization

/// Lets a few in at a time: a scrypt hash takes 32 MiB and a core, and whoever wants to can ask for many.
final class HashGate: Sendable {
    private struct State {
        var inside = 0
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let limit: Int
    private let waitingLimit: Int
    private let state = Mutex(State())

    init(limit: Int, waitingLimit: Int) {
        self.limit = limit
        self.waitingLimit = waitingLimit
    }

    /// - Returns: false if too many wait already; else ``leave()`` is to be called.
    func enter() async -> Bool {
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

    func leave() {
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
