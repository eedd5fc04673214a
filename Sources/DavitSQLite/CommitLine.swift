package import DavitStore
internal import Dispatch
internal import Synchronization

/// Where threads wait to have their transactions committed.
///
/// One thread at a time leads: it commits its own transaction with all that wait, wakes those it took along,
/// and hands the lead to the first of those that came meanwhile. So nobody waits for more than the commit that
/// runs and the next one, whatever order a mutex would let threads in; and a thread whose transaction is done
/// takes no further turn, in which it would commit the few that came since and so keep groups from forming.
package final class CommitLine: Sendable {
    private enum Call {
        case lead
        case done(StateError?)
    }

    private final class Waiter: Sendable {
        let request: GroupWriter.Request
        private let semaphore = DispatchSemaphore(value: 0)
        private let call = Mutex(Call.lead)

        init(_ request: GroupWriter.Request) { self.request = request }

        func wait() -> Call {
            semaphore.wait()
            return call.withLock { $0 }
        }

        func wake(_ call: Call) {
            self.call.withLock { $0 = call }
            semaphore.signal()
        }
    }

    private struct State {
        var hasLeader = false
        var waiting: [Waiter] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits until `request` is committed or has failed.
    ///
    /// - Parameter write: commits requests, in order; gives for each why it failed, or nil. Called by one thread
    ///   at a time, perhaps not for this request.
    /// - Returns: why the request failed, or nil.
    package func commit(
        _ request: GroupWriter.Request, _ write: ([GroupWriter.Request]) -> [StateError?]
    ) -> StateError? {
        let place: Waiter? = state.withLock { state in
            guard state.hasLeader else {
                state.hasLeader = true
                return nil
            }
            let waiter = Waiter(request)
            state.waiting.append(waiter)
            return waiter
        }
        if let place, case .done(let failure) = place.wait() { return failure }

        let others = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        let failures = write([request] + others.map(\.request))
        let next: Waiter? = state.withLock { state in
            state.hasLeader = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.wake(.lead)
        for (other, failure) in zip(others, failures.dropFirst()) { other.wake(.done(failure)) }
        return failures[0]
    }
}
