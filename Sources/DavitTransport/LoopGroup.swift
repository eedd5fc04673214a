internal import DavitCrypto
internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// The event loops of a server and their threads.
final class LoopGroup: Sendable {
    private let loops: [EventLoop]
    private let threadCompletion: ThreadCompletion
    private let supervisor: LoopSupervisor
    private let ended = Latch(count: 1)
    private let context: ServerContext
    private let addresses: [SocketAddress]
    private let configuration: TransportConfiguration
    private let grace: Int64
    private let stopsOnSignals: Bool
    private let onSIGHUP: (@Sendable () -> Void)?
    private let accept: Listener.Accept
    private let listening = Mutex(Listening())
    /// The statistics of each loop, as of its last response to a poll.
    private let latestCounts: Mutex<[RequestCounts]>
    private let willStop: (@Sendable () -> Void)?
    private let heartbeat: (interval: Duration, beat: @Sendable () -> Void)?

    private struct Listening {
        /// The active listeners. Each of them is used on the first loop, before that loop runs, or after it
        /// has ended.
        var listeners: [Listener] = []
        /// Whether listening has ended permanently.
        var isOver = false
        /// The identifier for ``DavitSystem/Signals/stopListening(_:)``.
        var signalListener: Int?
    }

    /// - Parameter addresses: the addresses to listen on again after a pause.
    init(
        _ configuration: TransportConfiguration, context: ServerContext, addresses: [SocketAddress]
    ) throws(SystemError) {
        let count = configuration.loops > 0 ? configuration.loops : SystemThread.coreCount
        var loops: [EventLoop] = []
        for _ in 0..<count { loops.append(try EventLoop(countsRequests: configuration.countsRequests)) }
        self.loops = loops
        self.context = context
        self.addresses = addresses
        self.configuration = configuration
        threadCompletion = ThreadCompletion(count: count)
        supervisor = LoopSupervisor(loops, threads: threadCompletion, priority: configuration.priority)
        for loop in loops { loop.supervisor = supervisor }
        grace = configuration.grace.nanoseconds
        stopsOnSignals = configuration.stopsOnSignals
        onSIGHUP = configuration.onSIGHUP
        accept = configuration.accept
        willStop = configuration.willStop
        heartbeat = configuration.heartbeat
        latestCounts = Mutex(Array(repeating: RequestCounts(), count: count))
    }

    /// Starts the threads. The first loop accepts connections.
    /// - Parameter onEnd: called on the last thread before ``wait()`` returns; may block. The closure that it
    ///   returns is called when no thread references the server any more.
    func start(
        _ sockets: [ListeningSocket], onEnd: @escaping @Sendable () -> ThreadCompletion.Announcement
    ) throws(SystemError) {
        for loop in loops.dropFirst() { loop.onDrain = { [grace] in GraceTimer(loop).start(grace) } }
        // The other loops drain after the listeners are closed, so that no connection is assigned to a loop
        // that has ended.
        loops[0].onDrain = { [self] in
            listening.withLock { $0.isOver = true }
            willStop?()
            GraceTimer(loops[0]).start(grace)
            for loop in loops.dropFirst() { loop.requestDrain() }
        }
        if let heartbeat { HeartbeatTimer(loops[0], heartbeat.interval, heartbeat.beat).start() }
        if stopsOnSignals {
            try loops[0].queue.watchSignals(Signals.stopping)
            let take: @Sendable (Int32) -> Void = { [weak self] number in
                if Signals.stopping.contains(number) { self?.requestDrain() }
            }
            if SystemEventQueue.signalsReachEveryQueue {
                loops[0].onSignal = take
            } else {
                let id = Signals.listen(take)
                listening.withLock { $0.signalListener = id }
                loops[0].onSignal = { Signals.notify($0) }
            }
        }
        if let onSIGHUP {
            try loops[0].queue.watchSIGHUP()
            loops[0].onSIGHUP = { [context] in context.pool.start(onSIGHUP) }
        }
        let listeners = listeners(on: sockets)
        listening.withLock { $0.listeners = listeners }
        for listener in listeners { listener.start() }
        threadCompletion.setLast { [self] in finish(onEnd) }
        try startThreads()
    }

    private func startThreads() throws(SystemError) {
        var started = 0
        do throws(SystemError) {
            for (index, loop) in loops.enumerated() {
                // The thread must not keep the loop alive after it has ended.
                let held = Held(loop)
                let priority = configuration.priority
                try SystemThread.start(named: "davit-loop-\(index)") { [threadCompletion] in
                    SystemThread.setPriority(priority)
                    held.take()?.run()
                    threadCompletion.threadEnded()
                }
                started += 1
            }
        } catch {
            requestDrain()
            for _ in started..<loops.count { supervisor.loopEnded() }
            // If no thread is running, no loop will drain and close the listeners, so close them here.
            if threadCompletion.remove(loops.count - started) {
                loops[0].onDrain = nil
                _ = finish { {} }
            }
            throw error
        }
    }

    private func listeners(on sockets: [ListeningSocket]) -> [Listener] {
        var listeners: [Listener] = []
        for socket in sockets {
            guard let descriptor = socket.take() else { continue }
            listeners.append(
                Listener(
                    descriptor, at: socket.address, file: socket.file, isOurs: socket.isOurs, loops: loops,
                    server: context, accept: accept))
        }
        return listeners
    }

