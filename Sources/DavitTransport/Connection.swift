internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// One connection of a peer.
///
/// Requests that need no waiting are answered where their bytes arrive. For others a task runs ``serve()``; after a
/// while without requests it ends, and what is left is this object. All state belongs to the thread of the loop; that makes
/// the unchecked conformance true. What each request touches is not checked for overlapping access at run
/// time: no access lasts longer than one call of the system or of a value.
@safe final class Connection: LoopMember, @unchecked Sendable {
    /// Why a wait ended.
    enum Wake { case ready, timeout, park, closing }

    /// What is waited for.
    enum Waiting { case nothing, request, head, content, room, end }

    /// How far a connection to a port with TLS has come; all others are open from the beginning.
    enum Phase { case greeting, handshake, open }

    let loop: EventLoop
    @safe @exclusivity(unchecked) private(set) var server: ServerContext
    let ends: ConnectionEnds
    let tap: (any ConnectionTap)?
    @safe @exclusivity(unchecked) private(set) var channel: Channel
    @safe @exclusivity(unchecked) private(set) var phase: Phase
    @safe @exclusivity(unchecked) var task: Task<Void, Never>?
    /// What the task serves; nil without a task.
    private var exchange: Exchange?

    @safe @exclusivity(unchecked) private var waiting = Waiting.nothing
    private var continuation: UnsafeContinuation<Wake, Never>?
    /// When the connection without a request is closed; before that it may have had another deadline.
    @safe @exclusivity(unchecked) private var idleEnd: Int64 = 0
    /// When a handshake must be over.
    private(set) var handshakeEnd: Int64 = 0

    /// What the last event said and no call has disproved since.
    @safe @exclusivity(unchecked) var isReadable = false
    /// The peer sends no more: read until the end whatever a short read may suggest.
    @safe @exclusivity(unchecked) private(set) var hasEnded = false
    /// Nothing can be sent any longer.
    @safe @exclusivity(unchecked) private(set) var isBroken = false
    private(set) var isClosed = false
    /// The connection ends when what is in flight has been answered.
    private var isLeaving = false
    /// What is being sent, if its pieces are waited for.
    var live: (any BodyStream)?
    /// On the clock of the loop.
    private var birth: Int64 = 0
    @safe @exclusivity(unchecked) var bytesReceived: Int64 = 0

    /// What the socket had no room for, from `unsentStart` on.
    @safe @exclusivity(unchecked) var unsent: [UInt8] = []
    @safe @exclusivity(unchecked) var unsentStart = 0
    @safe @exclusivity(unchecked) var sending: ProgressGuard
    /// Bytes moved since others had a turn.
    private var bytesInTurn = 0
    /// Bytes the peer had not acknowledged when the wait for room began.
    private var outstanding = 0

    init(
        _ socket: consuming FileDescriptor, ends: ConnectionEnds, loop: EventLoop, server: ServerContext
    ) {
        self.loop = loop
        self.server = server
        self.ends = ends
        channel = Channel(socket)
        tap = server.tap?(ends)
        phase = server.tls == nil ? .open : .greeting
        sending = server.deadlines.progressGuard
        super.init()
    }

    // MARK: Life

    /// Hands the connection to its loop; called once, on any thread.
    func start() {
        if loop.isCurrentThread { return begin() }
        Task(executorPreference: loop) { self.begin() }
    }

    /// A new connection is like a parked one: its first bytes start a task.
    private func begin() {
        loop.add(self)
        birth = loop.now
        do {
            try loop.queue.watch(channel.descriptor, token: token)
        } catch {
            server.log.warning("a connection could not be watched", ["error": "\(error)"])
            return close()
        }
        if loop.isDraining { return drain() }
        guard phase != .open else { return scheduleEnd() }
        handshakeEnd = loop.now + server.deadlines.handshake
        loop.schedule(self, at: handshakeEnd)
    }

    /// From now on the connection is closed if no request comes.
    private func scheduleEnd() {
        guard channel.tls != nil else { return loop.schedule(self, after: server.deadlines.keepAlive) }
        idleEnd = loop.now + server.deadlines.keepAlive
        loop.schedule(self, after: server.deadlines.parking)
    }

