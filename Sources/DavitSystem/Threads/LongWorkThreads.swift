internal import Synchronization

/// Threads for long work: copying or removing trees, computing digests, searching.
///
/// By default, as many jobs run concurrently as there are cores, at low priority. Clients take turns: a job
/// that has used up its slice pauses in ``LongWork/checkpoint(bytes:)`` until the other clients have had a
/// turn. A paused job keeps its thread, so that work can be written as plain synchronous code; the number of
/// started jobs is limited.
public final class LongWorkThreads: Sendable {
    private struct State {
        var schedule: LongWorkSchedule
        /// Jobs that have been given their first turn and have no thread yet.
        var beginning: [LongJob] = []
        var threadCount = 0
        var idleCount = 0
        var isShutDown = false
    }

    private enum Wake {
        case paused(LongJob)
        case idleThread, newThread
    }

    /// The limits, with ``LongWorkLimits/runningJobs`` resolved to the actual number.
    package let limits: LongWorkLimits
    private let priority: ThreadPriority
    private let monitor: Monitor<State>
    private let isShuttingDown = Atomic<Bool>(false)

    /// Creates the scheduler; threads start on demand.
    /// - Parameter priority: the priority of the threads.
    public init(_ limits: LongWorkLimits = LongWorkLimits(), priority: ThreadPriority = .low) {
        self.priority = priority
        var limits = limits
        if limits.runningJobs == 0 { limits.runningJobs = SystemThread.coreCount }
        self.limits = limits
        monitor = Monitor(State(schedule: LongWorkSchedule(limits)))
    }

    /// Runs `work` when it is the turn of `client`; the caller continues on its own executor.
    ///
    /// - Parameters:
    ///   - client: the client to which the work is charged.
    ///   - isAdmitted: whether the job continues work that was admitted earlier, and must not be refused
    ///     because of the number of waiting jobs.
    ///   - isCancellable: whether canceling the calling task drops the job if it has not started, and
    ///     otherwise makes ``LongWork/checkpoint(bytes:)`` throw.
    /// - Returns: the result of `work`; nil, without running `work`, if it was refused or dropped, or the
    ///   threads are shut down.
    public func run<T: Sendable>(
        for client: String, isAdmitted: Bool = false, isCancellable: Bool = true,
        _ work: @escaping @Sendable () -> T
    ) async -> T? {
        let result = Mutex<T?>(nil)
        let job = LongJob(for: client, isCancellable: isCancellable, in: self) {
            let value = work()
            result.withLock { $0 = value }
        }
        await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                unsafe job.continuation = continuation
                if !submit(job, isAdmitted: isAdmitted) { job.finish() }
            }
        } onCancel: {
            cancel(job)
        }
        return result.withLock { $0 }
    }

    /// The total number of turns so far.
    public var turnCount: Int { monitor.withLock { $0.schedule.turnCount } }

    /// Refuses further jobs, drops or cancels all cancelable ones, and blocks until the last job has ended.
    /// Must not be called on one of these threads.
    public func shutdown() {
        isShuttingDown.store(true, ordering: .relaxed)
        let dropped = monitor.withLock { state -> [LongJob] in
            state.isShutDown = true
            return state.schedule.removeCancellable()
        }
        for job in dropped { job.finish() }
        monitor.broadcast()
        monitor.wait { $0.threadCount == 0 ? () : nil }
    }

    /// Accepts jobs again after ``shutdown()`` has returned.
    public func reopen() {
        isShuttingDown.store(false, ordering: .relaxed)
        monitor.withLock { $0.isShutDown = false }
    }

    var isEnding: Bool { isShuttingDown.load(ordering: .relaxed) }

    // MARK: Jobs

    /// Queues a job; returns false if it was refused.
    private func submit(_ job: LongJob, isAdmitted: Bool) -> Bool {
        let wakes = monitor.withLock { state -> [Wake]? in
            guard !state.isShutDown, !job.isCancelled, state.schedule.add(job, isAdmitted: isAdmitted) else {
                return nil
            }
            return Self.giveTurns(&state)
        }
        guard let wakes else { return false }
        wake(wakes)
        return true
    }

    private func cancel(_ job: LongJob) {
        guard job.isCancellable else { return }
        job.abandon()
        if monitor.withLock({ $0.schedule.remove(job) }) { job.finish() }
    }

    /// Ends a slice, on the thread of the job: pauses the job until its next turn, if another job can run.
    func endSlice(of job: LongJob) {
        let (wakes, turn) = monitor.withLock { state -> ([Wake], Monitor<Bool>?) in
            guard state.schedule.hasNext else { return ([], nil) }
            let turn = job.turn ?? Monitor(false)
            job.turn = turn
            state.schedule.pause(job)
            return (Self.giveTurns(&state), turn)
        }
        wake(wakes)
        turn?.wait { isGiven -> Void? in
            guard isGiven else { return nil }
            isGiven = false
            return ()
        }
    }

    private static func giveTurns(_ state: inout State) -> [Wake] {
        var wakes: [Wake] = []
        while let job = state.schedule.next() {
            if job.hasBegun {
                wakes.append(.paused(job))
                continue
            }
            job.hasBegun = true
            state.beginning.append(job)
            if state.idleCount >= state.beginning.count {
                wakes.append(.idleThread)
            } else {
                state.threadCount += 1
                wakes.append(.newThread)
            }
        }
        return wakes
    }

    private func wake(_ wakes: [Wake]) {
        for wake in wakes {
            switch wake {
            case .paused(let job):
                job.turn?.withLock { $0 = true }
                job.turn?.signal()
            case .idleThread: monitor.signal()
            case .newThread: startThread()
            }
        }
    }

    // MARK: Threads

    /// Starts a thread. If that fails, drops a job that was to begin.
    private func startThread() {
        do {
            try SystemThread.start(named: "davit-long") { [self] in work() }
        } catch {
            let (dropped, wakes) = monitor.withLock { state -> (LongJob?, [Wake]) in
                state.threadCount -= 1
                guard let job = state.beginning.popLast() else { return (nil, []) }
                state.schedule.end(job)
                return (job, Self.giveTurns(&state))
            }
            dropped?.finish()
            wake(wakes)
        }
    }

    /// The main function of a thread.
    private func work() {
        SystemThread.setPriority(priority)
        while let job = nextJob() {
            job.run()
            let wakes = monitor.withLock { state -> [Wake] in
                state.schedule.end(job)
                return Self.giveTurns(&state)
            }
            job.finish()
            wake(wakes)
        }
        monitor.broadcast()
    }

    /// Returns the next job; nil if the thread should end.
    private func nextJob() -> LongJob? {
        var isIdle = false
        let next = monitor.wait { state -> Next? in
            if isIdle { state.idleCount -= 1 }
            isIdle = false
            if !state.beginning.isEmpty { return .job(state.beginning.removeFirst()) }
            guard !state.isShutDown, state.idleCount < limits.runningJobs else {
                state.threadCount -= 1
                return .end
            }
            isIdle = true
            state.idleCount += 1
            return nil
        }
        return switch next {
        case .job(let job): job
        case .end: nil
        }
    }

    private enum Next {
        case job(LongJob)
        case end
    }
}
