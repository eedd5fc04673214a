internal import DavitSystem
package import DavitTransport
internal import Synchronization

/// Carries out the decisions of ``Lifecycle`` and ``ConnectedState``, and notifies observers.
///
/// Events are sent under the lock, so that all observers receive them in the same order. Actions are carried
/// out after the lock has been released, on the thread that passed the input.
package final class LifecycleController: Sendable {
    private struct State {
        var lifecycle: Lifecycle
        var clients: ConnectedState
        /// Events to send after the start has been reported.
        var heldBack: [ServerEvent] = []
        var addresses: [BoundAddress] = []
        var failure: TransportError?
        var isOccupied = false
        /// Whether connections are observed; otherwise no timer is started for them.
        var isObserved = false
        var ended: Latch?
        /// Callers that wait until the action in progress has finished.
        var waiting: [AsyncStream<Never>.Continuation] = []
        var onBackgroundTime: (@Sendable () -> Void)?
        var onListening: [@Sendable ([BoundAddress]) -> Void] = []
        var holdsBackgroundTime = false

        mutating func beginObserving() {
            guard !isObserved else { return }
            isObserved = true
            // Connections that are already open are not reported.
            guard isOccupied else { return }
            _ = clients.becameOccupied()
            _ = lifecycle.handle(.connected)
        }
    }

    private let http = AtomicLazyReference<HTTPServer>()
    private let hub = EventHub()
    private let now: @Sendable () -> Int64
    private let state: Mutex<State>

    /// - Parameter now: returns the time in nanoseconds.
    package init(
        _ options: Configuration.LifecycleOptions,
        now: @escaping @Sendable () -> Int64 = { Clock.coarseNow() }
    ) {
        self.now = now
        state = Mutex(
            State(
                lifecycle: Lifecycle(suspendsInBackground: options.suspendsInBackground),
                clients: ConnectedState(interval: options.disconnectDelay.nanoseconds)))
    }

    /// Sets the server. Call once, before ``start(prepare:)``.
    package func attach(_ server: HTTPServer) { _ = http.storeIfNil(server) }

    // MARK: State

    package var isRunning: Bool { state.withLock { $0.lifecycle.isRunning } }
    package var isListening: Bool { state.withLock { $0.lifecycle.phase == .listening } }
    package var addresses: [BoundAddress] { state.withLock { $0.lifecycle.isRunning ? $0.addresses : [] } }
    package var needsBackgroundTime: Bool { state.withLock { $0.holdsBackgroundTime } }

    package func observe() -> ServerEvents {
        state.withLock { state in
            state.beginObserving()
            return hub.observe()
        }
    }

    /// Adds a hook that is called on any thread when ``needsBackgroundTime`` has changed. It must not
    /// block.
    package func onBackgroundTime(_ hook: @escaping @Sendable () -> Void) {
        state.withLock { $0.onBackgroundTime = hook }
    }

    /// Sets the hook that is called on any thread when the server begins to listen, with its addresses, and when it is
    /// suspended, with none. It must not block.
    package func onListening(_ hook: @escaping @Sendable ([BoundAddress]) -> Void) {
        state.withLock { $0.onListening.append(hook) }
    }

    /// Reports the name under which the server is announced in the local network.
    package func announced(as name: String) {
        state.withLock { notify(.announced(name: name), &$0) }
    }

    /// Reports that a port of the router is mapped to the server, or why it is not.
    package func portMappingChanged(_ url: String?, _ reason: String) {
        state.withLock {
            notify(url.map { .portMapped(url: $0) } ?? .portMappingFailed(reason: reason), &$0)
        }
    }

    // MARK: Requests

    /// Starts the server and returns its addresses.
    ///
    /// - Parameter prepare: called before the server listens; not called if it is already running.
    package func start(prepare: () -> Void) throws(TransportError) -> [BoundAddress] {
        guard let http = http.load(), state.withLock({ handle(.start, &$0) }).contains(.start) else {
            throw TransportError(.alreadyStarted)
        }
        prepare()
        let addresses: [BoundAddress]
        state.withLock { $0.ended = Latch(count: 1) }
        do throws(TransportError) { addresses = try http.start() } catch {
            let ended = state.withLock { $0.ended }
            send(.startFailed)
            ended?.countDown()
            throw error
        }
        state.withLock { $0.addresses = addresses }
        send(.started)
        return addresses
    }

    package func stop() { send(.stop) }

    /// Blocks until the server has stopped; returns immediately if it was never started.
    package func waitUntilStopped() { state.withLock { $0.ended }?.wait() }

    /// Suspends the server, and returns when it has stopped listening or has been resumed in the meantime.
    package func suspend() async {
        send(.suspend)
        await waitForTransition()
    }

    /// Resumes the server. Returns when the server listens, or when the application is in the background and
    /// the server need not listen yet.
    package func resume() async throws(TransportError) -> [BoundAddress] {
        guard isRunning else { throw TransportError(.notRunning) }
        state.withLock { $0.failure = nil }
        send(.resume)
        await waitForTransition()
        let (failure, addresses) = state.withLock { ($0.failure, $0.addresses) }
        if let failure { throw failure }
        return addresses
    }

    private func waitForTransition() async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let isSettled = state.withLock { state in
            if !state.lifecycle.isSettled { state.waiting.append(continuation) }
            return state.lifecycle.isSettled
        }
        if isSettled { return }
        for await _ in stream {}
    }

    package func send(_ input: Lifecycle.Input) {
        perform(
            state.withLock { state in
                if input == .enteredBackground { state.beginObserving() }
                return handle(input, &state)
            })
    }

    // MARK: Notifications from the transport

    /// Called when the first connection opens or the last one closes. Calls must be serialized.
    package func occupancyChanged(_ isOccupied: Bool) {
        take { state in
            state.isOccupied = isOccupied
            guard state.isObserved else { return nil }
            return isOccupied ? state.clients.becameOccupied() : state.clients.becameVacant(now: now())
        }
    }

    /// Called when all threads of the server have ended.
    /// - Returns: a closure to call when they no longer retain anything of the server; ``waitUntilStopped()``
    ///   then returns.
    package func didStop() -> @Sendable () -> Void {
        take { state in
            state.isOccupied = false
            return state.clients.serverStopped()
        }
        let ended = state.withLock { $0.ended }
        send(.stopped)
        return { ended?.countDown() }
    }

    private func take(_ decide: (inout State) -> ConnectedState.Action?) {
        var timer: Int64?
        let actions = state.withLock { state -> [Lifecycle.Action] in
            switch decide(&state) {
            case .tellConnected:
                notify(.firstClientConnected, &state)
                return handle(.connected, &state)
            case .tellDisconnected:
                notify(.lastClientDisconnected, &state)
                return handle(.disconnected, &state)
            case .startTimer(let nanoseconds): timer = nanoseconds
            case nil: break
            }
            return []
        }
        perform(actions)
        if let timer { startTimer(nanoseconds: timer) }
    }

    private func startTimer(nanoseconds: Int64) {
        http.load()?.schedule(after: nanoseconds) { [weak self] in
            guard let self else { return }
            take { $0.clients.timerFired(now: now()) }
        }
    }

    // MARK: State machine

    private func handle(_ input: Lifecycle.Input, _ state: inout State) -> [Lifecycle.Action] {
        let actions = state.lifecycle.handle(input)
        for action in actions { record(action, &state) }
        if input == .startFailed { state.heldBack = [] }
        if state.lifecycle.isSettled {
            for waiting in state.waiting { waiting.finish() }
            state.waiting = []
        }
        return actions
    }

    private func record(_ action: Lifecycle.Action, _ state: inout State) {
        switch action {
        case .notifyStarted:
            hub.notify(.started(state.addresses))
            for event in state.heldBack { hub.notify(event) }
            state.heldBack = []
        case .notifyStopped: hub.notify(.stopped)
        case .notifySuspended: hub.notify(.suspended)
        case .notifyResumed: hub.notify(.resumed(state.addresses))
        case .notifyResumeFailed: if let failure = state.failure { hub.notify(.resumeFailed(failure)) }
        case .updateBackgroundTask(let isHeld): state.holdsBackgroundTime = isHeld
        case .start, .refuseStart, .stop, .pause, .resume, .dismissConnections: break
        }
    }

    /// Sends an event, or defers it until the start has been reported: clients can connect before that.
    private func notify(_ event: ServerEvent, _ state: inout State) {
        if state.lifecycle.phase == .starting { state.heldBack.append(event) } else { hub.notify(event) }
    }

    private func perform(_ actions: [Lifecycle.Action]) {
        guard let http = http.load() else { return }
        for action in actions {
            switch action {
            case .stop: http.shutdown()
            case .pause:
                for hook in state.withLock({ $0.onListening }) { hook([]) }
                http.pauseListening { [weak self] in self?.send(.paused) }
            case .resume: resume(http)
            case .dismissConnections: http.dismissConnections()
            case .updateBackgroundTask: state.withLock { $0.onBackgroundTime }?()
            case .notifyStarted, .notifyResumed:
                let (hooks, addresses) = state.withLock { ($0.onListening, $0.addresses) }
                for hook in hooks { hook(addresses) }
            case .start, .refuseStart: break
            case .notifyStopped, .notifySuspended, .notifyResumeFailed: break
            }
        }
    }

    private func resume(_ http: HTTPServer) {
        do throws(TransportError) {
            try http.resumeListening()
            state.withLock { $0.failure = nil }
            send(.resumed)
        } catch {
            state.withLock { $0.failure = error }
            send(.resumeFailed)
        }
    }
}