    /// Serves what is there without a task; starts one where something has to be waited for.
    private func serveAtOnce() {
        bytesInTurn = 0
        let exchange = Exchange(on: self)
        let outcome = exchange.serveAtOnce()
        if loop.output.isOwned(by: self) { loop.output.flush() }
        if channel.hasOutput { sendUnsent() }
        if outcome == .ended && !hasUnsent || isBroken {
            exchange.giveBack()
            close()
        } else if outcome == .done && !isReadable && (!hasUnsent || canRestWithOutput) {
            exchange.giveBack()
            if isEnding { close() } else { scheduleEnd() }
        } else {
            self.exchange = exchange
            task = Task(executorPreference: loop) { await self.serve() }
            if hasEnded { task?.cancel() }
        }
    }

    /// Ciphertext of answers that are complete goes out when the socket has room, without a task; it is bounded, and so is
    /// the time that the connection has for its next request.
    private var canRestWithOutput: Bool { !hasUntaken && !isEnding }

    private nonisolated(nonsending) func serve() async {
        guard let outcome = await exchange?.run() else { return }
        exchange = nil
        switch outcome {
        case .park: park()
        case .close: close()
        case .linger:
            await linger()
            close()
        }
        task = nil
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        loop.output.discard(of: self)
        if !isBroken { channel.sayEnd() }
        let isSecure = channel.tls != nil
        isBroken = true
        channel = .closed()
        tap?.closed()
        loop.remove(self)
        loop.heapCare.connectionGaveUp(on: loop, pool: server.pool)
        server.connectionClosed(self, isSecure: isSecure)
    }

    /// What is left to say when it is closed.
    func record(isSecure: Bool) -> ConnectionRecord {
        ConnectionRecord(
            ends: ends, isSecure: isSecure, bytesReceived: bytesReceived, bytesSent: sending.total,
            duration: .nanoseconds(loop.now - birth))
    }

    func markBroken() { isBroken = true }

    /// No further request is waited for.
    var isEnding: Bool { isLeaving || loop.isDraining }

    // MARK: TLS

    #if TLS
    func beginHandshake(_ tls: TLSLayer) {
        channel.begin(tls)
        phase = .handshake
    }

    /// Requests may come, and one may have come with the end of the handshake.
    func endHandshake() {
        phase = .open
        if isEnding { return close() }
        if channel.tls?.hasInput == true { isReadable = true }
        if isReadable { return serveAtOnce() }
        sendUnsent()
        if isBroken { close() } else { scheduleEnd() }
    }
    #endif

    /// Goes on without TLS, and with what `server` answers.
    func serveInsecurely(_ server: ServerContext) {
        self.server = server
        phase = .open
        loop.schedule(self, after: server.deadlines.keepAlive)
        serveAtOnce()
    }

    /// What has arrived is for TLS, or for HTTP.
    private func serveArrived() {
        #if TLS
        if phase != .open { return shakeHands() }
        #endif
        serveAtOnce()
    }

    // MARK: Events

    /// A step of the handshake runs on the pool: the session is its own until that has ended.
    private var isOnPool: Bool { phase == .handshake && task != nil }

    override func eventArrived(_ event: Event) {
        if event.isReadable || event.hasEnded { isReadable = true }
        if event.hasEnded { hasEnded = true }
        // A client that has closed the connection cannot be told from one that only ended its side of it. Either way the
        // task is cancelled: long work then stops, while a short answer is still sent. Content without an end is cut,
        // because no write might fail for long.
        if event.isBroken || event.hasEnded && live != nil { isBroken = true }
        if event.isBroken || event.hasEnded { task?.cancel() }
        if event.isWritable && !isOnPool {
            if hasUnsent && waiting != .room { sendUnsent() }
            if channel.endHold() { isReadable = true }
        }
        switch waiting {
        case .request, .head, .content, .end:
            if isReadable { resume(.ready) }
        case .room:
            if event.isWritable || isBroken { resume(.ready) }
        case .nothing:
            guard task == nil, !isClosed else { return }
            if isBroken { close() } else if isReadable { serveArrived() }
        }
    }

    override func deadlinePassed() {
        switch waiting {
        case .nothing:
            if task == nil { idlenessPassed() }
        case .request:
            resume(.park)
        case .room:
            extendOrGiveUp()
        case .head, .content, .end:
            resume(.timeout)
        }
    }

    private func idlenessPassed() {
        if phase == .open, channel.hasOutput, !isBroken {
            // The peer still reads its answer: a task waits for it, and looks whether it comes on.
            exchange = Exchange(on: self)
            task = Task(executorPreference: loop) { await self.serve() }
            return
        }
        guard loop.now < idleEnd else { return close() }
        channel.releaseMemory()
        loop.heapCare.connectionGaveUp(on: loop, pool: server.pool)
        loop.schedule(self, at: idleEnd)
    }

