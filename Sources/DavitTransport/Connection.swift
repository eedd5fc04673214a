internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem

/// A connection to a peer.
///
/// Requests that can be answered without waiting are served in the event handler. For other requests, a task
/// runs ``serve()``; the task ends after some time without requests, and only this object remains. All state
/// belongs to the thread of the loop, which justifies the unchecked conformance to `Sendable`. Exclusivity
/// checks are disabled for the state that each request uses: no access lasts longer than a single call.
@safe final class Connection: LoopMember, @unchecked Sendable {
    /// The reason why a wait ended.
    enum Wake { case ready, timeout, park, closing }

    /// The event that the task waits for.
    enum Waiting { case nothing, request, head, content, room, end, pause }

    /// The progress of the TLS handshake; connections without TLS are `open` from the start.
    enum Phase { case greeting, handshake, open }

    let loop: EventLoop
    @safe @exclusivity(unchecked) private(set) var server: ServerContext
    let endpoints: ConnectionEndpoints
    let tap: (any ConnectionTap)?
    @safe @exclusivity(unchecked) private(set) var channel: Channel
    @safe @exclusivity(unchecked) private(set) var phase: Phase
    @safe @exclusivity(unchecked) var task: Task<Void, Never>?
    /// What requests leave for the next one; lent to the request object of an exchange.
    @safe @exclusivity(unchecked) var requestMemory = RequestMemory()
    /// The exchange that the task serves; nil without a task.
    private var exchange: Exchange?

    @safe @exclusivity(unchecked) private var waiting = Waiting.nothing
    private var continuation: UnsafeContinuation<Wake, Never>?
    /// The time at which the connection is closed if it remains idle. The scheduled deadline may be earlier,
    /// to release memory.
    @safe @exclusivity(unchecked) private var idleEnd: Int64 = 0
    /// The deadline of the handshake.
    private(set) var handshakeEnd: Int64 = 0

    /// Whether input may be available: an event has reported it, and no call has found the socket drained
    /// since then.
    @safe @exclusivity(unchecked) var isReadable = false
    /// Whether the peer has closed its sending side: input must then be read up to the end, even after a
    /// short read.
    @safe @exclusivity(unchecked) private(set) var hasEnded = false
    /// Whether sending is no longer possible.
    @safe @exclusivity(unchecked) private(set) var isBroken = false
    private(set) var isClosed = false
    /// Whether the connection closes after the request in flight.
    private var isLeaving = false
    /// The stream whose pieces are being sent as soon as they are generated, if any. It may be endless.
    var liveStream: (any BodyStream)?
    /// The time at which the connection began, on the clock of the loop.
    private var birth: Int64 = 0
    @safe @exclusivity(unchecked) var bytesReceived: Int64 = 0

    /// Output that the channel has not accepted yet, starting at `unsentStart`.
    @safe @exclusivity(unchecked) var unsent: [UInt8] = []
    @safe @exclusivity(unchecked) var unsentStart = 0
    @safe @exclusivity(unchecked) var sending: TransferRateMonitor
    /// Bytes transferred since other connections last had a turn.
    private var bytesInTurn = 0
    /// Bytes that the peer had not acknowledged at the last check during a wait for space in the send buffer.
    private var outstanding = 0

    init(
        _ socket: consuming FileDescriptor, endpoints: ConnectionEndpoints, loop: EventLoop,
        server: ServerContext
    ) {
        self.loop = loop
        self.server = server
        self.endpoints = endpoints
        channel = Channel(socket)
        tap = server.tap?(endpoints)
        phase = server.tls == nil ? .open : .greeting
        sending = server.deadlines.transferRateMonitor
        super.init()
    }

    // MARK: Life

    /// Adds the connection to its loop. Called once, on any thread.
    func start() {
        if loop.isCurrentThread { return begin() }
        Task(executorPreference: loop) { self.begin() }
    }

    /// Registers the connection with its loop, which waits for the first bytes without a task.
    private func begin() {
        loop.add(self)
        birth = loop.now
        do {
            try loop.queue.watch(channel.descriptor, token: token)
        } catch {
            server.log.warning("cannot watch connection; closing it", ["error": "\(error)"])
            return close()
        }
        if loop.isDraining { return drain() }
        guard phase != .open else { return scheduleEnd() }
        handshakeEnd = loop.now + server.deadlines.handshake
        loop.schedule(self, at: handshakeEnd)
    }

