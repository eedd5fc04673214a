/// A pool of threads for blocking calls: files, databases, name resolution.
///
/// Pass plain values in and out: state that belongs to an event loop must not be used here. A round trip
/// costs about 7 µs, so do all the work of an operation in one job.
public final class BlockingPool: Sendable {
    private struct State {
        var jobs = PoolJobList()
        var sequences = JobSequences()
        var threadCount = 0
        var idleCount = 0
        /// Whether a thread was signaled and has not checked the queue yet. The signaled thread wakes the
        /// next one if the queue holds more than one job, so that a burst of short jobs does not wake a
        /// thread for each.
        var isWaking = false
        var isShutDown = false

        /// Returns whether the caller must signal an idle thread; if so, sets ``isWaking``.
        mutating func shouldWake() -> Bool {
            guard idleCount > 0, !isWaking else { return false }
            isWaking = true
            return true
        }
    }

    private enum Admission { case queued, queuedNeedsWaking, queuedNeedsThread, refused }

    private let limit: Int
    private let queueLimit: Int
    private let priority: ThreadPriority
    private let monitor = Monitor(State())
    /// The present time on ``Clock``.
    private let now: @Sendable () -> Int64
    /// Threads for long work, so that the threads of the pool stay free for short jobs.
    public let longWork: LongWorkThreads

    /// - Parameters:
    ///   - threads: the maximum number of threads, which start on demand. 0 means twice the number of cores,
    ///     but at least 4.
    ///   - queueLimit: the maximum number of jobs that wait for a thread.
    ///   - longWork: limits of ``longWork``.
    ///   - priority: the priority of the threads; that of ``longWork`` is always low.
    public convenience init(
        threads: Int = 0, queueLimit: Int = 4096, longWork: LongWorkLimits = LongWorkLimits(),
        priority: ThreadPriority = .normal
    ) {
        self.init(
            threads: threads, queueLimit: queueLimit, longWork: longWork, priority: priority, now: Clock.now)
    }

    /// For tests, with another clock.
    init(
        threads: Int, queueLimit: Int, longWork: LongWorkLimits, priority: ThreadPriority,
        now: @escaping @Sendable () -> Int64
    ) {
        self.now = now
        self.longWork = LongWorkThreads(longWork, priority: priority.ofLongWork)
        self.priority = priority
        limit = threads > 0 ? threads : max(4, 2 * SystemThread.coreCount)
        self.queueLimit = queueLimit
    }

    /// Runs `work` on a thread of the pool; the caller continues on its own executor.
    ///
    /// - Returns: the result of `work`; nil, without running `work`, if too many jobs are waiting, no thread
    ///   can be started, or the pool is shut down. The caller should respond with 503 and Retry-After.
    public func run<T>(_ work: sending @escaping () -> sending T) async -> sending T? {
        await result(of: ClosureJob(work))
    }

    /// Like ``run(_:)`` for a `@Sendable` closure, which it stores without another closure around it.
    ///
    /// - Parameter sequence: The number of the sequence that the work belongs to, if any; see ``JobSequences``.
    package func run<T: Sendable>(
        sendable work: @escaping @Sendable () -> T, sequence: Int? = nil
    ) async -> T? {
        let job = ClosureJob(sendable: work)
        job.sequence = sequence
        return await result(of: job)
    }

