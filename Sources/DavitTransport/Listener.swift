internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// Accepts connections and deals them to the loops. Belongs to the thread of its loop.
final class Listener: LoopMember, @unchecked Sendable {
    typealias Accept = @Sendable (Int32) -> Socket.AcceptOutcome

    /// So many connections in a row before others get a turn.
    private static let acceptsPerTurn = 64
    /// How long nothing is accepted after the last descriptor was used up.
    private static let pauseNanoseconds: Int64 = 100_000_000

    private let loop: EventLoop
    private let loops: [EventLoop]
    private let server: ServerContext
    private let accept: Accept
    private let address: SocketAddress
    private var socket: FileDescriptor?
    private let file: LocalSocketFile?
    /// Nobody else is to accept on the socket when this does not any more.
    private let isOurs: Bool
    /// Given up when no descriptor is left, so that a waiting connection can be taken and closed.
    private var spare = FileDescriptor.spare()
    private var isWatched = false

    /// - Parameters:
    ///   - file: the name of a local socket, which goes when the socket does.
    ///   - isOurs: whether the server has made the socket; one that was handed over goes on listening.
    ///   - loops: the first one is the listener's own.
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
        self.accept = accept
        loop = loops[0]
        super.init()
    }

    func start() {
        if loop.isDraining { return abandon() }
        loop.add(self)
        watch()
    }

    /// Takes the connections that wait already, and listens no longer; the loop goes on.
    func retire() {
        eventArrived(Event(token: token))
        drain()
    }

    /// As ``drain()`` when the loop has ended.
    func abandon() {
        close()
    }

    private func close() {
        // Before the socket: who finds the name can connect.
        file?.remove()
        // Not by closing alone: a process that is being started from another thread has the descriptor until it runs
        // its own program, and the port would be taken as long.
        if isOurs, let number = socket?.rawValue { Socket.shutDown(number) }
        socket = nil
    }

    override func eventArrived(_ event: Event) {
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
        // Fails only for a connection that is gone already.
        guard let local = try? localAddress(of: connection.rawValue) else { return }
        let ends = ConnectionEnds(local: NetworkAddress(local), remote: NetworkAddress(address))
        if let accepts = server.accepts, !accepts(ends) { return server.observe(.connectionRefused) }
        guard server.census.enter(ends.remote) else {
            server.log.verbose("too many connections of one peer", ["peer": ends.remote.host])
            return
        }
        var chosen = loop
        var least = Int.max
        for candidate in loops {
            let load = candidate.load.load(ordering: .relaxed)
            if load < least {
                least = load
                chosen = candidate
            }
        }
        chosen.load.add(1, ordering: .relaxed)
        Connection(connection, ends: ends, loop: chosen, server: server).start()
    }

    /// The system is asked only where the peer could choose the address.
    private func localAddress(of connection: Int32) throws(SystemError) -> SocketAddress {
        address.family != .local && address.isUnspecified ? try Socket.localAddress(of: connection) : address
    }

    private func hasRoom() -> Bool {
        let hasRoom = server.census.hasRoom { [loop, weak self] in
            Task(executorPreference: loop) { self?.watch() }
        }
        if !hasRoom {
            unwatch()
            server.observe(.acceptPaused)
        }
        return hasRoom
    }

    /// Without this the connection would wait, and be reported, for ever.
    private func relieve(_ number: Int32) {
        server.log.warning("no descriptor left for a connection")
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
            server.log.error("a listening socket could not be watched", ["error": "\(error)"])
            loop.schedule(self, after: Self.pauseNanoseconds)
        }
    }

    private func unwatch() {
        guard let number = socket?.rawValue, isWatched else { return }
        loop.queue.unwatch(number)
        isWatched = false
    }
}
