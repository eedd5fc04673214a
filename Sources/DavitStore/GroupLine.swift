internal import Dispatch
internal import Synchronization

/// Where callers wait to have done together what costs as much for many as for one: a commit, the sync of a
/// folder.
///
/// One thread at a time leads: it does its own request with all that wait, wakes those it took along, and hands
/// the lead to the first of those that came meanwhile. So nobody waits for more than the work that runs and the
/// next one, whatever order a mutex would let threads in; and a thread whose request is done takes no further
/// turn, in which it would do the few that came since and so keep groups from forming. Requests of callers that
/// must not wait are led by a thread of `background`, which goes on until the line is empty. It may never come,
/// where all its threads wait in this line: so it is not waited for, and who comes first leads.
package final class GroupLine<Request: Sendable, Failure: Error>: Sendable {
    private enum Call: Sendable {
        case lead
        case done(Failure?)
    }

    /// A thread that waits.
    private final class Seat: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let call = Mutex(Call.lead)

        func wait() -> Call {
            semaphore.wait()
            return call.withLock { $0 }
        }

        func wake(_ call: Call) {
            self.call.withLock { $0 = call }
            semaphore.signal()
        }
    }

    private enum Waiter: Sendable {
        case thread(Seat)
        case callback(@Sendable (Failure?) -> Void)
    }

    private struct Place: Sendable {
        let request: Request
        let waiter: Waiter

        func finish(_ failure: Failure?) {
            switch waiter {
            case .thread(let seat): seat.wake(.done(failure))
            case .callback(let completion): completion(failure)
            }
        }
    }

    private struct State {
        /// Somebody does requests.
        var isLed = false
        /// A thread of the background is on its way, to lead if nobody does then.
        var isLeaderCalled = false
        var waiting: [Place] = []

        mutating func takeAll() -> [Place] {
            defer { waiting = [] }
            return waiting
        }

        /// The first thread that waits: it may be one that the background would have needed.
        mutating func takeThread() -> Seat? {
            for (index, place) in waiting.enumerated() {
                guard case .thread(let seat) = place.waiter else { continue }
                waiting.remove(at: index)
                return seat
            }
            return nil
        }

        /// Whether a thread has to be called, which then counts as called.
        mutating func needsLeader() -> Bool {
            guard !isLed, !isLeaderCalled, !waiting.isEmpty else { return false }
            isLeaderCalled = true
            return true
        }
    }

    private let state = Mutex(State())
    private let write: @Sendable ([Request]) -> [Failure?]
    private let background: BackgroundWork

    /// - Parameters:
    ///   - background: runs a closure on a thread that may block, at once or soon.
    ///   - write: does requests, in order, never none; gives for each why it failed, or nil. Called by one thread
    ///     at a time.
    package init(background: BackgroundWork, _ write: @escaping @Sendable ([Request]) -> [Failure?]) {
        self.background = background
        self.write = write
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits until `request` is done or has failed.
    /// - Returns: why the request failed, or nil.
    package func perform(_ request: Request) -> Failure? {
        let seat: Seat? = state.withLock { state in
            guard state.isLed else {
                state.isLed = true
                return nil
            }
            let seat = Seat()
            state.waiting.append(Place(request: request, waiter: .thread(seat)))
            return seat
        }
        if let seat, case .done(let failure) = seat.wait() { return failure }
        let others = state.withLock { $0.takeAll() }
        let failures = write([request] + others.map { $0.request })
        handOver()
        for (other, failure) in zip(others, failures.dropFirst()) { other.finish(failure) }
        return failures[0]
    }

    /// Has `request` done, and returns at once.
    /// - Parameter completion: called once, on the thread that leads, with why the request failed or nil.
    package func submit(_ request: Request, completion: @escaping @Sendable (Failure?) -> Void) {
        let needsLeader = state.withLock { state in
            state.waiting.append(Place(request: request, waiter: .callback(completion)))
            return state.needsLeader()
        }
        if needsLeader { background.run { self.leadUntilEmpty() } }
    }

    private func handOver() {
        let (seat, needsLeader) = state.withLock { state -> (Seat?, Bool) in
            if let seat = state.takeThread() { return (seat, false) }
            state.isLed = false
            return (nil, state.needsLeader())
        }
        seat?.wake(.lead)
        if needsLeader { background.run { self.leadUntilEmpty() } }
    }

    private func leadUntilEmpty() {
        var places = state.withLock { state in
            state.isLeaderCalled = false
            if state.isLed { return [Place]() }
            state.isLed = !state.waiting.isEmpty
            return state.takeAll()
        }
        while !places.isEmpty {
            let failures = write(places.map { $0.request })
            for (place, failure) in zip(places, failures) { place.finish(failure) }
            places = state.withLock { state in
                state.isLed = !state.waiting.isEmpty
                return state.takeAll()
            }
        }
    }
}

/// Where work goes that the caller must not do.
public struct BackgroundWork: Sendable {
    /// Has work run at once or soon; false, and it is not run, if that cannot be.
    package let start: @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool

    /// - Parameter start: has `work` run on a thread that may block, at once or soon; false if it cannot.
    public init(start: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool) {
        self.start = start
    }

    /// Runs everything where it is asked for: for callers that may block.
    public static let immediate = BackgroundWork { work in
        work()
        return true
    }

    /// Where no thread can be had, the work is done on the one that asks: late is better than never.
    package func run(_ work: @escaping @Sendable () -> Void) {
        if !start(work) { work() }
    }
}
