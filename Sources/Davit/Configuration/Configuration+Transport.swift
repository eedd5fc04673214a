internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

extension Configuration {
    /// Validates the configuration.
    func check() throws(ServerError) {
        if let serverName, serverName.isEmpty || !serverName.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) {
            throw .serverNameMalformed(serverName)
        }
    }

    /// Validates the addresses of a server without accounts. Everyone who can reach it could read and change
    /// everything, so only loopback addresses are allowed.
    func checkExposure() throws(ServerError) {
        if allowsAnonymousVisitors { return }
        for host in hosts where !Self.isLoopback(Self.unbracketed(host)) {
            throw .accountsNeeded(host: host)
        }
        if let host = exposedInheritedSocket() { throw .accountsNeeded(host: host) }
    }

    /// The configured TCP addresses.
    var endpoints: [TransportConfiguration.Endpoint] {
        hosts.map { TransportConfiguration.Endpoint(host: Self.unbracketed($0), port: port) }
    }

    /// The TCP addresses of ``TLS/plainPort``; nil without it.
    var plainEndpoints: [TransportConfiguration.Endpoint]? {
        guard let port = tls?.plainPort else { return nil }
        // Without own hosts, the server listens on inherited sockets, of which none is for plain HTTP.
        return (hosts.isEmpty ? ["*"] : hosts).map {
            TransportConfiguration.Endpoint(host: Self.unbracketed($0), port: port)
        }
    }

    func transport(log: Log, accessLog file: LogFile?) -> TransportConfiguration {
        var transport = TransportConfiguration(
            endpoints: hasOpenSockets ? [] : endpoints)
        transport.grace = grace
        transport.stopsOnSignals = stopsOnSignals
        transport.serverName = serverName
        transport.loops = threads
        transport.priority = priority
        transport.backlog = backlog
        transport.maxConnections = maxConnections
        transport.maxConnectionsPerAddress = maxConnectionsPerAddress
        transport.limits = limits
        transport.deadlines = deadlines
        transport.acceptsConnection = connections.accepts
        transport.connectionClosed = connections.closed
        if let tap = connections.tap { transport.tap = { tap($0).map(ApplicationTap.init) } }
        transport.accessLog = accessReport(log, file)
        transport.countsRequests = countsRequests
        addSockets(to: &transport)
        return transport
    }

    /// Whether `host` is `localhost`, `::1` or in 127.0.0.0/8. Other names are not resolved, because their
    /// addresses can change.
    package static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }

    static func unbracketed(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    /// The hosts of the public URLs, in lowercase.
    func publicHosts() throws(ServerError) -> [String] {
        try parsedPublicURLs().map(\.host)
    }

    /// The public hosts, each with its port if the public URL has one.
    func publicAuthorities() throws(ServerError) -> [String] {
        try parsedPublicURLs().map { url in url.host + (url.port.map { ":\($0)" } ?? "") }
    }

    /// The public hosts that clients only reach over TLS.
    func securePublicHosts() throws(ServerError) -> [String] {
        let urls = try parsedPublicURLs()
        let plain = urls.filter { !$0.isSecure }.map(\.host)
        return urls.filter { $0.isSecure && !plain.contains($0.host) }.map(\.host)
    }

    func parsedPublicURLs() throws(ServerError) -> [PublicURL] {
        var parsed: [PublicURL] = []
        for url in publicURLs {
            guard let url = PublicURL(parsing: url) else { throw .publicURLMalformed(url) }
            parsed.append(url)
        }
        return parsed
    }
}
