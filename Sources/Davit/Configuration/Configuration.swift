public import DavitDiscovery
public import DavitHTTP
public import DavitLogging
public import DavitMetrics
public import DavitServer
internal import DavitSystem
public import DavitTransport

/// The configuration of a server: addresses, accounts, limits and middleware.
public struct Configuration: Sendable {
    /// How long the server waits for a peer.
    public typealias Deadlines = TransportConfiguration.Deadlines

    /// A user account.
    public struct Account: Hashable, Sendable {
        /// How the password is specified.
        public enum Secret: Hashable, Sendable {
            /// The plain password. The server does not keep it in memory, but the creator of the
            /// configuration might.
            case password(String)
            /// A hash from `davit password`, without the name: `$scrypt$…` or `$digest$…`.
            case hash(String)
        }

        /// The user name: at most 256 bytes of UTF-8, without colons or control characters.
        public var name: String
        /// The password or its hash.
        public var secret: Secret

        /// Creates an account with a password: 1 to 256 bytes of UTF-8 without control characters.
        public init(name: String, password: String) {
            self.name = name
            secret = .password(password)
        }

        /// Creates an account with a hash that `davit password` has printed.
        public init(name: String, hash: String) {
            self.name = name
            secret = .hash(hash)
        }
    }

    /// Names or numeric addresses to listen on. `localhost` means both loopback addresses, and `*` all
    /// addresses, on the same port.
    public var hosts = ["localhost"]
    /// The TCP port; 0 selects a free port.
    public var port: UInt16 = 8080
    /// A Unix socket to listen on, in addition to ``hosts``; set `hosts = []` to listen only on the Unix
    /// socket.
    public var unixSocket: UnixSocket?
    /// Descriptors of listening stream sockets, such as ``DavitSystem/ServiceManager/inheritedSockets()``.
    /// They stay open when the server stops, so that it can be started again.
    public var inheritedSockets: [Int32] = []
    /// Whether the sockets of ``hosts`` are among ``inheritedSockets``; see ``openSockets()``.
    var hasOpenSockets = false
    /// The sockets of ``TLS/plainPort``; nil unless ``openSockets()`` has opened them.
    var plainSockets: [Int32]?
    /// The TLS settings; nil for plain HTTP.
    public var tls: TLS?
    /// The folder for request content that handlers read as files and that is too large for memory; nil for
    /// the first writable folder of `TMPDIR`, `/var/tmp` and `/tmp`. Use the volume of the final location, so
    /// that files can be moved without copying.
    public var temporaryFolder: String?
    /// Whether to compress generated content, but not stored files, with gzip for clients that accept it; see
    /// ``DavitServer/Compression``.
    public var compresses = true
    /// The accounts. If there are any, every request must be authenticated; if there are none, non-local
    /// addresses are an error unless ``allowsAnonymousVisitors`` is set.
    public var accounts: [Account] = []
    /// Services that verify the passwords of users who have no account here, such as directories, asked in this
    /// order. Clients then sign in with Basic. An account of the same name takes precedence, even if it is disabled.
    public var passwordVerifiers: [any PasswordVerifier] = []
    /// A service at which users who have no account here sign in with the browser, such as an OpenID Connect provider. It
    /// sends the browser to the path `/.davit-browserpagefiles/sign-in` below one of the ``publicURLs``, which must be https
    /// URLs, except on this machine. Requires TLS support, and a share with a browser page. An account of the same name takes
    /// precedence, even if it is disabled.
    public var signInProvider: (any SignInProvider)?
    /// The authentication schemes and realm, used if there are accounts.
    public var authentication = AuthenticationSettings()
    /// Allows non-local addresses without accounts. Requests may then contain any host name; if there are
    /// ``publicURLs``, only their hosts, `localhost` and IP addresses are accepted. Only for public content:
    /// everyone can change a share that is not read-only.
    public var allowsAnonymousVisitors = false
    /// The URLs of this server on a proxy, such as `https://files.example.com`. If a URL has a path, clients
    /// see the server below it, and the proxy removes the part of the path that is not in ``prefix``: with
    /// `https://example.com/dav` and no prefix, the proxy requests `/a` when a client requests `/dav/a`.
    public var publicURLs: [String] = []
    /// The prefix of all request paths, such as `/dav`, percent-encoded; empty for none. Everything is served
    /// below it, and OPTIONS on the paths above reports what the server supports. Use it behind a proxy that
    /// forwards the paths below a prefix unmodified.
    public var prefix = ""
    /// The proxies whose forwarding fields are trusted.
    public var proxies = Proxies()
    /// The most detailed level that is sent to ``logSink``.
    public var logLevel = Log.Level.info
    /// The destination of the log. Nil for standard error; if that is systemd's journal, lines begin with a
    /// priority instead of the time.
    public var logSink: (any LogSink)?
    /// A log with one line for each response; nil for none.
    public var accessLog: AccessLog?
    /// A log of who changed what, and of logins; nil for none.
    public var audit: Audit?
    /// Where events about changes are delivered; nil for none.
    public var events: Events?
    /// The listener for health checks and metrics; nil for none.
    public var adminListener: AdminListener?
    /// How the server is announced in the local network; nil if it is not announced. See `docs/discovery.md`.
    public var announcement: ServiceAnnouncement?
    /// The port of the router that is mapped to the server; nil for none. See `docs/nat.md`.
    public var portMapping: PortMapping?
    /// Whether the server counts requests, for ``WebServer/metrics()``. A listener in ``adminListener`` implies it.
    public var collectsMetrics = false
    /// Metrics of the application, which are added to those of the server. Called on a thread that may block, each time
    /// the metrics are read. Nil for none.
    public var metrics: (@Sendable () -> [Metric])?
    /// How long requests in flight can continue after a stop has been requested.
    public var grace: Duration = .seconds(30)
    /// Hooks for connections.
    public var connections = ConnectionHooks()
    /// Settings for servers in applications with a life cycle.
    public var lifecycle = LifecycleOptions()
    /// A new or empty folder, outside all shares, for a recording of every connection: requests and responses
    /// with all content except credentials, in files that only their owner can read. Nil disables recording,
    /// at no cost. See `docs/recording.md`.
    public var recordingFolder: String?
    /// Whether SIGTERM and SIGINT stop the server. The command sets it; the default is false.
    public var stopsOnSignals = false
    /// Whether to notify systemd, if it started the process, when the server is ready or stopping, and
    /// periodically while it runs. The command sets it; the default is false.
    public var notifiesServiceManager = false
    /// Whether SIGHUP calls ``WebServer/reload()``. The signal reaches all servers of the process that set
    /// this. The command sets it; the default is false.
    public var reloadsOnSIGHUP = false
    /// The value of the `Server` field, in printable ASCII; nil omits the field.
    public var serverName: String? = "davit"