    /// Closes the remaining listeners. Returns the closure that reports the end. Called when the last thread
    /// ends, or if no thread could be started.
    private func finish(_ onEnd: () -> ThreadCompletion.Announcement) -> ThreadCompletion.Announcement {
        let (left, signalListener) = listening.withLock { state in
            state.isOver = true
            defer { state.listeners = [] }
            return (state.listeners, state.signalListener)
        }
        if let signalListener { Signals.stopListening(signalListener) }
        // Close the listeners that could not start because the loop had ended.
        for listener in left { listener.abandon() }
        let announce = onEnd()
        context.connectionCounter.end()
        return { [ended] in
            ended.countDown()
            announce()
        }
    }

    var loopCount: Int { loops.count }

    func requestDrain() { loops[0].requestDrain() }

    /// Blocks until all loops have ended.
    func wait() { ended.wait() }

    // MARK: While it runs

    func pauseListening(then completion: @escaping @Sendable () -> Void) {
        let loop = loops[0]
        Task(executorPreference: loop) { [weak self] in
            if loop.isStopped { return }
            self?.retireListeners()
            completion()
        }
    }

    private func retireListeners() {
        let retired = listening.withLock { state in
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in retired { listener.retire() }
    }

    /// Binds the sockets on the calling thread and resumes listening.
    func resumeListening() throws(TransportError) {
        try checkPaused()
        let listeners = listeners(on: try ListeningSocket.reopen(configuration, endpoints: addresses))
        let isAdmitted = listening.withLock { state in
            guard !state.isOver, state.listeners.isEmpty else { return false }
            state.listeners = listeners
            return true
        }
        guard isAdmitted else {
            for listener in listeners { listener.abandon() }
            throw TransportError(.notRunning)
        }
        Task(executorPreference: loops[0]) { [weak self] in self?.startListeners() }
    }

    /// Starts the resumed listeners, unless they were paused again in the meantime.
    private func startListeners() {
        for listener in listening.withLock({ $0.listeners }) { listener.start() }
    }

    private func checkPaused() throws(TransportError) {
        let refusal = listening.withLock { state -> TransportError.Reason? in
            if state.isOver { return .notRunning }
            return state.listeners.isEmpty ? nil : .alreadyStarted
        }
        if let refusal { throw TransportError(refusal) }
    }

    #if TLS
    func replaceTLS(_ tls: TLSContext) { context.tls?.replace(tls) }
    #endif

    func dismissConnections() {
        for loop in loops { Task(executorPreference: loop) { loop.dismissMembers() } }
    }

    func abortConnections(where isRevoked: @escaping @Sendable (NetworkAddress) -> Bool) {
        for loop in loops { Task(executorPreference: loop) { loop.abortConnections(where: isRevoked) } }
    }

    func endRequests(where isRevoked: @escaping @Sendable (HTTPRequest) -> Bool) {
        for loop in loops { Task(executorPreference: loop) { loop.endRequests(where: isRevoked) } }
    }

    /// Asks each loop for its statistics; `poll` ends when all have responded.
    func start(_ poll: LoopPoll) {
        for (index, loop) in loops.enumerated() {
            Task(executorPreference: loop) { [weak self] in
                let counts = loop.counts?.copied()
                if let counts { self?.latestCounts.withLock { $0[index] = counts } }
                poll.loopResponded()
            }
        }
    }

    /// The sum of the statistics, as of the last response of each loop to a poll.
    var counts: RequestCounts {
        latestCounts.withLock { $0.reduce(into: RequestCounts()) { $0 += $1 } }
    }

    var connections: ConnectionCounter.Totals { context.connectionCounter.totals }

    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        let loop = loops[0]
        Task(executorPreference: loop) { loop.schedule(ActionTimer(action), after: nanoseconds) }
    }
}

/// Calls a closure once.
private final class ActionTimer: TimerEntry {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    override func deadlinePassed() { action() }
}

/// Aborts the connections that are still open at the end of the grace period, and later stops the loop.
private final class GraceTimer: TimerEntry {
    /// How long tasks may take to end after their connections were aborted.
    private static let lastNanoseconds: Int64 = 5_000_000_000

    private unowned let loop: EventLoop
    private var hasAborted = false

    init(_ loop: EventLoop) { self.loop = loop }

    func start(_ grace: Int64) { loop.schedule(self, after: grace) }

    override func deadlinePassed() {
        if hasAborted { return loop.stop() }
        hasAborted = true
        loop.abortMembers()
        loop.schedule(self, after: Self.lastNanoseconds)
    }
}

/// Reports periodically that a loop is running.
private final class HeartbeatTimer: TimerEntry {
    private unowned let loop: EventLoop
    private let interval: Int64
    private let beat: @Sendable () -> Void

    init(_ loop: EventLoop, _ interval: Duration, _ beat: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.interval = max(1, interval.nanoseconds)
        self.beat = beat
    }

    func start() { loop.schedule(self, after: interval) }

    override func deadlinePassed() {
        beat()
        loop.schedule(self, after: interval)
    }
}
