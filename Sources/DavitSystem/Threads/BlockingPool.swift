/// A pool of threads for blocking calls: files, databases, name resolution.
///
/// Pass plain values in and out: state that belongs to an event loop must not be used here. A round trip
/// costs about 7 µs, so do all the work of an operation in one job.
public final class BlockingPool: Sendable {
    private struct State {
        var queue = PoolQueue()
        var threadCount = 0
        /// The number of threads that wait for a job, or are starting.
        var idleCount = 0
        /// Whether a thread was signaled and has not checked the queue yet. The signaled thread wakes the
        /// next one if the queue holds more than one job, so that a burst of short jobs does not wake a
        /// thread for each.
        var isWaking = false
        /// Whether an idle thread wakes from time to time to check whether jobs wait too long for others.
        var isWatched = false
        var isShutDown = false

        /// Returns what the caller has to do so that a thread runs each runnable job, and watches the waiting ones.
        mutating func need(limit: Int) -> Need {
            let needsWatch = queue.waitingCount > 0 && !isWatched && !isShutDown
            let count = queue.runnableCount + (needsWatch ? 1 : 0)
            if count == 0 { return .nothing }
            if idleCount < count, threadCount < limit {
                threadCount += 1
                idleCount += 1
                return .newThread
            }
            guard idleCount > 0, !isWaking else { return .nothing }
            isWaking = true
            return .signal
        }
    }

    private enum Need {
        case nothing
        /// An idle thread must be signaled.
        case signal
        /// A thread, which is already counted, must be started.
        case newThread
    }

    private let limit: Int
    private let queueLimit: Int
    private let priority: ThreadPriority
    private let monitor = Monitor(State())
    private static let watchMilliseconds = PoolQueue.longestNanoseconds / 1_000_000
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
    /// - Parameter sequence: The number of the sequence that the work belongs to, if any; see ``PoolQueue``.
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
        let need = monitor.withLock { state -> Need? in
            guard !state.isShutDown, state.queue.count < queueLimit else { return nil }
            state.queue.append(job)
            return state.need(limit: limit)
        }
        switch need {
        case nil: return false
        case .nothing?: return true
        case .signal?:
            monitor.signal()
            return true
        case .newThread?: return startThread(for: job)
        }
    }

    /// Starts a thread.
    /// - Parameter job: a job that was queued.
    /// - Returns: false if that failed, and no other thread exists that could run the job. All jobs are then removed, and
    ///   completed except `job`.
    private func startThread(for job: PoolJob?) -> Bool {
        do {
            try SystemThread.start(named: "davit-pool") { [self] in work() }
            return true
        } catch {
            var refused = monitor.withLock { state -> PoolJobList in
                state.threadCount -= 1
                state.idleCount -= 1
                state.isWaking = false
                return state.threadCount == 0 ? state.queue.removeAll() : PoolJobList()
            }
            // Another thread has to run the job, or a shutdown waits for this one.
            monitor.broadcast()
            var isRefused = false
            while let other = refused.removeFirst() {
                if other === job { isRefused = true } else { other.complete() }
            }
            return !isRefused
        }
    }

    /// The main function of a thread.
    private func work() {
        SystemThread.setPriority(priority)
        var waiter = Waiter(isIdle: true)
        while let job = next(for: &waiter) {
            job.perform()
            job.complete()
            if job.sequence != nil { waiter.ended = job }
        }
        monitor.broadcast()
    }

    /// A thread that waits for a job.
    private struct Waiter {
        /// The job of a sequence that the thread has just run.
        var ended: PoolJob?
        var isIdle = false
        /// Whether this is the thread that watches the jobs that wait for others.
        var isWatching = false
    }

    private enum Next {
        case job(PoolJob, Need)
        case end
        /// The thread waits, and has begun or ended to watch, so that it must wait for another time.
        case changedWatch
    }

    /// Waits for a job.
    /// - Returns: nil if the thread must end.
    private func next(for waiter: inout Waiter) -> PoolJob? {
        while true {
            let next =
                waiter.isWatching
                ? monitor.wait(milliseconds: Self.watchMilliseconds) { self.next(for: &waiter, &$0) }
                : monitor.wait { self.next(for: &waiter, &$0) }
            switch next {
            case .job(let job, let need)?:
                switch need {
                case .nothing: break
                case .signal: monitor.signal()
                case .newThread: _ = startThread(for: nil)
                }
                return job
            case .end?: return nil
            case .changedWatch?, nil: break
            }
        }
    }

    /// - Returns: nil if there is no job.
    private func next(for waiter: inout Waiter, _ state: inout State) -> Next? {
        if waiter.isIdle { state.isWaking = false }
        let time = now()
        if let job = waiter.ended.take() { state.queue.ended(job, at: time) }
        if let job = state.queue.removeFirst(at: time) {
            leave(&waiter, &state)
            return .job(job, state.need(limit: limit))
        }
        if state.isShutDown {
            leave(&waiter, &state)
            state.threadCount -= 1
            return .end
        }
        if !waiter.isIdle { state.idleCount += 1 }
        waiter.isIdle = true
        let watches = state.queue.waitingCount > 0 && (waiter.isWatching || !state.isWatched)
        if watches == waiter.isWatching { return nil }
        waiter.isWatching = watches
        state.isWatched = watches
        return .changedWatch
    }

    private func leave(_ waiter: inout Waiter, _ state: inout State) {
        if waiter.isIdle { state.idleCount -= 1 }
        if waiter.isWatching { state.isWatched = false }
        waiter = Waiter()
    }
}
