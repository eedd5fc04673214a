internal import Synchronization

/// Lets a few in at a time: a scrypt hash takes 32 MiB and a core, and whoever wants to can ask for many.
final class HashGate: Sendable {
    private struct State {
        var inside = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
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
        enum Admission { case inside, refused, waits }
        let first = state.withLock { state -> Admission in
            if state.inside < limit {
                state.inside += 1
                return .inside
            }
            return state.waiting.count < waitingLimit ? .waits : .refused
        }
        switch first {
        case .inside: return true
        case .refused: return false
        case .waits: break
        }
        await withCheckedContinuation { continuation in
            // Somebody may have left in between.
            let isInside = state.withLock { state in
                if state.inside < limit {
                    state.inside += 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isInside { continuation.resume() }
        }
        return true
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.inside -= 1
                return nil
            }
            // Takes the place of who leaves.
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
