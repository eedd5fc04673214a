internal import DavitServer
internal import DavitSystem
internal import Synchronization

/// Runs what has to be done a while after requests, without a thread or a timer where there are none.
final class Upkeep: Sendable {
    private let work: @Sendable () -> Bool
    private let interval: Int64
    private let pool: BlockingPool
    private let isDue = Atomic<Bool>(false)

    /// - Parameter work: returns true if it should be called again; may block.
    init(_ work: @escaping @Sendable () -> Bool, interval: Duration, pool: BlockingPool) {
        self.work = work
        self.interval = interval.nanoseconds
        self.pool = pool
    }

    /// A request was answered on the thread of `loop`.
    func note(on loop: EventLoop) {
        if isDue.load(ordering: .relaxed) { return }
        if isDue.exchange(true, ordering: .relaxed) { return }
        loop.schedule(UpkeepTimer(self, loop), after: interval)
    }

    fileprivate func run(on loop: EventLoop) {
        // Before the work: a request that comes while it runs makes it due again.
        isDue.store(false, ordering: .relaxed)
        // Not a task that waits for the work: one that waits when the loop ends would hold it for ever.
        let isAccepted = pool.start { [self] in
            if work() { noteAgain(on: loop) }
        }
        if !isAccepted { note(on: loop) }
    }

    private func noteAgain(on loop: EventLoop) {
        Task(executorPreference: loop) { [weak self] in
            if !loop.isDraining { self?.note(on: loop) }
        }
    }
}

private final class UpkeepTimer: TimerEntry {
    private let upkeep: Upkeep
    private unowned let loop: EventLoop

    init(_ upkeep: Upkeep, _ loop: EventLoop) {
        self.upkeep = upkeep
        self.loop = loop
    }

    override func deadlinePassed() { upkeep.run(on: loop) }
}
