public import DavitHTTP
public import DavitLogging
package import DavitSystem

#if TLS
package import DavitCrypto
package import DavitServer
#endif

/// The addresses, limits and callbacks of a server.
public struct TransportConfiguration: Sendable {
    /// A host and a port to listen on.
    public struct Endpoint: Hashable, Sendable {
        /// A host name or a numeric address. `localhost` means both loopback addresses, `*` all addresses.
        public var host: String
        /// The port. 0 lets the system choose; all endpoints with 0 share that port.
        public var port: UInt16

        /// Creates an endpoint; port 0 lets the system choose.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// How long the server waits for a peer.
    public struct Deadlines: Sendable {
        /// The maximum time for receiving a request head, from its first byte; if it is exceeded, the server
        /// responds with 408.
        public var head: Duration = .seconds(10)
        /// The maximum time for a TLS handshake, from the start of the connection; if it is exceeded, the
        /// connection is closed.
        public var handshake: Duration = .seconds(10)
        /// The maximum time without a request on an idle connection; if it is exceeded, the connection is
        /// closed.
        public var keepAlive: Duration = .seconds(75)
        /// The window of waiting time over which the transfer rate of request content and responses must
        /// average at least ``bytesPerSecond``.
        public var window: Duration = .seconds(30)
        /// The minimum transfer rate in each ``window``, in bytes per second.
        public var bytesPerSecond = 1024
        /// The maximum time to wait for input or for the close of the peer after the server has closed its
        /// side. A peer that keeps sending is read for at most ``window``, so that it does not lose a
        /// response to content that was not read.
        public var linger: Duration = .seconds(2)
        /// The time without a request after which a connection releases all memory that it does not need.
        public var parking: Duration = .seconds(2)

        /// Creates the default deadlines.
        public init() {}
    }

    /// A Unix domain socket, for programs on the same machine.
    public struct LocalSocket: Hashable, Sendable {
        /// The path of the socket: at most 103 bytes on Apple systems; of any length on Linux, with a file
        /// name of at most 80 bytes.
        public var path: String
        /// The permission bits; write permission is required to connect.
        public var mode: UInt32

        /// Creates a local socket. By default only the user of this process may connect to it.
        public init(path: String, mode: UInt32 = 0o600) {
            self.path = path
            self.mode = mode
        }
    }

    /// The TCP endpoints. At least one socket is required here, in ``localSockets`` or in
    /// ``inheritedSockets``.
    public var endpoints: [Endpoint]
    /// Unix domain sockets, created at start and removed at stop.
    public var localSockets: [LocalSocket] = []
    /// Descriptors of listening stream sockets that this process inherited. They stay open when the server
    /// stops.
    public var inheritedSockets: [Int32] = []
    /// The number of event loops, each with its own thread; 0 means the number of cores.
    public var loops = 0
    /// The priority of the event loops' threads.
    package var priority = ThreadPriority.normal
    /// The size limits of request heads and chunk framing.
    public var limits = WireLimits()
    /// How long the server waits for its peers.
    public var deadlines = Deadlines()
    /// The backlog of each listening socket; the system may impose a lower limit.
    public var backlog = 4096
    /// The maximum number of open connections. When it is reached, new connections wait in the backlog.
    public var maxConnections = 16384
    /// Maximum connections per loop that keep their memory for ``Deadlines/parking`` while they wait for the
    /// next request; further ones release it immediately.
    public var maxWaitingPerLoop = 1024
    /// Maximum connections from one IPv4 address or one IPv6 /64 network; further ones are closed
    /// immediately. Local sockets are exempt.
    public var maxConnectionsPerAddress = 1024
    /// Peers exempt from ``maxConnectionsPerAddress`` because they connect on behalf of many clients.
    public var proxies: [IPNetwork] = []
    /// The value of the `Server` field; nil omits the field.
    public var serverName: String? = "davit"
    /// How long requests in flight may continue after ``HTTPServer/shutdown()``.
    public var grace: Duration = .seconds(30)
    /// Whether SIGTERM and SIGINT shut the server down. Replaces the process's handlers of these signals.
    public var stopsOnSignals = false
    /// Decides whether to accept a connection; if it returns false, the connection is closed without a
    /// response. Called on the accepting loop before anything is read. Must not block.
    public var acceptsConnection: (@Sendable (ConnectionEndpoints) -> Bool)?
    /// Whether the connections of an address are closed immediately; called before ``acceptsConnection``, like it.
    package var isBanned: (@Sendable (NetworkAddress) -> Bool)?
    /// Called on a loop when a connection has been closed; must not block. Not called for connections that
    /// were not accepted.
    public var connectionClosed: (@Sendable (ConnectionRecord) -> Void)?
    /// Called with true when the first connection opens and with false when the last one closes, in order;
    /// must not block.
    package var occupancy: (@Sendable (Bool) -> Void)?
    /// Called on the last thread of the server when all others have ended; may block. Resources that end with
    /// the server are released here.
    package var onStop: (@Sendable () -> Void)?
    /// Called after `onStop`, when the server can be started again. The closure that it returns is called
    /// when no thread references the server any more.
    package var didStop: (@Sendable () -> @Sendable () -> Void)?
    /// Whether to keep statistics of requests, for ``HTTPServer/pollLoops(_:)``.
    package var countsRequests = false
    /// Called on a loop after each response; must not block.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?
    /// Called once, on a loop, when the server begins to stop; must not block.
    public var willStop: (@Sendable () -> Void)?
    /// Called on a loop at this interval while the loop is running; for a watchdog.
    public var heartbeat: (interval: Duration, beat: @Sendable () -> Void)?
    /// Called every five seconds while requests arrive, and afterwards until it returns false. Called on a
    /// pool thread, so that it may block.
    public var maintenance: (@Sendable () -> Bool)?
    package var maintenanceInterval: Duration = .seconds(5)
    #if TLS
    /// The TLS settings; connections are not encrypted without them.
    package var tls: TLSContext?
    /// Called off the loops when a TLS connection arrives and ``tlsRenewalInterval`` has passed since the
    /// last call. Returns a replacement for ``tls``, or nil. May block.
    package var renewTLS: (@Sendable () -> TLSContext?)?
    package var tlsRenewalInterval: Duration = .seconds(60)
    /// Answers requests without TLS on a TLS port. Runs on the loops, and must not block.
    package var insecureHandler: any Handler = SecureRedirect()
    #endif
    /// Called off the loops for SIGHUP; may block. If it is nil, the signal is not handled.
    public var onSIGHUP: (@Sendable () -> Void)?
    /// Called on a loop for internal events that no peer can observe.
    package var observer: (@Sendable (TransportEvent) -> Void)?
    /// Called on a loop for each new connection; the returned tap observes its bytes.
    package var tap: (@Sendable (ConnectionEndpoints) -> (any ConnectionTap)?)?
    /// Accepts a pending connection; tests replace it to simulate a lack of descriptors.
    package var accept: @Sendable (Int32) -> Socket.AcceptOutcome = { Socket.accept(from: $0) }

    /// Creates a configuration with these endpoints and the default limits.
    public init(endpoints: [Endpoint]) { self.endpoints = endpoints }
}

/// Internal events of the transport, for statistics and tests.
package enum TransportEvent: Hashable, Sendable {
    /// A connection released its task and its buffers.
    case parked
    /// No descriptor or memory was left for a pending connection.
    case acceptExhausted
    /// The maximum number of connections is open; accepting is paused.
    case acceptPaused
    case connectionClosed
    /// The address is banned, or ``TransportConfiguration/acceptsConnection`` returned false.
    case connectionRefused
}
