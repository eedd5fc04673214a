/// Threads for calls that block: files, databases, name look-up.
///
/// Hand over plain values and get plain values back: what belongs to an event loop must not be touched here.
/// A hop and back costs about 7 µs, so do everything one operation needs in one hop.
public final class BlockingPool: Sendable {
    private struct State {
        var jobs = PoolJobList()
        var threadCount = 0
        var idleCount = 0
        /// A thread was signalled and has not looked at the jobs yet. It wakes the next one if it finds more than
        /// its own, so that a burst of short jobs does not wake a thread for each.
        var isWaking = false
        var isShutDown = false

        /// Whether an idle thread is to be signalled; if so, it counts as waking.
        mutating func shouldWake() -> Bool {
            guard idleCount > 0, !isWaking else { return false }
            isWaking = true
            return true
        }
    }

    private enum Admission { case queued, queuedNeedsWaking, queuedNeedsThread, refused }

    private let limit: Int
    private let queueLimit: Int
    private let monitor = Monitor(State())
    /// For work that takes long, on threads of its own: the threads of the pool stay free for short jobs.
    public let longWork: LongWorkThreads

    /// - Parameters:
    ///   - threads: most threads at a time; they start when they are first needed. 0 stands for twice the
    ///     number of cores, but at least 4.
    ///   - queueLimit: how many jobs may wait for a thread.
    ///   - longWork: limits of ``longWork``.
    public init(threads: Int = 0, queueLimit: Int = 4096, longWork: LongWorkLimits = LongWorkLimits()) {
        self.longWork = LongWorkThreads(longWork)
        limit = threads > 0 ? threads : max(4, 2 * Thread.coreCount)
        self.queueLimit = queueLimit
    }

    /// Runs `work` on a thread of the pool; the caller continues on its own executor.
    ///
    /// - Returns: what `work` returned; nil, and `work` was not run, when too many jobs wait or the pool is
    ///   shut down: 503 with Retry-After.
    public func run<T>(_ work: sending @escaping () -> sending T) async -> sending T? {
        let job = Work(work)
        await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            unsafe job.continuation = continuation
            if !submit(job) { unsafe continuation.resume() }
        }
        return job.takeResult()
    }

    /// Has `work` run on a thread of the pool, and returns at once; nobody waits for its end but ``shutdown()``.
    ///
    /// Not a task: the first one without an executor of its own starts the threads of Swift's global pool, which
    /// cost memory and never end.
    /// - Returns: false, and `work` is not run, when too many jobs wait or the pool is shut down.
    @discardableResult
    public func start(_ work: @escaping @Sendable () -> Void) -> Bool { submit(Work { work() }) }

    /// Refuses further jobs, and returns when the last one that was accepted has ended; long work that nobody needs
    /// any more is cancelled. Blocks; not for threads of the pool.
    public func shutdown() {
        longWork.shutdown()
        monitor.withLock { $0.isShutDown = true }
        monitor.broadcast()
        monitor.wait { $0.threadCount == 0 ? () : nil }
    }

    /// Takes jobs again after ``shutdown()`` has returned.
    public func reopen() {
        longWork.reopen()
        monitor.withLock { $0.isShutDown = false }
    }

    /// False when the job was refused.
    private func submit(_ job: PoolJob) -> Bool {
        let admission = monitor.withLock { state -> Admission in
            guard !state.isShutDown, state.jobs.count < queueLimit else { return .refused }
            state.jobs.append(job)
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

    /// False when no thread could be started and none is there that would ever take the job.
    private func startThread(for job: PoolJob) -> Bool {
        do {
            try Thread.start(named: "davit-pool") { [self] in work() }
            return true
        } catch {
            return monitor.withLock { state in
                state.threadCount -= 1
                guard state.threadCount == 0 else { return true }
                state.jobs.remove(job)
                return false
            }
        }
    }

    /// The life of one thread.
    private func work() {
        while true {
            switch next() {
            case .job(let job): job.run()
            case .end: return monitor.broadcast()
            }
        }
    }

    private enum Next {
        case job(PoolJob)
        case end
    }

    private func next() -> Next {
        var isIdle = false
        var wakesAnother = false
        let next = monitor.wait { state -> Next? in
            if isIdle { state.isWaking = false }
            let job = state.jobs.removeFirst()
            if job == nil && !state.isShutDown {
                if !isIdle { state.idleCount += 1 }
                isIdle = true
                return nil
            }
            if isIdle { state.idleCount -= 1 }
            if let job {
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
