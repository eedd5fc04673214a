public import DavitHTTP
public import DavitServer
package import DavitSystem

#if TLS
package import DavitCrypto
#endif

/// Where a server listens, and how much of everything it grants its peers.
public struct TransportConfiguration: Sendable {
    /// A host and a port to listen on.
    public struct Endpoint: Hashable, Sendable {
        /// A name or a numeric address. `localhost` is both loopback addresses; `*` is all addresses.
        public var host: String
        /// 0 lets the system choose; all endpoints with 0 get the same port.
        public var port: UInt16

        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// How long the server waits for a peer.
    public struct Deadlines: Sendable {
        /// For a head, from its first byte; then 408.
        public var head: Duration = .seconds(10)
        /// For a TLS handshake, from the beginning of the connection; then that is closed.
        public var handshake: Duration = .seconds(10)
        /// For the next request on a connection without one; then the connection is closed.
        public var keepAlive: Duration = .seconds(75)
        /// Content and responses: in each such time of waiting, `bytesPerSecond` must have moved on average.
        public var window: Duration = .seconds(30)
        public var bytesPerSecond = 1024
        /// For the end of a peer that was told to close.
        public var linger: Duration = .seconds(2)
        /// After so long without a request a connection gives up all memory it can do without.
        public var parking: Duration = .seconds(2)

        public init() {}
    }

    /// A socket in the file system, for programs of the same machine.
    public struct LocalSocket: Hashable, Sendable {
        /// At most 103 bytes on Apple systems; on Linux as long as any.
        public var path: String
        /// The permission bits; who may write may connect.
        public var mode: UInt32

        public init(path: String, mode: UInt32 = 0o600) {
            self.path = path
            self.mode = mode
        }
    }

    public var endpoints: [Endpoint]
    public var localSockets: [LocalSocket] = []
    /// Descriptors of stream sockets that listen already, from whoever started this process. They stay open when the
    /// server stops.
    public var inheritedSockets: [Int32] = []
    /// Event loops, each a thread; 0 stands for the number of cores.
    public var loops = 0
    public var limits = WireLimits()
    public var deadlines = Deadlines()
    /// Connections that may wait to be accepted, on each address; the system has a limit of its own.
    public var backlog = 4096
    /// Over it no connection is accepted until one ends; the backlog of the system is the queue.
    public var maxConnections = 16384
    /// So many connections of one loop wait for their next request for ``Deadlines/parking``; more of them give up
    /// their memory at once.
    public var maxWaitingPerLoop = 1024
    /// Connections of one IPv4 address or one IPv6 network of 64 bits; more of them are closed at once.
    public var maxConnectionsPerAddress = 1024
    /// Peers that this limit is not for, because their connections are those of many clients.
    public var proxies: [IPNetwork] = []
    /// The value of `Server`; nil leaves the field out.
    public var serverName: String? = "davit"
    /// How long requests in flight may go on after ``HTTPServer/shutdown()``.
    public var grace: Duration = .seconds(30)
    /// SIGTERM and SIGINT shut the server down. What the process did with them before is replaced.
    public var stopsOnSignals = false
    /// Asked on the loop that accepts, before anything of a connection is read; after false it is closed without
    /// an answer. Must not block.
    public var acceptsConnection: (@Sendable (ConnectionEnds) -> Bool)?
    /// Called on a loop when a connection was closed; must not block. Not for connections that were not accepted.
    public var connectionClosed: (@Sendable (ConnectionRecord) -> Void)?
    /// Called with true when the first connection is open and with false when the last one is closed, in this
    /// order; must not block.
    package var occupancy: (@Sendable (Bool) -> Void)?
    /// Called on the last thread of the server when all the others have ended; may block. What is to end with the
    /// server ends here.
    package var onStop: (@Sendable () -> Void)?
    /// Called behind `onStop`; the server can be started again. What it returns is called when no thread of the server
    /// holds anything any more.
    package var didStop: (@Sendable () -> @Sendable () -> Void)?
    /// Called on a loop when a response ended; must not block.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?
    /// Called once, on a loop, when the server begins to stop; must not block.
    public var willStop: (@Sendable () -> Void)?
    /// Called on a loop in this rhythm for as long as that loop turns: for a watchdog.
    public var heartbeat: (interval: Duration, beat: @Sendable () -> Void)?
    /// Called every five seconds while requests come, and afterwards until it returns false; on another thread than
    /// the loops', so that it may block.
    public var upkeep: (@Sendable () -> Bool)?
    package var upkeepInterval: Duration = .seconds(5)
    #if TLS
    /// Certificates and rules of TLS; without them connections are not encrypted.
    package var tls: TLSContext?
    /// Called when a connection to TLS comes and ``tlsRenewalInterval`` has passed since the last time, off the loops:
    /// returns what is to take the place of ``tls``, or nil. May block.
    package var renewTLS: (@Sendable () -> TLSContext?)?
    package var tlsRenewalInterval: Duration = .seconds(60)
    #endif
    /// Called for SIGHUP, off the loops; may block. Nil leaves the signal alone.
    public var onHangUp: (@Sendable () -> Void)?
    /// Called on a loop when something happened that no peer can see.
    package var observer: (@Sendable (TransportEvent) -> Void)?
    /// Called on a loop for a new connection; what it makes sees the bytes of the connection.
    package var tap: (@Sendable (ConnectionEnds) -> (any ConnectionTap)?)?
    /// Takes a connection that waits; replaced where a test wants descriptors to run out.
    package var accept: @Sendable (Int32) -> Socket.AcceptOutcome = { Socket.accept(from: $0) }

    public init(endpoints: [Endpoint]) { self.endpoints = endpoints }
}

/// What happens inside the transport; for statistics and tests.
package enum TransportEvent: Hashable, Sendable {
    /// A connection gave up its task and its buffers.
    case parked
    /// No descriptor was left for a connection that waited.
    case acceptExhausted
    /// So many connections are open that no more are accepted.
    case acceptPaused
    case connectionClosed
    /// ``TransportConfiguration/acceptsConnection`` said no.
    case connectionRefused
}
