package import DavitSystem
internal import Synchronization

/// A request to all event loops of a server to report that they are running.
///
/// A loop responds between two events, so a loop that is blocked does not respond. Ends once: when all loops have
/// responded, or with ``expire()``.
package final class LoopPoll: Sendable {
    /// How many loops have responded.
    package struct Outcome: Hashable, Sendable {
        /// The number of loops; 0 if the server is not running.
        package var loops: Int
        package var responding: Int

        package init(loops: Int, responding: Int) {
            self.loops = loops
            self.responding = responding
        }

        /// Whether the server is running and all loops have responded.
        package var isAlive: Bool { loops > 0 && responding == loops }
    }

    private struct State {
        var responding = 0
        /// Nil when the poll has ended.
        var completion: (@Sendable (Outcome) -> Void)?
    }

    private let loops: Int
    private let state: Mutex<State>

    /// - Parameter completion: called once, on any thread; must not block.
    init(loops: Int, completion: @escaping @Sendable (Outcome) -> Void) {
        self.loops = loops
        state = Mutex(State(completion: completion))
    }

    func loopResponded() {
        end { state in
            state.responding += 1
            return state.responding == loops
        }
    }

    /// Ends the poll if it has not ended yet.
    package func expire() { end { _ in true } }

    private func end(if isOver: (inout State) -> Bool) {
        let (completion, responding) = state.withLock { state in
            (isOver(&state) ? state.completion.take() : nil, state.responding)
        }
        completion?(Outcome(loops: loops, responding: responding))
    }
}

extension HTTPServer {
    /// The statistics of a server since it was started.
    package struct Statistics: Equatable, Sendable {
        package var requests: RequestCounts
        package var connections: ConnectionCounter.Totals
    }

    /// Asks all event loops to respond and to report their statistics, for ``statistics``.
    /// - Parameter completion: called once, on any thread, possibly before this method returns; must not block.
    /// - Returns: the poll, which the caller has to end with ``LoopPoll/expire()`` after some time.
    package func pollLoops(_ completion: @escaping @Sendable (LoopPoll.Outcome) -> Void) -> LoopPoll {
        guard let group else {
            let poll = LoopPoll(loops: 0, completion: completion)
            poll.expire()
            return poll
        }
        let poll = LoopPoll(loops: group.loopCount, completion: completion)
        group.start(poll)
        return poll
    }

    /// Like ``pollLoops(_:)``; blocks until all loops have responded, or for the given time.
    package func pollLoops(milliseconds: Int32) throws(SystemError) -> LoopPoll.Outcome {
        let queue = try SystemEventQueue()
        let outcome = PollOutcome()
        let poll = pollLoops { end in
            outcome.value.withLock { $0 = end }
            queue.wake()
        }
        _ = queue.wait(milliseconds: milliseconds)
        poll.expire()
        return outcome.value.withLock { $0 } ?? LoopPoll.Outcome(loops: 0, responding: 0)
    }

    /// The statistics as of the last response of each loop to a poll. Nil while the server is not running.
    package var statistics: Statistics? {
        group.map { Statistics(requests: $0.counts, connections: $0.connections) }
    }
}

/// Where a poll leaves its outcome for the thread that waits for it.
private final class PollOutcome: Sendable {
    let value = Mutex<LoopPoll.Outcome?>(nil)
}