    /// Schedules the close of the connection for the case that no request arrives; with TLS, first schedules
    /// the release of its memory.
    private func scheduleEnd() {
        guard channel.tls != nil else { return loop.schedule(self, after: server.deadlines.keepAlive) }
        idleEnd = loop.now + server.deadlines.keepAlive
        loop.schedule(self, after: server.deadlines.parking)
    }

    /// Serves the available input without a task; starts a task if a request has to wait for something.
    private func serveWithoutTask() {
        bytesInTurn = 0
        let exchange = Exchange(on: self)
        let outcome = exchange.serveWithoutTask()
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

    /// Whether the connection may idle while ciphertext of complete responses is pending. The ciphertext is
    /// sent on events, without a task; its amount is bounded, and the idle deadline still applies.
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
        if !isBroken { channel.sendCloseNotify() }
        let isSecure = channel.tls != nil
        isBroken = true
        channel = .closed()
        tap?.closed()
        loop.remove(self)
        loop.heapTrimmer.connectionGaveUp(on: loop, pool: server.pool)
        server.connectionClosed(self, isSecure: isSecure)
    }

    /// The record of the connection for ``TransportConfiguration/connectionClosed``.
    func record(isSecure: Bool) -> ConnectionRecord {
        ConnectionRecord(
            endpoints: endpoints, isSecure: isSecure, bytesReceived: bytesReceived, bytesSent: sending.total,
            duration: .nanoseconds(loop.now - birth))
    }

    func markBroken() { isBroken = true }

    /// Makes ``close()`` reset the connection. If that is impossible, the connection is closed as usual.
    func resetOnClose() {
        try? Socket.setReset(channel.descriptor)
        isBroken = true
    }

    /// Whether the connection closes instead of waiting for another request.
    var isEnding: Bool { isLeaving || loop.isDraining }

    // MARK: TLS

    #if TLS
    func beginHandshake(_ tls: TLSLayer) {
        channel.begin(tls)
        phase = .handshake
    }

    /// Begins to serve requests; the first one may have arrived with the end of the handshake.
    func endHandshake() {
        phase = .open
        if isEnding { return close() }
        if channel.tls?.hasInput == true { isReadable = true }
        if isReadable { return serveWithoutTask() }
        sendUnsent()
        if isBroken { close() } else { scheduleEnd() }
    }
    #endif

    /// Continues without TLS, with the handler and limits of `server`.
    func serveInsecurely(_ server: ServerContext) {
        self.server = server
        phase = .open
        loop.schedule(self, after: server.deadlines.keepAlive)
        serveWithoutTask()
    }

    /// Passes input to the handshake or to HTTP.
    private func serveArrived() {
        #if TLS
        if phase != .open { return performHandshake() }
        #endif
        serveWithoutTask()
    }

    // MARK: Events

    /// Whether a step of the handshake runs on the pool. The TLS session must not be used until the step has
    /// ended.
    private var isOnPool: Bool { phase == .handshake && task != nil }

