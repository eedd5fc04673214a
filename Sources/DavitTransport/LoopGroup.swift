internal import DavitSystem

/// The loops of a server and their threads.
final class LoopGroup: Sendable {
    private let loops: [EventLoop]
    private let running: Latch
    private let context: ServerContext
    private let grace: Int64
    private let stopsOnSignals: Bool
    private let onHangUp: (@Sendable () -> Void)?
    private let accept: Listener.Accept

    init(_ configuration: TransportConfiguration, context: ServerContext) throws(SystemError) {
        let count = configuration.loops > 0 ? configuration.loops : Thread.coreCount
        var loops: [EventLoop] = []
        for _ in 0..<count { loops.append(try EventLoop()) }
        self.loops = loops
        self.context = context
        running = Latch(count: count)
        grace = configuration.grace.nanoseconds
        stopsOnSignals = configuration.stopsOnSignals
        onHangUp = configuration.onHangUp
        accept = configuration.accept
    }

    /// Starts the threads. The first loop accepts.
    func start(_ sockets: [ListeningSocket]) throws(SystemError) {
        for loop in loops.dropFirst() { loop.onDrain = { [grace] in GraceTimer(loop).start(grace) } }
        // The others are told when nothing is accepted any longer, so that none ends and then gets a connection.
        loops[0].onDrain = { [loops, grace] in
            GraceTimer(loops[0]).start(grace)
            for loop in loops.dropFirst() { loop.requestDrain() }
        }
        if stopsOnSignals {
            try loops[0].queue.watchSignals(Signals.stopping)
            loops[0].onSignal = { [self] in requestDrain() }
        }
        if let onHangUp {
            try loops[0].queue.watchHangUp()
            loops[0].onHangUp = { [context] in context.pool.start(onHangUp) }
        }
        for socket in sockets {
            guard let descriptor = socket.take() else { continue }
            Listener(descriptor, loops: loops, server: context, accept: accept).start()
        }
        do throws(SystemError) {
            for (index, loop) in loops.enumerated() {
                try Thread.start(named: "davit-loop-\(index)") { [running] in
                    loop.run()
                    running.countDown()
                }
            }
        } catch {
            requestDrain()
            throw error
        }
    }

    func requestDrain() { loops[0].requestDrain() }

    /// Blocks until all loops have ended.
    func wait() { running.wait() }
}

/// Ends what has not ended by itself when a loop drains.
private final class GraceTimer: TimerEntry {
    /// After connections were cut, their tasks get so long to notice.
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
