public import DavitHTTP
public import DavitServer
public import DavitSystem
public import DavitTransport

/// How a server listens, who may come in, and how much they are granted.
public struct Configuration: Sendable {
    /// How long the server waits for a peer.
    public typealias Deadlines = TransportConfiguration.Deadlines

    /// Somebody who may come in.
    public struct Account: Hashable, Sendable {
        /// What is known of the password.
        public enum Secret: Hashable, Sendable {
            /// All of it. The server does not keep it; who made the configuration may.
            case password(String)
            /// A text that `davit password` has printed, without the name: `$scrypt$…` or `$digest$…`.
            case hash(String)
        }

        /// As clients send it: at most 256 bytes of UTF-8, without a colon or control characters.
        public var name: String
        /// What the name is checked with.
        public var secret: Secret

        /// Somebody whose password is known: 1 to 256 bytes of UTF-8 without control characters.
        public init(name: String, password: String) {
            self.name = name
            secret = .password(password)
        }

        /// Somebody of whose password a hash is known, as `davit password` prints it.
        public init(name: String, hash: String) {
            self.name = name
            secret = .hash(hash)
        }
    }

    /// Names or numeric addresses to listen on; `localhost` is both loopback addresses on one port.
    public var hosts = ["localhost"]
    /// 0 lets the system choose.
    public var port: UInt16 = 8080
    /// A socket in the file system, beside the hosts; with `hosts = []` instead of them.
    public var unixSocket: UnixSocket?
    /// Descriptors of stream sockets that listen already, such as ``DavitSystem/ServiceManager/inheritedSockets()``. They
    /// stay open when the server stops, so that it can start again.
    public var inheritedSockets: [Int32] = []
    /// Nil for HTTP without TLS.
    public var tls: TLS?
    /// Where content goes that handlers want as files and that is too long for memory; nil for what `TMPDIR` names,
    /// else `/var/tmp`. On the volume where such files are moved to, nothing has to be copied.
    public var temporaryFolder: String?
    /// Codes what is made, not what is stored, with gzip for clients that ask; see ``DavitServer/Compression``.
    public var compresses = true
    /// With accounts every request needs one; without, only loopback is served.
    public var accounts: [Account] = []
    /// What clients are asked for, where there are accounts.
    public var authentication = AuthenticationSettings()
    /// Serves hosts beyond loopback without accounts, under any host name, or those of ``publicURLs`` if there are some.
    /// For what everybody may see and do: a share that is not read-only can then be changed by everybody.
    public var allowsAnonymousVisitors = false
    /// What a proxy in front of this server is called: `https://files.example.com`. With a path, clients see the server below
    /// that; what of the path is not ``prefix``, the proxy takes away: `https://example.com/dav` alone for a proxy that
    /// asks for `/a` when it is asked for `/dav/a`.
    public var publicURLs: [String] = []
    /// The beginning of all paths that arrive: `/dav`, percent-encoded, or nothing. Everything is served below it, and
    /// OPTIONS above says what is there. For a proxy that passes on the paths of one folder as they are.
    public var prefix = ""
    /// Which proxies in front of this server are believed when they say where a request came from.
    public var proxies = Proxies()
    /// Lines up to this level go to ``logSink``.
    public var logLevel = Log.Level.info
    /// Nil for standard error, with priorities instead of times where that is systemd's journal.
    public var logSink: (any LogSink)?
    /// A line for each response, apart from the log.
    public var accessLog: AccessLog?
    /// How long requests in flight may go on after a request to stop.
    public var grace: Duration = .seconds(30)
    /// What the application sees of connections.
    public var connections = ConnectionHooks()
    /// How the server lives in an application.
    public var lifecycle = LifecycleOptions()
    /// A new or empty folder, outside the share, that gets a recording of every connection: requests and answers with all
    /// content but credentials, each file readable for its owner alone. Nil records nothing and costs nothing. See
    /// `docs/recording.md`.
    public var recordingFolder: String?
    /// SIGTERM and SIGINT stop the server; set by the command, off for apps.
    public var stopsOnSignals = false
    /// systemd, if it started the process, is told when the server is ready, stops, and is alive; set by the command, off
    /// for apps.
    public var notifiesServiceManager = false
    /// SIGHUP does what ``WebServer/reload()`` does; set by the command, off for apps. All servers of the process that
    /// want it get it.
    public var reloadsOnHangUp = false
    /// The value of `Server`, printable ASCII; nil leaves the field out.
    public var serverName: String? = "davit"

    /// Lets pages of other origins use the server.
    public var cors: CORS?
    /// Takes POST requests from pages of other sites than those of ``cors``; else they are 403, see
    /// ``DavitServer/CrossSiteGuard``.
    public var allowsCrossSiteForms = false
    /// Sees requests once they are known to come from somebody who may come in, and before any route. The first one
    /// sees them first.
    public var middleware: [any Middleware] = []
    /// Sees all requests, before authentication.
    public var outerMiddleware: [any Middleware] = []

    /// Threads that serve connections; 0 for one per core.
    public var threads = 0
    /// Connections that may wait to be accepted, on each address. The system has a limit of its own.
    public var backlog = 4096
    /// Over it no connection is accepted until one ends.
    public var maxConnections = 16384
    /// Connections of one IPv4 address or one IPv6 network of 64 bits; more of them are closed at once.
    public var maxConnectionsPerAddress = 1024
    /// How much of a request is taken before its content; each limit has a status of its own.
    public var limits = WireLimits()
    /// How long the server waits for its peers.
    public var deadlines = Deadlines()

    /// Port 8080 of this machine's loopback addresses, for its own users, without TLS.
    public init() {}
}
