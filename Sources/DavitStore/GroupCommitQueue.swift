internal import Dispatch
internal import Synchronization

/// A queue that combines requests into batches, for operations where a batch costs about as much as a single
/// request, such as commits or the sync of a folder.
///
/// One thread at a time is the leader: it performs its request together with all waiting ones, hands
/// leadership to the first thread that arrived in the meantime, and then wakes the threads whose requests it
/// performed. A request therefore waits for at most the running batch and the next one, regardless of the
/// fairness of mutexes. A thread whose request is finished does not lead another batch, because that batch
/// would contain only the few requests that arrived in the meantime, and groups would stay small. For
/// requests whose callers must not wait, a `background` thread leads until the queue is empty. The queue does
/// not depend on that thread, because all background threads may be waiting in this queue: if there is no
/// leader, the first thread that arrives leads.
package final class GroupCommitQueue<Request: Sendable, Failure: Error>: Sendable {
    private enum Call: Sendable {
        case lead
        case done(Failure?)
    }

    /// A waiting thread.
    private final class WaitingThread: Sendable {
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
        case thread(WaitingThread)
        case callback(@Sendable (Failure?) -> Void)
    }

    private struct QueuedRequest: Sendable {
        let request: Request
        let waiter: Waiter

        func finish(_ failure: Failure?) {
            switch waiter {
            case .thread(let waitingThread): waitingThread.wake(.done(failure))
            case .callback(let completion): completion(failure)
            }
        }
    }

    private struct State {
        /// Whether a thread is currently performing requests.
        var hasLeader = false
        /// Whether a background thread has been requested; it leads if there is no leader when it starts.
        var isLeaderCalled = false
        var waiting: [QueuedRequest] = []

        mutating func takeAll() -> [QueuedRequest] {
            defer { waiting = [] }
            return waiting
        }

        /// Removes and returns the first waiting thread. Waiting threads take precedence over the background
        /// leader, because a waiting thread may be one of the background threads.
        mutating func takeThread() -> WaitingThread? {
            for (index, queued) in waiting.enumerated() {
                guard case .thread(let waitingThread) = queued.waiter else { continue }
                waiting.remove(at: index)
                return waitingThread
            }
            return nil
        }

        /// Whether a background thread must be requested. If so, it is marked as requested.
        mutating func needsLeader() -> Bool {
            guard !hasLeader, !isLeaderCalled, !waiting.isEmpty else { return false }
            isLeaderCalled = true
            return true
        }
    }

    private let state = Mutex(State())
    private let write: @Sendable ([Request]) -> [Failure?]
    private let background: BackgroundWork
    private let didEnqueue: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - background: runs a closure on a thread that may block, immediately or soon.
    ///   - didEnqueue: called after a request was enqueued for a later batch or a background thread, on the
    ///     thread of its caller.
    ///   - write: performs one or more requests in order and returns the error of each, or nil for success.
    ///     Called by one thread at a time.
    package init(
        background: BackgroundWork, didEnqueue: (@Sendable () -> Void)? = nil,
        _ write: @escaping @Sendable ([Request]) -> [Failure?]
    ) {
        self.background = background
        self.didEnqueue = didEnqueue
        self.write = write
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Performs `request` and waits for the result.
    /// - Returns: the error of the request, or nil for success.
    package func perform(_ request: Request) -> Failure? {
        let waitingThread: WaitingThread? = state.withLock { state in
            guard state.hasLeader else {
                state.hasLeader = true
                return nil
            }
            let waitingThread = WaitingThread()
            state.waiting.append(QueuedRequest(request: request, waiter: .thread(waitingThread)))
            return waitingThread
        }
        if let waitingThread {
            didEnqueue?()
            if case .done(let failure) = waitingThread.wait() { return failure }
        }
        let others = state.withLock { $0.takeAll() }
        let failures = write([request] + others.map { $0.request })
        handOverLeadership()
        for (other, failure) in zip(others, failures.dropFirst()) { other.finish(failure) }
        return failures[0]
    }

    /// Enqueues `request` and returns immediately.
    /// - Parameter completion: called once, on the thread that performed the request, with the error of the
    ///   request or nil for success.
    package func submit(_ request: Request, completion: @escaping @Sendable (Failure?) -> Void) {
        let needsLeader = state.withLock { state in
            state.waiting.append(QueuedRequest(request: request, waiter: .callback(completion)))
            return state.needsLeader()
        }
        didEnqueue?()
        if needsLeader { background.run { self.processUntilEmpty() } }
    }

    private func handOverLeadership() {
        let (waitingThread, needsLeader) = state.withLock { state -> (WaitingThread?, Bool) in
            if let waitingThread = state.takeThread() { return (waitingThread, false) }
            state.hasLeader = false
            return (nil, state.needsLeader())
        }
        waitingThread?.wake(.lead)
        if needsLeader { background.run { self.processUntilEmpty() } }
    }

    private func processUntilEmpty() {
        var requests = state.withLock { state in
            state.isLeaderCalled = false
            if state.hasLeader { return [QueuedRequest]() }
            state.hasLeader = !state.waiting.isEmpty
            return state.takeAll()
        }
        while !requests.isEmpty {
            let failures = write(requests.map { $0.request })
            for (queued, failure) in zip(requests, failures) { queued.finish(failure) }
            requests = state.withLock { state in
                state.hasLeader = !state.waiting.isEmpty
                return state.takeAll()
            }
        }
    }
}

/// An executor for work that the caller must not do itself because it may block.
public struct BackgroundWork: Sendable {
    /// Schedules the work to run immediately or soon; returns false, without running it, if that is not
    /// possible.
    package let start: @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool

    /// - Parameter start: runs `work` on a thread that may block, immediately or soon; returns false if it
    ///   cannot.
    public init(start: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool) {
        self.start = start
    }

    /// Runs all work on the calling thread, for callers that may block.
    public static let immediate = BackgroundWork { work in
        work()
        return true
    }

    /// Runs `work` on a background thread or, if none is available, on the calling thread.
    package func run(_ work: @escaping @Sendable () -> Void) {
        if !start(work) { work() }
    }
}
