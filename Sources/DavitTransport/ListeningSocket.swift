internal import DavitSystem

/// A listening socket and its address.
final class ListeningSocket {
    let boundAddress: BoundAddress
    /// The address to which the socket was bound if it belongs to a configured endpoint, used to bind it
    /// again; nil for other sockets.
    let endpoint: SocketAddress?
    /// The local address of its connections; unspecified if it listens on all addresses.
    let address: SocketAddress
    /// The file of a local socket, which is removed when the socket is closed.
    let file: LocalSocketFile?
    private var socket: FileDescriptor?
    /// Whether the server created the socket, as opposed to inheriting it.
    var isOurs: Bool { endpoint != nil || file != nil }

    /// Creates a listening socket that does not belong to a configured TCP endpoint.
    init(
        _ socket: consuming FileDescriptor, at place: BoundAddress, address: SocketAddress = .local,
        file: LocalSocketFile? = nil
    ) {
        self.socket = consume socket
        self.file = file
        self.address = address
        endpoint = nil
        boundAddress = place
    }

    private init(_ socket: consuming FileDescriptor, endpoint: SocketAddress) {
        self.socket = consume socket
        file = nil
        address = endpoint
        self.endpoint = endpoint
        boundAddress = BoundAddress(host: endpoint.text, port: endpoint.port)
    }

    /// Transfers ownership of the socket; returns nil the second time.
    func take() -> FileDescriptor? { socket.take() }
}

extension ListeningSocket {
    /// How many times the system may choose a port until one is free on all addresses.
    private static let attempts = 16

    /// Opens all sockets of a server: inherited sockets, endpoints, and local sockets.
    static func open(_ configuration: TransportConfiguration) throws(TransportError) -> [ListeningSocket] {
        try open(configuration) { () throws(TransportError) in
            let hasOthers = !configuration.inheritedSockets.isEmpty || !configuration.localSockets.isEmpty
            if configuration.endpoints.isEmpty && hasOthers { return [] }
            return try bind(configuration.endpoints, backlog: configuration.backlog)
        }
    }

    /// Opens all sockets again after a pause.
    /// - Parameter endpoints: the addresses that the endpoints were bound to.
    static func reopen(
        _ configuration: TransportConfiguration, endpoints: [SocketAddress]
    ) throws(TransportError) -> [ListeningSocket] {
        try open(configuration) { () throws(TransportError) in
            try bind(endpoints, backlog: configuration.backlog)
        }
    }

    private static func open(
        _ configuration: TransportConfiguration,
        bindEndpoints: () throws(TransportError) -> [ListeningSocket]
    ) throws(TransportError) -> [ListeningSocket] {
        var sockets = try configuration.inheritedSockets.map { (number) throws(TransportError) in
            try inherited(number)
        }
        sockets += try bindEndpoints()
        do throws(TransportError) {
            for socket in configuration.localSockets {
                sockets.append(try local(socket, backlog: configuration.backlog))
            }
        } catch {
            for socket in sockets { socket.file?.remove() }
            throw error
        }
        return sockets
    }

    /// Binds all endpoints. Those with port 0 share one port, which the system chooses.
    static func bind(
        _ endpoints: [TransportConfiguration.Endpoint], backlog: Int
    ) throws(TransportError) -> [ListeningSocket] {
        guard !endpoints.isEmpty else { throw TransportError(.noEndpoint) }
        var candidates: [(endpoint: TransportConfiguration.Endpoint, addresses: [SocketAddress])] = []
        for endpoint in endpoints { candidates.append((endpoint, try addresses(of: endpoint))) }

        var lastError = TransportError(.noEndpoint)
        for _ in 0..<attempts {
            do throws(TransportError) {
                return try bindOnce(candidates, backlog: Int32(clamping: backlog))
            } catch {
                lastError = error
                // Only a port that the system chose can be replaced by another one.
                guard error.reason == .inUse, error.port == 0 else { throw error }
            }
        }
        throw lastError
    }

    private static func bindOnce(
        _ candidates: [(endpoint: TransportConfiguration.Endpoint, addresses: [SocketAddress])],
        backlog: Int32
    ) throws(TransportError) -> [ListeningSocket] {
        var sockets: [ListeningSocket] = []
        var bound: Set<SocketAddress> = []
        var chosenPort: UInt16 = 0
        for (endpoint, addresses) in candidates {
            var failure: TransportError?
            var count = 0
            for var address in addresses {
                if address.port == 0 { address.port = chosenPort }
                if bound.contains(address) {
                    count += 1
                    continue
                }
                do throws(SystemError) {
                    let socket = try bind(address, backlog: backlog)
                    if endpoint.port == 0 { chosenPort = socket.boundAddress.port }
                    address.port = socket.boundAddress.port
                    bound.insert(address)
                    sockets.append(socket)
                    count += 1
                } catch {
                    let refusal = TransportError(.init(error), host: endpoint.host, port: endpoint.port)
                    // A host name may have an address of a family that this machine does not support.
                    guard refusal.reason == .notAvailable, addresses.count > 1 else { throw refusal }
                    failure = refusal
                }
            }
            if count == 0, let failure { throw failure }
        }
        return sockets
    }

    /// Binds exactly these addresses and ports.
    static func bind(
        _ addresses: [SocketAddress], backlog: Int
    ) throws(TransportError) -> [ListeningSocket] {
        var sockets: [ListeningSocket] = []
        for address in addresses {
            do throws(SystemError) {
                sockets.append(try bind(address, backlog: Int32(clamping: backlog)))
            } catch {
                throw TransportError(.init(error), host: address.text, port: address.port)
            }
        }
        return sockets
    }

    private static func bind(
        _ address: SocketAddress, backlog: Int32
    ) throws(SystemError) -> ListeningSocket {
        let socket = try Socket.listen(on: address, backlog: backlog)
        let actual = try Socket.localAddress(of: socket.rawValue)
        return ListeningSocket(socket, endpoint: actual)
    }

    private static func addresses(
        of endpoint: TransportConfiguration.Endpoint
    ) throws(TransportError) -> [SocketAddress] {
        let port = endpoint.port
        switch endpoint.host {
        // `localhost` is not resolved, because a resolver may return only one of the two loopback addresses.
        case "localhost": return [.ipv4Loopback(port: port), .ipv6Loopback(port: port)]
        case "*", "": return [.ipv4Any(port: port), .ipv6Any(port: port)]
        default:
            do throws(SocketAddress.LookUpError) {
                return try SocketAddress.lookUp(host: endpoint.host, port: port)
            } catch {
                let reason: TransportError.Reason =
                    switch error {
                    case .unknown: .unknownHost
                    case .failed: .lookUpFailed
                    }
                throw TransportError(reason, host: endpoint.host, port: port)
            }
        }
    }
}

extension TransportError.Reason {
    init(_ error: SystemError) {
        switch error.bindingKind {
        case .addressInUse: self = .inUse
        case .notASocket: self = .notASocket
        case .notPermitted: self = .notPermitted
        case .addressNotAvailable: self = .notAvailable
        case .other: self = .system(error)
        }
    }
}