    /// Like ``run(sendable:)``, for work that usually takes much less than a millisecond, and blocks only where a disk
    /// has to be read. A thread with open ``BriefJobs`` runs it itself, which saves the round trip.
    package func runBriefly<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        let job = ClosureJob(sendable: work)
        await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            unsafe job.continuation = continuation
            guard let jobs = BriefJobs.ofThread.current, jobs.isOpen else { return submitOrRefuse(job) }
            jobs.append(BriefJob(job: job, pool: self))
        }
        return job.takeResult()
    }

    private func result<T>(of job: ClosureJob<T>) async -> sending T? {
        await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            unsafe job.continuation = continuation
            submitOrRefuse(job)
        }
        return job.takeResult()
    }

    /// Queues a job, or completes it without running it.
    func submitOrRefuse(_ job: PoolJob) {
        if !submit(job) { job.complete() }
    }

    /// Schedules `work` on a thread of the pool and returns immediately. Only ``shutdown()`` waits for it.
    ///
    /// This avoids a `Task`: the first task without its own executor starts the threads of Swift's global
    /// pool, which use memory and never end.
    /// - Returns: false, without running `work`, if too many jobs are waiting, no thread can be started, or
    ///   the pool is shut down.
    @discardableResult
    public func start(_ work: @escaping @Sendable () -> Void) -> Bool { submit(ClosureJob { work() }) }

    /// Refuses further jobs and blocks until all accepted ones have ended; drops or cancels all cancelable
    /// long work. Must not be called on a thread of the pool.
    public func shutdown() {
        longWork.shutdown()
        monitor.withLock { $0.isShutDown = true }
        monitor.broadcast()
        monitor.wait { $0.threadCount == 0 ? () : nil }
    }

    /// Accepts jobs again after ``shutdown()`` has returned.
    public func reopen() {
        longWork.reopen()
        monitor.withLock { $0.isShutDown = false }
    }

    /// Queues a job; returns false if it was refused.
    private func submit(_ job: PoolJob) -> Bool {
        let time = job.sequence == nil ? 0 : now()
        let admission = monitor.withLock { state -> Admission in
            let count = state.jobs.count
            guard !state.isShutDown, count + state.sequences.waitingCount < queueLimit else {
                return .refused
            }
            state.sequences.append(job, to: &state.jobs, now: time)
            if state.jobs.count == count { return .queued }
            if state.idleCount < state.jobs.count, state.threadCount < limit {
                state.threadCount += 1
                return .queuedNeedsThread
            }
            return state.shouldWake() ? .queuedNeedsWaking : .queued
        }
        switch admission {
        case .refused: return false
        case .queued: break
        case .queuedNeedsWaking: monitor.signal()
        case .queuedNeedsThread: return startThread(for: job)
        }
        return true
    }

    /// Starts a thread; returns false if that failed and no other thread exists that could run the job.
    private func startThread(for job: PoolJob) -> Bool {
        do {
            try SystemThread.start(named: "davit-pool") { [self] in work() }
            return true
        } catch {
            let refused = monitor.withLock { state -> PoolJobList? in
                state.threadCount -= 1
                guard state.threadCount == 0 else { return nil }
                state.jobs.remove(job)
                return state.sequences.removeJobs(waitingFor: job)
            }
            guard var refused else { return true }
            while let job = refused.removeFirst() { job.complete() }
            return false
        }
    }

    /// The main function of a thread.
    private func work() {
        SystemThread.setPriority(priority)
        var ended: PoolJob?
        while true {
            switch next(after: ended) {
            case .job(let job):
                job.perform()
                job.complete()
                ended = job.sequence == nil ? nil : job
            case .end: return monitor.broadcast()
            }
        }
    }

    private enum Next {
        case job(PoolJob)
        case end
    }

    /// Waits for a job.
    /// - Parameter ended: the job of a sequence that has ended, if any.
    private func next(after ended: PoolJob?) -> Next {
        var ended = ended
        var isIdle = false
        var wakesAnother = false
        let next = monitor.wait { state -> Next? in
            if isIdle { state.isWaking = false }
            if let job = ended.take() { state.sequences.ended(job, at: now(), queue: &state.jobs) }
            let job = state.jobs.removeFirst()
            if job == nil && !state.isShutDown {
                if !isIdle { state.idleCount += 1 }
                isIdle = true
                return nil
            }
            if isIdle { state.idleCount -= 1 }
            if let job {
                if job.sequence != nil { job.begin = now() }
                wakesAnother = state.jobs.count > 0 && state.shouldWake()
                return .job(job)
            }
            state.threadCount -= 1
            return .end
        }
        if wakesAnother { monitor.signal() }
        return next
    }
}
