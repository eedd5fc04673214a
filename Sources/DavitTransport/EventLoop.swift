internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// A thread that waits for events and runs the tasks of its connections.
///
/// All state except `inbox`, `isSignaled`, `thread`, `request`, `load`, `jobNumber` and `leftThreads` belongs to
/// the thread that calls ``run()``, which justifies the unchecked conformance. Exclusivity checks are disabled for
/// the state that each event uses: no access lasts longer than a single call. After ``run()`` has ended, the state
/// belongs to the thread that runs late jobs; see `runAfterEnd()`. While the thread runs a brief job, the state
/// belongs to whichever thread first changes `jobNumber`; see `runBriefJobs()`.
@safe final class EventLoop: TaskExecutor, @unchecked Sendable {
    /// The requests that other threads can make to the loop.
    enum Request: Int, AtomicRepresentable { case none, drain }

    let queue: SystemEventQueue
    /// The number of connections assigned to this loop, including those that it has not added yet.
    let load = Atomic<Int>(0)
    /// Called on the loop's thread for each signal that its event queue has received.
    var onSignal: ((Int32) -> Void)?
    /// Called on the loop's thread for SIGHUP.
    var onSIGHUP: (() -> Void)?

    private let inbox = Mutex(Inbox())
    private let isSignaled = Atomic<Bool>(false)
    private let thread = Atomic<UInt>(0)
    private let request = Atomic<Request>(.none)

    @safe @exclusivity(unchecked) private(set) var now = Clock.coarseNow()
    @safe @exclusivity(unchecked) private(set) var members = MemberTable()
    let output = LoopOutput()
    @safe @exclusivity(unchecked) var memory = LoopMemory()
    let heapTrimmer = HeapTrimmer()
    /// The number of connections whose task waits for a request.
    @safe @exclusivity(unchecked) var waitingCount = 0
    /// Scratch memory for response heads that are encoded before they are appended to the output.
    @safe @exclusivity(unchecked) var head: [UInt8] = []
    /// The statistics of this loop; nil if the server keeps none.
    @safe @exclusivity(unchecked) var counts: RequestCounts?
    /// Whether ``now`` is precise, to measure the durations of requests.
    private let measuresTime: Bool
    @safe @exclusivity(unchecked) private var wheel: TimerWheel
    @safe @exclusivity(unchecked) private var ready = JobRing()
    @safe @exclusivity(unchecked) private var taken: [UnownedJob] = []
    @safe @exclusivity(unchecked) private var due: [TimerEntry] = []
    @safe @exclusivity(unchecked) private var turns: [Turn] = []
    @safe @exclusivity(unchecked) private(set) var isDraining = false
    /// Whether the loop no longer handles events. A wait that began now would never end.
    @safe @exclusivity(unchecked) private(set) var isStopped = false
    @safe @exclusivity(unchecked) private var date = LoopDate()

    /// Odd while the thread runs a brief job. Increased by the thread when the job has ended, or before by one that
    /// continues the loop.
    let jobNumber = Atomic<UInt>(0)
    /// Set before ``run()``. Without it, all jobs run in their pools.
    @safe @exclusivity(unchecked) unowned var supervisor: LoopSupervisor? {
        didSet { isSupervised = supervisor != nil }
    }
    /// Whether there is a ``supervisor``, because reading an unowned reference costs 100 instructions.
    @safe @exclusivity(unchecked) private var isSupervised = false
    /// The number of former threads of the loop that still run a job.
    private let leftThreads = Atomic<Int>(0)
    private let briefJobs = BriefJobs()
    @safe @exclusivity(unchecked) private var briefJobPause = BriefJobPause()

    /// - Parameter countsRequests: whether to keep statistics of requests.
    init(countsRequests: Bool = false) throws(SystemError) {
        counts = countsRequests ? RequestCounts() : nil
        measuresTime = countsRequests
        queue = try SystemEventQueue()
        wheel = TimerWheel(now: Clock.coarseNow())
    }

    var isCurrentThread: Bool { thread.load(ordering: .relaxed) == SystemThread.current }

    // MARK: Jobs

    /// Jobs that other threads have enqueued.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        /// Whether ``EventLoop/run()`` has ended and takes no more jobs.
        var hasEnded = false
        /// Whether a thread runs the jobs that arrive after the end.
        var isServed = false

