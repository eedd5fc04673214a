internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// One thread that waits for events and runs the tasks of its connections.
///
/// All state but `inbox`, `isSignalled`, `thread`, `request` and `load` belongs to the thread that calls
/// ``run()``; that makes the unchecked conformance true. What each event touches is not checked for overlapping
/// access at run time: no access lasts longer than a call of a value.
@safe final class EventLoop: TaskExecutor, @unchecked Sendable {
    /// What other threads can ask of a loop.
    enum Request: Int, AtomicRepresentable { case none, drain }

    let queue: SystemEventQueue
    /// Connections that were given to this loop and are open, or will be.
    let load = Atomic<Int>(0)
    /// Called on the thread of the loop for each signal that its queue has taken.
    var onSignal: ((Int32) -> Void)?
    /// The same for SIGHUP.
    var onHangUp: (() -> Void)?

    private let inbox = Mutex<[UnownedJob]>([])
    private let isSignalled = Atomic<Bool>(false)
    private let thread = Atomic<UInt>(0)
    private let request = Atomic<Request>(.none)

    @safe @exclusivity(unchecked) private(set) var now = Clock.coarseNow()
    @safe @exclusivity(unchecked) private(set) var members = MemberTable()
    let output = LoopOutput()
    @safe @exclusivity(unchecked) var memory = LoopMemory()
    let heapCare = HeapCare()
    /// Connections whose task waits for a request.
    @safe @exclusivity(unchecked) var waitingCount = 0
    /// Where response heads are written before they are composed.
    @safe @exclusivity(unchecked) var head: [UInt8] = []
    @safe @exclusivity(unchecked) private var wheel: TimerWheel
    @safe @exclusivity(unchecked) private var ready = JobRing()
    @safe @exclusivity(unchecked) private var taken: [UnownedJob] = []
    @safe @exclusivity(unchecked) private var due: [TimerEntry] = []
    @safe @exclusivity(unchecked) private var turns: [Turn] = []
    @safe @exclusivity(unchecked) private(set) var isDraining = false
    @safe @exclusivity(unchecked) private var isStopped = false
    @safe @exclusivity(unchecked) private var date = LoopDate()

    init() throws(SystemError) {
        queue = try SystemEventQueue()
        wheel = TimerWheel(now: Clock.coarseNow())
    }

    var isCurrentThread: Bool { thread.load(ordering: .relaxed) == Thread.current }

    // MARK: Jobs

    /// A task that let others go first; resumed once.
    @safe private struct Turn {
        let continuation: UnsafeContinuation<Void, Never>
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrentThread { return ready.push(job) }
        inbox.withLock { $0.append(job) }
        if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { queue.wake() }
    }

    /// Lets events be handled and all other tasks that are ready run.
    nonisolated(nonsending) func turn() async {
        await unsafe withUnsafeContinuation { turns.append(unsafe Turn(continuation: $0)) }
    }

    // MARK: Members and deadlines

    func add(_ member: LoopMember) { members.insert(member) }

    func remove(_ member: LoopMember) {
        wheel.remove(member)
        members.remove(member)
    }

    func schedule(_ entry: TimerEntry, at deadline: Int64) { wheel.schedule(entry, at: deadline) }

    func schedule(_ entry: TimerEntry, after nanoseconds: Int64) {
        wheel.schedule(entry, at: now + nanoseconds)
    }

    /// The value of `Date`, 29 bytes.
    var dateText: [UInt8] { date.text }

    // MARK: Life

    /// Ends connections, each when its request has been answered, and then ``run()``. From any thread.
    func requestDrain() {
        request.store(.drain, ordering: .releasing)
        queue.wake()
    }

    /// Ends connections as ``requestDrain()`` does; the loop goes on, and new ones may come.
    func dismissMembers() {
        for member in members.all { member.dismiss() }
    }

    /// Cuts all connections and cancels their tasks.
    func abortMembers() {
        for member in members.all { member.abort() }
    }

    /// Ends the requests in flight that `isRevoked` selects.
    func endRequests(where isRevoked: (HTTPRequest) -> Bool) {
        for member in members.all { member.endRequest(where: isRevoked) }
    }

    /// Ends ``run()`` after this turn.
    func stop() { isStopped = true }

    /// Calls `body` when the loop drains; on the thread of the loop.
    var onDrain: (() -> Void)?

    func run() {
        thread.store(Thread.current, ordering: .relaxed)
        let executor = unsafe asUnownedTaskExecutor()
        while !isStopped {
            let count = queue.wait(milliseconds: waitMilliseconds())
            now = Clock.coarseNow()
            date.update()
            for index in 0..<count { handle(queue.event(at: index)) }
            resumeTurns()
            unsafe runJobs(on: executor)
            passDeadlines()
            if isDraining && load.load(ordering: .acquiring) == 0 && ready.isEmpty { isStopped = true }
        }
        thread.store(0, ordering: .relaxed)
        onSignal = nil
        onHangUp = nil
        // Their deadlines pass no more, and what they hold may be wanted elsewhere.
        wheel = TimerWheel(now: now)
    }

    private func waitMilliseconds() -> Int32 {
        if !ready.isEmpty || !turns.isEmpty { return 0 }
        guard let next = wheel.nextAdvance else { return -1 }
        return Int32(clamping: max(0, (next - now) / 1_000_000 + 1))
    }

    private func handle(_ event: Event) {
        switch event.token {
        case EventToken.wake: takeInbox()
        case EventToken.signal:
            for number in queue.takeSignals() { onSignal?(number) }
        case EventToken.hangUp: onHangUp?()
        default: members.member(event.token)?.eventArrived(event)
        }
    }

    private func takeInbox() {
        // Before taking: a job that comes later signals again.
        isSignalled.store(false, ordering: .releasing)
        inbox.withLock { swap(&$0, &taken) }
        // By index: a loop over the array would still hold its memory, so that it could not be kept.
        for index in taken.indices { ready.push(taken[index]) }
        taken.removeAll(keepingCapacity: true)
        if !isDraining && request.load(ordering: .acquiring) == .drain { drain() }
    }

    private func drain() {
        isDraining = true
        for member in members.all { member.drain() }
        onDrain?()
        onDrain = nil
    }

    private func resumeTurns() {
        guard !turns.isEmpty else { return }
        let resumed = turns
        turns.removeAll(keepingCapacity: true)
        for turn in resumed { unsafe turn.continuation.resume() }
    }

    /// Runs the jobs that are ready now, not those they add.
    private func runJobs(on executor: UnownedTaskExecutor) {
        for _ in 0..<ready.count {
            guard let job = ready.pop() else { return }
            unsafe job.runSynchronously(on: executor)
            // What a job composed must not wait for whoever needs the memory next.
            if output.isOwned { output.flush() }
        }
    }

    private func passDeadlines() {
        wheel.advance(to: now, due: &due)
        guard !due.isEmpty else { return }
        // An earlier one may have given a later one more time.
        for entry in due where entry.deadline <= now { entry.deadlinePassed() }
        due.removeAll(keepingCapacity: true)
    }
}
