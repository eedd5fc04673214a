internal import Synchronization

/// Threads for work that takes long: copies, removals of trees, digests, searches.
///
/// As many jobs run at the same time as there are cores, at a low priority. Clients take turns: a job that has used up its
/// slice and calls ``LongWork/checkpoint(bytes:)`` pauses until the other clients have had a turn. A paused job keeps its
/// thread, so that work can be written as plain synchronous code; how many may have begun is limited.
public final class LongWorkThreads: Sendable {
    private struct State {
        var schedule: LongWorkSchedule
        /// Jobs that have their first turn, and no thread yet.
        var beginning: [LongJob] = []
        var threadCount = 0
        var idleCount = 0
        var isShutDown = false
    }

    private enum Wake {
        case paused(LongJob)
        case idleThread, newThread
    }

    /// With the number of running jobs.
    package let limits: LongWorkLimits
    private let monitor: Monitor<State>
    private let isShuttingDown = Atomic<Bool>(false)

    /// Threads start when they are first needed.
    public init(_ limits: LongWorkLimits = LongWorkLimits()) {
        var limits = limits
        if limits.runningJobs == 0 { limits.runningJobs = Thread.coreCount }
        self.limits = limits
        monitor = Monitor(State(schedule: LongWorkSchedule(limits)))
    }

    /// Runs `work` when it is the turn of `client`; the caller continues on its own executor.
    ///
    /// - Parameters:
    ///   - client: who is charged for the work.
    ///   - isAdmitted: continues what was admitted before, and is not refused for the number of waiting jobs.
    ///   - isCancellable: when the calling task is cancelled, a job that has not begun is dropped, and
    ///     ``LongWork/checkpoint(bytes:)`` throws in one that has.
    /// - Returns: nil, and `work` was not run, if it was refused or dropped, or the threads are shut down.
    public func run<T: Sendable>(
        for client: String, isAdmitted: Bool = false, isCancellable: Bool = true,
        _ work: @escaping @Sendable () -> T
    ) async -> T? {
        let result = Result<T>()
        let job = LongJob(for: client, isCancellable: isCancellable, in: self) { result.value = work() }
        await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                unsafe job.continuation = continuation
                if !submit(job, isAdmitted: isAdmitted) { job.finish() }
            }
        } onCancel: {
            cancel(job)
        }
        return result.value
    }

    /// The thread that runs the job writes, then resumes the caller, who reads.
    private final class Result<T: Sendable>: @unchecked Sendable {
        var value: T?
    }

    /// How many turns were given.
    public var turnCount: Int { monitor.withLock { $0.schedule.turnCount } }

    /// Refuses further jobs, drops and cancels those that can be, and returns when the last one has ended. Blocks; not
    /// for threads of these.
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

    /// Takes jobs again after ``shutdown()`` has returned.
    public func reopen() {
        isShuttingDown.store(false, ordering: .relaxed)
        monitor.withLock { $0.isShutDown = false }
    }

    var isEnding: Bool { isShuttingDown.load(ordering: .relaxed) }

    // MARK: Jobs

    /// False if the job was refused.
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

    /// Called by the thread of a job: waits for the next turn if another job can use this one.
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

    /// Where no thread can be started, the job that it was for is dropped.
    private func startThread() {
        do {
            try Thread.start(named: "davit-long") { [self] in work() }
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

    /// The life of one thread.
    private func work() {
        Thread.lowerPriority()
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

    /// Nil when the thread is to end.
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