        /// Adds a job.
        /// - Returns: whether a thread must be started for it.
        mutating func append(_ job: UnownedJob) -> Bool {
            jobs.append(job)
            guard hasEnded, !isServed else { return false }
            isServed = true
            return true
        }
    }

    /// A task that has yielded. Resumed exactly once.
    @safe private struct Turn {
        let continuation: UnsafeContinuation<Void, Never>
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrentThread { return ready.push(job) }
        if inbox.withLock({ $0.append(job) }) { return runLateJobs() }
        if !isSignaled.exchange(true, ordering: .acquiringAndReleasing) { queue.wake() }
    }

    /// Yields so that pending events are handled and all other ready tasks run.
    nonisolated(nonsending) func turn() async {
        await unsafe withUnsafeContinuation { turns.append(unsafe Turn(continuation: $0)) }
    }

    // MARK: Members and deadlines

    /// Traps in debug builds if called while the loop runs on another thread, because only its own thread may
    /// use its state.
    func assertConfined(file: StaticString = #fileID, line: UInt = #line) {
        assert(
            isCurrentThread
                || thread.load(ordering: .relaxed) == 0 && !Self.isOfJob(jobNumber.load(ordering: .relaxed)),
            "used outside the loop's thread", file: file, line: line)
    }

    func add(_ member: LoopMember) {
        assertConfined()
        members.insert(member)
    }

    func remove(_ member: LoopMember) {
        assertConfined()
        wheel.remove(member)
        members.remove(member)
    }

    func schedule(_ entry: TimerEntry, at deadline: Int64) {
        assertConfined()
        wheel.schedule(entry, at: deadline)
    }

    func schedule(_ entry: TimerEntry, after nanoseconds: Int64) {
        let (deadline, overflow) = now.addingReportingOverflow(nanoseconds)
        schedule(entry, at: overflow ? .max : deadline)
    }

    /// The value of the `Date` field, 29 bytes.
    var dateText: [UInt8] { date.text }

    // MARK: Life

    /// Closes each connection after its request in flight, then ends ``run()``. Can be called on any thread.
    func requestDrain() {
        request.store(.drain, ordering: .releasing)
        queue.wake()
    }

    /// Closes connections as ``requestDrain()`` does, but the loop keeps running and accepts new ones.
    func dismissMembers() {
        for member in members.all { member.dismiss() }
    }

    /// Aborts all connections and cancels their tasks.
    func abortMembers() {
        for member in members.all { member.abort() }
    }

    /// Aborts the connections whose peers `isRevoked` selects.
    func abortConnections(where isRevoked: (NetworkAddress) -> Bool) {
        for member in members.all { member.abort(where: isRevoked) }
    }

    /// Aborts the requests in flight that `isRevoked` selects.
    func endRequests(where isRevoked: (HTTPRequest) -> Bool) {
        for member in members.all { member.endRequest(where: isRevoked) }
    }

    /// Ends ``run()`` after the current iteration.
    func stop() { isStopped = true }

    /// Called once on the loop's thread when the loop begins to drain.
    var onDrain: (() -> Void)?

    /// Runs the loop until it ends, or until another thread continues it because a brief job of this one takes too
    /// long.
    func run() {
        thread.store(SystemThread.current, ordering: .relaxed)
        let hasEnded = briefJobs.ofThread(during: { runIterations() })
        guard hasEnded else { return }
        supervisor?.loopEnded()
        onSignal = nil
        onSIGHUP = nil
        // No deadline passes from now on; release the entries and what they reference.
        wheel.removeAll()
        thread.store(0, ordering: .relaxed)
        let hasLateJobs = inbox.withLock { inbox in
            inbox.hasEnded = true
            inbox.isServed = !inbox.jobs.isEmpty || !ready.isEmpty || !turns.isEmpty
            return inbox.isServed
        }
        if hasLateJobs { runLateJobs() }
    }

    /// - Returns: false if another thread continues the loop. This one must then not use its state.
    private func runIterations() -> Bool {
        let executor = unsafe asUnownedTaskExecutor()
        while !isStopped {
            let count = queue.wait(milliseconds: waitMilliseconds())
            now = measuresTime ? Clock.now() : Clock.coarseNow()
            date.update()
            for index in 0..<count { handle(queue.event(at: index)) }
            resumeTurns()
            if !ready.isEmpty {
                // Only tasks append brief jobs.
                briefJobs.isOpen = takesBriefJobs
                unsafe runJobs(on: executor)
                briefJobs.isOpen = false
                if !briefJobs.isEmpty, !runBriefJobs() { return false }
            }
            passDeadlines()
            if isDraining && load.load(ordering: .acquiring) == 0 && ready.isEmpty { isStopped = true }
        }
        return true
    }

    /// Runs the jobs that arrive after the end of the loop, so that tasks that were waiting can still end and
    /// release their connections. This requires a separate thread: the thread that resumes a task may hold
    /// locks, and a task that never ends must not delay the end of the server.
    private func runLateJobs() {
        do {
            try SystemThread.start(named: "davit-late") { self.runAfterEnd() }
        } catch {
            runAfterEnd()
        }
    }

    /// Runs jobs on the calling thread until none is left. `isServed` admits one thread at a time.
    private func runAfterEnd() {
        thread.store(SystemThread.current, ordering: .relaxed)
        let executor = unsafe asUnownedTaskExecutor()
        while true {
            let isIdle = inbox.withLock { inbox in
                swap(&inbox.jobs, &taken)
                guard taken.isEmpty, ready.isEmpty, turns.isEmpty else { return false }
                thread.store(0, ordering: .relaxed)
                inbox.isServed = false
                return true
            }
            if isIdle { return }
            moveTaken()
            resumeTurns()
            unsafe runJobs(on: executor)
        }
    }

    private func waitMilliseconds() -> Int32 {
        if !ready.isEmpty || !turns.isEmpty { return 0 }
        guard let next = wheel.nextAdvance else { return -1 }
        return Int32(clamping: max(0, (next - now) / 1_000_000 + 1))
    }

    private func handle(_ event: IOEvent) {
        switch event.token {
        case EventToken.wake: takeInbox()
        case EventToken.signal:
            for number in queue.takeSignals() { onSignal?(number) }
        case EventToken.sighup: onSIGHUP?()
        default: members.member(event.token)?.eventArrived(event)
        }
    }

    private func takeInbox() {
        // Reset before taking the jobs, so that a later job signals again.
        isSignaled.store(false, ordering: .releasing)
        inbox.withLock { swap(&$0.jobs, &taken) }
        moveTaken()
        if !isDraining && request.load(ordering: .acquiring) == .drain { drain() }
    }

    private func moveTaken() {
        // Iterate by index: iterating over the array would retain its storage, so that its capacity could not
        // be kept.
        for index in taken.indices { ready.push(taken[index]) }
        taken.removeAll(keepingCapacity: true)
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

    /// Runs the jobs that are ready now, but not those that they enqueue.
    private func runJobs(on executor: UnownedTaskExecutor) {
        for _ in 0..<ready.count {
            guard let job = ready.pop() else { return }
            unsafe job.runSynchronously(on: executor)
            // Send the output of the job now instead of when another connection claims the buffer.
            if output.isOwned { output.flush() }
        }
    }

    private func passDeadlines() {
        wheel.advance(to: now, due: &due)
        guard !due.isEmpty else { return }
        // An earlier entry may have postponed the deadline of a later one.
        for entry in due where entry.deadline <= now { entry.deadlinePassed() }
        due.removeAll(keepingCapacity: true)
    }

    // MARK: Brief jobs

    /// Whether this value of `jobNumber` says that the thread runs a job.
    static func isOfJob(_ number: UInt) -> Bool { number & 1 == 1 }

    /// While a former thread still runs a job, another could take as long, and more threads would be left behind.
    private var takesBriefJobs: Bool {
        isSupervised && briefJobPause.isOver(at: now) && leftThreads.load(ordering: .relaxed) == 0
    }

    /// Runs brief jobs on this thread for a limited time, and submits the rest to their pools.
    /// - Returns: false if another thread continues the loop. This one must then not use its state.
    private func runBriefJobs() -> Bool {
        let begin = Clock.now()
        var time = begin
        while time - begin < BriefJobPause.longNanoseconds, let supervisor, let job = briefJobs.removeFirst()
        {
            // From here until the number has been claimed, another thread may continue the loop at any time.
            thread.store(0, ordering: .relaxed)
            let number = jobNumber.add(1, ordering: .sequentiallyConsistent).newValue
            let isWatched = supervisor.watch()
            if isWatched { job.perform() }
            let isOurs = claim(number)
            if isOurs {
                thread.store(SystemThread.current, ordering: .relaxed)
                let end = Clock.now()
                briefJobPause.jobEnded(at: end, after: end - time)
                time = end
            } else {
                leftThreads.subtract(1, ordering: .relaxed)
            }
            if isWatched { job.complete() } else { job.submit() }
            guard isOurs else { return false }
        }
        briefJobs.submitAll()
        return true
    }

    /// Makes the calling thread that of the loop, if the loop's thread still runs the job with this number. The caller
    /// must then call ``run()``.
    func takeOver(from number: UInt) -> Bool {
        guard claim(number) else { return false }
        leftThreads.add(1, ordering: .relaxed)
        briefJobPause.jobWasLong(at: Clock.now())
        briefJobs.submitAll()
        return true
    }

    private func claim(_ number: UInt) -> Bool {
        jobNumber.compareExchange(
            expected: number, desired: number &+ 1, ordering: .acquiringAndReleasing
        ).exchanged
    }
}
