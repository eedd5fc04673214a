internal import DavitHTTP
internal import DavitLogging
internal import DavitSystem
internal import Synchronization

/// Accepts connections and distributes them to the loops. Belongs to its loop's thread.
final class Listener: LoopMember, @unchecked Sendable {
    typealias Accept = @Sendable (Int32) -> Socket.AcceptOutcome

    /// Maximum connections accepted per wake-up.
    private static let acceptsPerTurn = 64
    /// How long accepting pauses after an error, such as a lack of descriptors.
    private static let pauseNanoseconds: Int64 = 100_000_000

    private let loop: EventLoop
    private let loops: [EventLoop]
    private let server: ServerContext
    /// Copies of ``server``, one for the connections of each loop.
    private let copies: [ServerContext]
    private let accept: Accept
    private let address: SocketAddress
    private var socket: FileDescriptor?
    private let file: LocalSocketFile?
    /// Whether the server created the socket, so that closing the listener must shut it down.
    private let isOurs: Bool
    /// A reserve descriptor, closed when no other is left so that a pending connection can be accepted and
    /// closed.
    private var spare = FileDescriptor.spare()
    private var isWatched = false

    /// - Parameters:
    ///   - file: the file of a local socket, which is removed when the socket is closed.
    ///   - isOurs: whether the server created the socket; an inherited one keeps listening.
    ///   - loops: the loops that receive the connections; the listener runs on the first one.
    init(
        _ socket: consuming FileDescriptor, at address: SocketAddress, file: LocalSocketFile?,
        isOurs: Bool, loops: [EventLoop], server: ServerContext, accept: @escaping Accept
    ) {
        self.socket = consume socket
        self.address = address
        self.file = file
        self.isOurs = isOurs
        self.loops = loops
        self.server = server
        copies = loops.map { _ in ServerContext(copying: server) }
        self.accept = accept
        loop = loops[0]
        super.init()
    }

    func start() {
        if loop.isDraining { return abandon() }
        loop.add(self)
        watch()
    }

    /// Accepts connections in the backlog, at most ``acceptsPerTurn``, and stops listening; the loop keeps
    /// running.
    func retire() {
        eventArrived(IOEvent(token: token))
        drain()
    }

    /// Closes a listener that is not registered with the loop, or whose loop has ended.
    func abandon() {
        close()
    }

    private func close() {
        // Remove the file before closing the socket, so that a client that finds the file can connect.
        file?.remove()
        // Closing alone is not enough: a process that another thread is starting holds the descriptor until
        // exec, and would keep the port in use.
        if isOurs, let number = socket?.rawValue { Socket.shutDown(number) }
        socket = nil
    }

    override func eventArrived(_ event: IOEvent) {
        for _ in 0..<Self.acceptsPerTurn {
            guard isWatched, let number = socket?.rawValue, hasRoom() else { return }
            switch accept(number) {
            case .accepted(let connection, let address): take(connection, from: address)
            case .passed: continue
            case .wouldBlock: return
            case .exhausted: return relieve(number)
            }
        }
    }

    override func deadlinePassed() { watch() }

    override func drain() {
        unwatch()
        loop.remove(self)
        close()
    }

    private func take(_ connection: consuming FileDescriptor, from address: SocketAddress) {
        // Drop a connection whose address cannot be read, for example because it is already closed.
        guard let local = try? localAddress(of: connection.rawValue) else { return }
        let endpoints = ConnectionEndpoints(local: NetworkAddress(local), remote: NetworkAddress(address))
        if let isBanned = server.isBanned, isBanned(endpoints.remote) {
            server.connectionCounter.refused(.ban)
            return server.observe(.connectionRefused)
        }
        if let accepts = server.accepts, !accepts(endpoints) {
            server.connectionCounter.refused(.application)
            return server.observe(.connectionRefused)
        }
        guard server.connectionCounter.enter(endpoints.remote) else {
            server.log.verbose(
                "connection refused: too many connections from this address", ["peer": endpoints.remote.host])
            return
        }
        var chosen = 0
        var least = Int.max
        for (index, candidate) in loops.enumerated() {
            let load = candidate.load.load(ordering: .relaxed)
            if load < least {
                least = load
                chosen = index
            }
        }
        loops[chosen].load.add(1, ordering: .relaxed)
        Connection(connection, endpoints: endpoints, loop: loops[chosen], server: copies[chosen]).start()
    }

    /// Returns the local address of a connection; queries the system only if the listener is bound to all
    /// addresses.
    private func localAddress(of connection: Int32) throws(SystemError) -> SocketAddress {
        address.family != .local && address.isUnspecified ? try Socket.localAddress(of: connection) : address
    }

    private func hasRoom() -> Bool {
        let hasRoom = server.connectionCounter.hasRoom { [loop, weak self] in
            Task(executorPreference: loop) { self?.watch() }
        }
        if !hasRoom {
            unwatch()
            server.observe(.acceptPaused)
        }
        return hasRoom
    }

    /// Accepts and closes a pending connection when no descriptor or memory is left, because the event queue
    /// would otherwise report it forever. Then pauses accepting.
    private func relieve(_ number: Int32) {
        server.log.warning("connection dropped: out of file descriptors or memory")
        server.connectionCounter.refused(.exhaustion)
        spare = nil
        if case .accepted(let connection, _) = accept(number) { _ = consume connection }
        spare = FileDescriptor.spare()
        unwatch()
        loop.schedule(self, after: Self.pauseNanoseconds)
        server.observe(.acceptExhausted)
    }

    private func watch() {
        guard let number = socket?.rawValue, !isWatched else { return }
        do {
            try loop.queue.watchAccepting(number, token: token)
            isWatched = true
        } catch {
            server.log.error("cannot watch listening socket; retrying", ["error": "\(error)"])
            loop.schedule(self, after: Self.pauseNanoseconds)
        }
    }

    private func unwatch() {
        guard let number = socket?.rawValue, isWatched else { return }
        loop.queue.unwatch(number)
        isWatched = false
    }
}
