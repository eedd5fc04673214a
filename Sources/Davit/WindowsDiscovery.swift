internal import DavitDiscovery
internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import DavitTransport
internal import Synchronization

/// Makes a server known to Windows: answers to datagrams, and a listener from which Windows fetches the description of the server.
final class WindowsDiscovery: Sendable {
    /// Only computers in the local network fetch the description, once each time they see the server.
    private static let connectionLimit = 32

    private let service: WSDService
    private let device: WSDDevice
    private let configuration: Configuration
    private let log: Log
    /// The listener, while the server runs.
    private let listener = Mutex<(server: HTTPServer, port: UInt16)?>(nil)

    /// - Parameter name: the name that Windows displays.
    init(
        _ configuration: Configuration, name: String, interfaces: [String], log: Log
    ) throws(SystemError) {
        device = WSDDevice(
            name: name, version: DavitVersion.text,
            identity: [HostName.current ?? "", name, configuration.prefix, "\(configuration.port)"],
            startSeconds: Clock.wallNow() / 1_000_000_000)
        service = try WSDService(device, interfaces: interfaces, log: log)
        self.configuration = configuration
        self.log = log
    }

    /// Prepares for the start of the server.
    func prepare() { service.prepare() }

    /// Announces the server, which listens on these addresses.
    func announce(on addresses: [SocketAddress]) {
        guard let port = addresses.first(where: { !$0.isLoopback })?.port,
            let listening = listen(addresses, serverPort: port)
        else { return }
        service.announce(on: addresses, metadataPort: listening)
    }

    /// Announces that the server leaves. Returns immediately.
    func withdraw() { service.withdraw() }

    /// Announces that the server leaves, and returns when the threads have ended.
    func stop() {
        service.stop()
        guard let server = listener.withLock({ $0.take() })?.server else { return }
        server.shutdown()
        server.waitUntilStopped()
    }

    /// Starts the listener if it is not running, on the conventional port if it is free.
    /// - Returns: its port; nil if it cannot be started.
    private func listen(_ addresses: [SocketAddress], serverPort: UInt16) -> UInt16? {
        if let port = listener.withLock({ $0?.port }) { return port }
        let device = device
        let configuration = configuration
        let handler = WSDMetadataHandler(device) { host in
            configuration.presentationURL(at: host, port: serverPort)
        }
        for port in [WSDDevice.metadataPort, 0] {
            var transport = TransportConfiguration(
                endpoints: addresses.filter { !$0.isLoopback }.map { .init(host: $0.text, port: port) })
            transport.loops = 1
            transport.maxConnections = Self.connectionLimit
            transport.backlog = Self.connectionLimit
            transport.grace = .zero
            transport.acceptsConnection = { endpoints in
                let remote = endpoints.remote
                return SocketAddress(
                    family: remote.isIPv6 ? .ipv6 : .ipv4, high: remote.high, low: remote.low, scope: 0,
                    port: remote.port
                ).isInLocalNetwork
            }
            let server = HTTPServer(
                configuration: transport, handler: handler.applying(HostGuard(names: [])),
                pool: BlockingPool(threads: 1, queueLimit: Self.connectionLimit), log: log)
            do throws(TransportError) {
                let chosen = try server.start().first?.port ?? port
                listener.withLock { $0 = (server, chosen) }
                return chosen
            } catch {
                if error.reason == .inUse, port != 0 { continue }
                log.warning(
                    "server not announced to Windows: cannot listen for its requests",
                    ["port": "\(port)", "error": error.description])
            }
        }
        return nil
    }
}

extension Configuration {
    /// Returns the URL that Windows opens in the browser.
    /// - Parameter host: an address of this machine.
    func presentationURL(at host: NetworkAddress, port: UInt16) -> String {
        if let first = publicURLs.first, let url = PublicURL(parsing: first) { return url.text + "/" }
        let name = host.isIPv6 ? "[\(host.host.prefix { $0 != "%" })]" : host.host
        let url = PublicURL(
            isSecure: tls != nil, host: name, port: port == (tls == nil ? 80 : 443) ? nil : port)
        return ServerURL.below(url.text + "/", prefix: prefix)
    }
}