    /// The cross-origin requests to allow; nil for none.
    public var cors: CORS?
    /// Whether POST requests from pages of origins other than this server and those in ``cors`` are accepted;
    /// otherwise they are refused with 403, see ``DavitServer/CrossOriginGuard``.
    public var allowsCrossSiteForms = false
    /// Middleware for authenticated requests, before any route. The first element sees requests first.
    public var middleware: [any Middleware] = []
    /// Middleware for all requests, before authentication.
    public var outerMiddleware: [any Middleware] = []

    /// The number of threads that serve connections; 0 for one per core.
    public var threads = 0
    /// The priority of the threads that serve connections and read and write files, for an application whose
    /// own work comes first. Can only be lowered.
    public var priority = ThreadPriority.normal
    /// The maximum number of connections that wait to be accepted, on each address. The system has a limit
    /// too.
    public var backlog = 4096
    /// The maximum number of open connections. Further ones are accepted when others have closed.
    public var maxConnections = 16384
    /// The maximum number of connections from one IPv4 address or one IPv6 /64 network. Further ones are
    /// closed immediately. Unix sockets and the addresses of trusted ``proxies`` are exempt.
    public var maxConnectionsPerAddress = 1024
    /// The maximum number of requests of one account that are in progress at the same time, on all its connections; at least 1.
    /// Requests without an account are counted by IPv4 address or IPv6 /64 network; those of Unix sockets and of trusted
    /// ``proxies`` themselves are not limited. Further requests wait for up to 10 s, at most 64 of one account, and are then
    /// answered with 503. As many event streams are permitted in addition. Nil for no limit.
    public var maxRequestsPerAccount: Int?
    /// The maximum rate at which the content of all requests of one account is received, in bytes per second, and likewise that
    /// of all responses; at least 1. Transfers over the rate are slowed down, except for the bytes of the first second. Nil for
    /// no limit.
    public var maxRatePerAccount: Int?
    /// Like ``maxRatePerAccount``, for each IPv4 address or IPv6 /64 network, with or without an account. Unix sockets and
    /// trusted ``proxies`` themselves are exempt.
    public var maxRatePerAddress: Int?
    /// When addresses are banned.
    public var bans = Bans()
    /// The size limits of request heads, chunk framing and trailers. Requests that exceed one are answered
    /// with 400, 414 or 431.
    public var limits = WireLimits()
    /// How long the server waits for its peers.
    public var deadlines = Deadlines()
    /// How long a request waits under ``maxRequestsPerAccount``. Only tests change it.
    package var requestWait = Duration.seconds(10)

    /// Creates a configuration for port 8080 on the loopback addresses, without accounts or TLS.
    public init() {}
}
