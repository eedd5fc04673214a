internal import DavitDiscovery
internal import DavitLogging
internal import DavitMetrics
internal import DavitServer
internal import DavitTransport

/// Keeps a port of the router mapped to a server while it listens.
final class PublicPort: Sendable {
    private let mapper: PortMapper
    private let log: Log
    private let prefix: String

    /// - Parameter onChange: called with the URL when the port is mapped, and with nil and the reason when it is not.
    init(
        _ mapping: Configuration.PortMapping, prefix: String, log: Log,
        onChange: @escaping @Sendable (_ url: String?, _ reason: String) -> Void
    ) {
        self.prefix = prefix
        self.log = log
        mapper = PortMapper(
            mapping.gateway, external: mapping.externalPort, seconds: max(120, mapping.seconds)
        ) { status in
            switch status {
            case .idle, .searching: break
            case .mapped(let lease):
                let url = Self.url(of: lease, prefix)
                log.info("port mapped", ["url": url, "method": lease.method, "seconds": "\(lease.seconds)"])
                if !lease.isPublic {
                    log.warning(
                        "the address of the router is private, so the server cannot be reached from the Internet",
                        ["address": lease.address])
                }
                onChange(url, "")
            case .failed(let reason):
                log.warning("port not mapped; trying again later", ["reason": reason])
                onChange(nil, reason)
            }
        }
    }

    /// Maps the port of the first of these addresses that other machines can use; ends the mapping if there is none.
    func map(_ addresses: [BoundAddress]) {
        let usable = addresses.first {
            $0.path == nil && !Configuration.isLoopback($0.host) && $0.host != "::1"
        }
        guard let usable else {
            if !addresses.isEmpty {
                log.warning(
                    "port not mapped", ["reason": "the server listens only on this machine; see --host"])
            }
            return mapper.withdraw()
        }
        mapper.start(usable.port)
    }

    func withdraw() { mapper.withdraw() }

    /// Ends the mapping, and waits for at most 2.5 seconds until it has been removed.
    func stop() { mapper.stop() }

    private static func url(of lease: PortLease, _ prefix: String) -> String {
        let url = PublicURL(isSecure: true, host: lease.address, port: lease.port == 443 ? nil : lease.port)
        return url.text + (PathPrefix(prefix)?.text ?? "") + "/"
    }

    /// The URL for clients in the Internet; nil if the port is not mapped.
    var url: String? {
        if case .mapped(let lease) = mapper.status { Self.url(of: lease, prefix) } else { nil }
    }

    var metric: Metric {
        Metric(
            "davit_port_mapped", .gauge, "Whether a port of the router is mapped to the server.",
            value: url == nil ? 0 : 1)
    }

    /// A summary for people.
    var summary: (name: String, text: String) {
        let text =
            switch mapper.status {
            case .idle: "none: the server listens only on loopback addresses or Unix sockets"
            case .searching: "searching for a router"
            case .mapped(let lease):
                "\(Self.url(of: lease, prefix)) (\(lease.method)\(lease.isPublic ? "" : ", not reachable from the Internet"))"
            case .failed(let reason): "none: \(reason)"
            }
        return ("public address", text)
    }
}

extension TransportConfiguration {
    /// Ends the mapping of a port as soon as the server begins to stop.
    mutating func withdraw(_ port: PublicPort) {
        let next = willStop
        willStop = {
            port.withdraw()
            next?()
        }
    }
}
