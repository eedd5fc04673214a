internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// Runs maintenance some time after a response. While the server is idle, this needs neither a thread nor a
/// timer.
final class MaintenanceScheduler: Sendable {
    private let work: @Sendable () -> Bool
    private let interval: Int64
    private let pool: BlockingPool
    private let isDue = Atomic<Bool>(false)

    /// - Parameter work: returns true to be called again; may block.
    init(_ work: @escaping @Sendable () -> Bool, interval: Duration, pool: BlockingPool) {
        self.work = work
        self.interval = interval.nanoseconds
        self.pool = pool
    }

    /// Schedules the work if it is not scheduled yet. Called on the thread of `loop`: after each response, at
    /// the start of live content, and to repeat the work.
    func schedule(on loop: EventLoop) {
        if !isDue.load(ordering: .relaxed) { scheduleFirst(on: loop) }
    }

    /// Not inlined, because ``schedule(on:)`` would then retain this object after each response.
    @inline(never)
    private func scheduleFirst(on loop: EventLoop) {
        if isDue.exchange(true, ordering: .relaxed) { return }
        loop.schedule(MaintenanceTimer(self, loop), after: interval)
    }

    fileprivate func run(on loop: EventLoop) {
        // Reset before the work, so that a request that arrives during the work schedules it again.
        isDue.store(false, ordering: .relaxed)
        // Do not use a task that awaits the work: if the loop ended during the work, the task would keep the
        // loop alive forever.
        let isAccepted = pool.start { [self] in
            if work() { scheduleAgain(on: loop) }
        }
        if !isAccepted { schedule(on: loop) }
    }

    private func scheduleAgain(on loop: EventLoop) {
        Task(executorPreference: loop) { [weak self] in
            if !loop.isDraining { self?.schedule(on: loop) }
        }
    }
}

private final class MaintenanceTimer: TimerEntry {
    private let maintenance: MaintenanceScheduler
    private unowned let loop: EventLoop

    init(_ maintenance: MaintenanceScheduler, _ loop: EventLoop) {
        self.maintenance = maintenance
        self.loop = loop
    }

    override func deadlinePassed() { maintenance.run(on: loop) }
}