    override func eventArrived(_ event: IOEvent) {
        if event.isReadable || event.hasEnded { isReadable = true }
        if event.hasEnded { hasEnded = true }
        // A client that has closed the connection cannot be distinguished from one that has only shut down
        // its sending side. In both cases the task is cancelled: long work stops, while a short response is
        // still sent. Content that is generated live is cut off, because it may be endless, and writes to a
        // closed peer might not fail for a long time.
        if event.isBroken || event.hasEnded && liveStream != nil { isBroken = true }
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
        case .pause:
            if isBroken { resume(.closing) }
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
        case .pause:
            resume(.ready)
        case .room:
            extendOrGiveUp()
        case .head, .content, .end:
            resume(.timeout)
        }
    }

    private func idlenessPassed() {
        if phase == .open, channel.hasOutput, !isBroken {
            // The peer is still reading its response: a task waits for the peer and monitors the progress.
            exchange = Exchange(on: self)
            task = Task(executorPreference: loop) { await self.serve() }
            return
        }
        guard loop.now < idleEnd else { return close() }
        channel.releaseMemory()
        loop.heapTrimmer.connectionGaveUp(on: loop, pool: server.pool)
        loop.schedule(self, at: idleEnd)
    }

    /// Closes the connection after its request in flight. Closes an idle connection immediately, unless its
    /// next request has already arrived: closing would then reset the connection and leave the peer unsure
    /// whether the request was processed.
    override func drain() {
        isLeaving = true
        liveStream?.finishEarly()
        guard task == nil || waiting == .request else { return }
        guard phase == .open else { return close() }
        // Input may have arrived that no event has reported yet, so try to receive.
        isReadable = true
        if task == nil { serveWithoutTask() } else { resume(.ready) }
    }

    override func dismiss() { drain() }

    override func abort() {
        task?.cancel()
        isBroken = true
        isReadable = true
        channel.shutDown()
        if waiting != .nothing { resume(.closing) }
    }

    override func abort(where isRevoked: (NetworkAddress) -> Bool) {
        guard !isClosed, isRevoked(endpoints.remote) else { return }
        // An idle connection has no task that would close it.
        if task == nil { close() } else { abort() }
    }

    override func endRequest(where isRevoked: (HTTPRequest) -> Bool) {
        if let request = exchange?.requestInFlight, isRevoked(request) { abort() }
    }

    // MARK: Waiting

    /// Bytes that a connection may transfer without waiting before other connections get a turn, so that a
    /// fast peer cannot monopolize the loop.
    private static let bytesPerTurn = 1024 * 1024

    /// Whether other connections should get a turn before this one sends a large response.
    var isTurnOver: Bool { bytesInTurn >= Self.bytesPerTurn }

    func didSendInTurn(_ count: Int) { bytesInTurn += count }

    nonisolated(nonsending) func giveTurn(after count: Int) async {
        bytesInTurn += count
        guard bytesInTurn >= Self.bytesPerTurn else { return }
        bytesInTurn = 0
        await loop.turn()
    }

    /// Waits until input is available.
    /// - Parameter deadline: nanoseconds on the clock of the loop.
    nonisolated(nonsending) func waitForInput(_ what: Waiting, until deadline: Int64) async -> Wake {
        // Sending may have made room for held-back input, which no event will report again.
        if channel.endHold() { isReadable = true }
        if isReadable { return .ready }
        return await wait(what, until: deadline)
    }

    /// Waits for the next request.
    nonisolated(nonsending) func waitForRequest() async -> Wake {
        if channel.endHold() { isReadable = true }
        if isReadable { return .ready }
        if isEnding { return .closing }
        idleEnd = loop.now + server.deadlines.keepAlive
        if loop.waitingCount >= server.maxWaitingPerLoop { return .park }
        loop.waitingCount += 1
        let wake = await wait(.request, until: loop.now + server.deadlines.parking)
        loop.waitingCount -= 1
        // Input may have arrived after the deadline passed.
        return wake == .park && isReadable ? .ready : wake
    }

    /// Releases the memory of the idle connection; only this object remains until an event or the keep-alive
    /// deadline.
    private func park() {
        guard !isClosed else { return }
        // The server may have begun to drain after the decision to park.
        if isEnding { return close() }
        channel.releaseMemory()
        requestMemory = RequestMemory()
        loop.schedule(self, at: max(idleEnd, loop.now + 1))
        loop.heapTrimmer.connectionGaveUp(on: loop, pool: server.pool)
        server.observe(.parked)
    }

    /// Waits until the socket accepts output again.
    nonisolated(nonsending) func waitForRoom() async throws(HTTPError) {
        guard !isBroken else { throw .disconnected }
        outstanding = channel.outstandingBytes
        let wake = await wait(.room, until: sending.beginWait(now: loop.now))
        sending.endWait(now: loop.now)
        guard wake == .ready, !isBroken else { throw .disconnected }
    }

    /// Waits until a time without transferring content, after all output has been sent.
    nonisolated(nonsending) func pause(until end: Int64) async throws(HTTPError) {
        guard end > loop.now else { return }
        try await sendComposed()
        guard await wait(.pause, until: end) == .ready, !isBroken else { throw .disconnected }
    }

    private nonisolated(nonsending) func wait(_ what: Waiting, until deadline: Int64) async -> Wake {
        // Two tasks of a handler cannot wait on the same connection.
        guard waiting == .nothing, loop.isCurrentThread, !loop.isStopped else { return .closing }
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

    /// Extends the deadline if the peer has acknowledged enough data; otherwise, ends the wait. The socket
    /// reports room only when much of its buffer is free, which can take a slow peer longer than the
    /// deadline.
    private func extendOrGiveUp() {
        let left = channel.outstandingBytes
        sending.endWait(now: loop.now)
        sending.didReachPeer(max(0, outstanding - left))
        outstanding = left
        let deadline = sending.beginWait(now: loop.now)
        if deadline > loop.now { loop.schedule(self, at: deadline) } else { resume(.timeout) }
    }
}