    /// Closes an idle connection, but for one whose next request has arrived: to close that would reset it, and leave
    /// its peer in doubt about what has been done.
    override func drain() {
        isLeaving = true
        live?.wrapUp()
        guard task == nil || waiting == .request else { return }
        guard phase == .open else { return close() }
        // Nothing may have said so yet: the look tells.
        isReadable = true
        if task == nil { serveAtOnce() } else { resume(.ready) }
    }

    override func dismiss() { drain() }

    override func abort() {
        task?.cancel()
        isBroken = true
        isReadable = true
        channel.shutDown()
        if waiting != .nothing { resume(.closing) }
    }

    override func endRequest(where isRevoked: (HTTPRequest) -> Bool) {
        if let request = exchange?.requestInFlight, isRevoked(request) { abort() }
    }

    // MARK: Waiting

    /// So many bytes without a wait, and other connections get a turn: a fast peer must not keep the loop.
    private static let bytesPerTurn = 1024 * 1024

    /// True if others should have a turn before this connection sends much.
    var isTurnOver: Bool { bytesInTurn >= Self.bytesPerTurn }

    func didSendInTurn(_ count: Int) { bytesInTurn += count }

    nonisolated(nonsending) func giveTurn(after count: Int) async {
        bytesInTurn += count
        guard bytesInTurn >= Self.bytesPerTurn else { return }
        bytesInTurn = 0
        await loop.turn()
    }

    /// Waits until there is something to read.
    /// - Parameter deadline: nanoseconds on the clock of the loop.
    nonisolated(nonsending) func waitForInput(_ what: Waiting, until deadline: Int64) async -> Wake {
        // What was sent meanwhile may have made room for input that nothing reports again.
        if channel.endHold() { isReadable = true }
        if isReadable { return .ready }
        return await wait(what, until: deadline)
    }

    /// Waits for a request that may never come.
    nonisolated(nonsending) func waitForRequest() async -> Wake {
        if channel.endHold() { isReadable = true }
        if isReadable { return .ready }
        if isEnding { return .closing }
        idleEnd = loop.now + server.deadlines.keepAlive
        if loop.waitingCount >= server.maxWaitingPerLoop { return .park }
        loop.waitingCount += 1
        let wake = await wait(.request, until: loop.now + server.deadlines.parking)
        loop.waitingCount -= 1
        // Between the deadline and this moment something may have come.
        return wake == .park && isReadable ? .ready : wake
    }

    /// From now on only this object is left, until an event or the end of the time for idle connections.
    private func park() {
        guard !isClosed else { return }
        // The end may have been asked for after the decision to park.
        if isEnding { return close() }
        channel.releaseMemory()
        loop.schedule(self, at: max(idleEnd, loop.now + 1))
        loop.heapCare.connectionGaveUp(on: loop, pool: server.pool)
        server.observe(.parked)
    }

    /// Waits until the socket has room again.
    nonisolated(nonsending) func waitForRoom() async throws(HTTPError) {
        guard !isBroken else { throw .disconnected }
        outstanding = channel.outstandingBytes
        let wake = await wait(.room, until: sending.beginWait(now: loop.now))
        sending.endWait(now: loop.now)
        guard wake == .ready, !isBroken else { throw .disconnected }
    }

    private nonisolated(nonsending) func wait(_ what: Waiting, until deadline: Int64) async -> Wake {
        // Two tasks of a handler cannot wait for one connection.
        guard waiting == .nothing, loop.isCurrentThread else { return .closing }
        waiting = what
        loop.schedule(self, at: deadline)
        return await unsafe withUnsafeContinuation { unsafe continuation = $0 }
    }

    private func resume(_ wake: Wake) {
        guard let resumed = unsafe continuation else { return }
        unsafe continuation = nil
        waiting = .nothing
        loop.schedule(self, at: .max)
        unsafe resumed.resume(returning: wake)
    }

    /// The socket reports room only when much of its memory is free, which takes a slow peer longer than the
    /// deadline; what it has acknowledged meanwhile counts.
    private func extendOrGiveUp() {
        let left = channel.outstandingBytes
        sending.endWait(now: loop.now)
        sending.didReachPeer(max(0, outstanding - left))
        outstanding = left
        let deadline = sending.beginWait(now: loop.now)
        if deadline > loop.now { loop.schedule(self, at: deadline) } else { resume(.timeout) }
    }
}
