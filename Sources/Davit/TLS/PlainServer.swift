#if TLS
internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

/// The listener for plain HTTP, which answers challenges of an ACME server and redirects all other requests to TLS.
final class PlainServer: SideServer {
    /// Browsers that are redirected close their connections soon.
    private static let connectionLimit = 1024

    private let http: HTTPServer
    private let pool = BlockingPool(threads: 1)
    private let log: Log

    init(_ transport: TransportConfiguration, _ handler: some Handler, log: Log) {
        var transport = transport
        transport.loops = 1
        transport.maxConnections = Self.connectionLimit
        transport.grace = .zero
        self.log = log
        http = HTTPServer(configuration: transport, handler: handler, pool: pool, log: log)
    }

    func start() throws(TransportError) {
        pool.reopen()
        let addresses = try http.start()
        log.info(
            "listener for plain HTTP started", ["address": addresses.map { $0.url() }.joined(separator: " ")])
    }

    func stop() {
        http.shutdown()
        http.waitUntilStopped()
        pool.shutdown()
    }
}

/// Answers the requests of ``PlainServer``.
struct PlainHandler: Handler {
    /// RFC 8555 §8.3.
    private static let challengePath = Array("/.well-known/acme-challenge/".utf8)

    let answers: ChallengeAnswers
    let redirect: SecureRedirect

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        let path = request.target.rawPath
        guard path.starts(with: Self.challengePath) else { return try redirect.respond(to: request) }
        guard request.method == .get || request.method == .head else {
            return .ready(.error(.methodNotAllowed, "Method not allowed."))
        }
        let token = String(decoding: path.dropFirst(Self.challengePath.count), as: UTF8.self)
        guard let content = answers.content(for: token) else {
            return .ready(.error(.notFound, "Not found."))
        }
        return .ready(.bytes(Array(content.utf8), type: "application/octet-stream"))
    }
}

extension Configuration {
    /// Creates the listener for plain HTTP; nil without one.
    /// - Parameter server: the server to which requests are redirected.
    func plainServer(
        of server: LifecycleController, _ certificates: ServerCertificates, log: Log
    ) throws(ServerError) -> PlainServer? {
        guard let endpoints = plainEndpoints else { return nil }
        var transport = TransportConfiguration(endpoints: plainSockets == nil ? endpoints : [])
        transport.inheritedSockets = plainSockets ?? []
        transport.serverName = serverName
        transport.deadlines = deadlines
        transport.maxConnectionsPerAddress = maxConnectionsPerAddress
        let urls = try parsedPublicURLs().filter(\.isSecure)
        let own = port
        let redirect = SecureRedirect { [weak server] authority in
            guard let host = HostField(parsing: authority.span)?.host else { return authority }
            let name = String(decoding: host, as: UTF8.self)
            var port = server?.addresses.first { $0.path == nil }?.port ?? own
            if let url = urls.first(where: { $0.host == name }) { port = url.port ?? 443 }
            guard port != 443 else { return host }
            return host + Array(":\(port)".utf8)
        }
        let handler = PlainHandler(answers: certificates.answers, redirect: redirect)
        return PlainServer(
            transport, TrustPage(certificates, prefix: prefix, otherwise: handler), log: log)
    }
}
#endif
