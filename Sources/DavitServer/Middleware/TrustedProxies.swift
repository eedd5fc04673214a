public import DavitHTTP

/// Determines the origin of a request from fields set by trusted proxies.
///
/// Accepts `Forwarded` (RFC 7239) or `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` only from configured
/// peers. Each proxy appends its information on the right. The lists are read from the right as long as
/// addresses are trusted; everything to the left of the first untrusted address was sent by the client and is
/// ignored. Reading stops at a malformed element; the last known address then counts as the client.
///
/// The result determines ``DavitHTTP/HTTPRequest/peerAddress``, ``DavitHTTP/HTTPRequest/isSecure`` and
/// ``DavitHTTP/HTTPRequest/host``. A path prefix removed by the proxies is part of
/// ``DavitHTTP/HTTPRequest/mountPath`` while the request is handled.
///
/// ``IdentityFields`` name the user whom a proxy has authenticated. They are removed from every request, so
/// that no handler reads those that another client has sent.
public struct TrustedProxies: Middleware {
    /// The fields that the proxies set.
    public enum Fields: String, CaseIterable, Sendable {
        /// `X-Forwarded-*` if any of them is present, else `Forwarded`: most proxies set only the former, and
        /// pass on the latter unchanged from the client.
        case either
        /// Only `Forwarded` (RFC 7239).
        case forwarded
        /// Only `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix`.
        case xForwarded = "x-forwarded"
    }

    /// Maximum number of proxies; longer lists indicate abuse.
    private static let hopLimit = 32

    private let networks: [IPNetwork]
    private let trustsLocalSockets: Bool
    private let fields: Fields
    private let identityFields: IdentityFields?

    /// - Parameters:
    ///   - networks: the addresses of the proxies. Never include networks of clients: a trusted peer can
    ///     claim any address.
    ///   - trustsLocalSockets: whether all peers on Unix sockets of this server are trusted.
    ///   - identityFields: the fields in which the proxies report the user; nil if they do not.
    public init(
        networks: [IPNetwork], trustsLocalSockets: Bool = false, fields: Fields = .either,
        identityFields: IdentityFields? = nil
    ) {
        self.networks = networks
        self.trustsLocalSockets = trustsLocalSockets
        self.fields = fields
        self.identityFields = identityFields
    }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        let isTrusted = trusts(peer: request.connectionPeerAddress)
        if isTrusted { learn(request) }
        if let identityFields {
            let identity = try identityFields.take(from: request, isTrusted: isTrusted)
            request.forwardedOrigin?.identity = identity
        }
        return try next.respond(to: request)
    }

    private func learn(_ request: HTTPRequest) {
        let hasOlder =
            request.contains(.xForwardedFor) || request.contains(.xForwardedProto)
            || request.contains(.xForwardedHost) || request.contains(.xForwardedPrefix)
        switch fields {
        case .forwarded: learnFromForwarded(request)
        case .xForwarded: learnFromOlderFields(request)
        case .either: hasOlder ? learnFromOlderFields(request) : learnFromForwarded(request)
        }
    }

    private func trusts(peer: String) -> Bool {
        if peer == HTTPRequest.localPeer { return trustsLocalSockets }
        // The zone of a link-local address is the local name of an interface, not part of the address.
        let end = peer.utf8.firstIndex(of: UInt8(ascii: "%")) ?? peer.endIndex
        let address = peer.utf8[..<end].withSpan { IPAddress(parsing: $0) }
        return address.map(trusts) ?? false
    }

    private func trusts(_ address: IPAddress) -> Bool {
        for network in networks where network.contains(address) { return true }
        return false
    }

    private func learnFromForwarded(_ request: HTTPRequest) {
        var origin = ForwardedOrigin()
        var client: IPAddress?
        var hops = 0
        request.forEachElementFromRight(of: .forwarded) { bytes in
            guard let element = ForwardedElement(parsing: bytes) else { return .extend }
            hops += 1
            client = element.client ?? client
            origin.host = element.host ?? origin.host
            origin.isSecure = element.isSecure ?? origin.isSecure
            guard let next = element.client, trusts(next), hops < Self.hopLimit else { return .stop }
            return .next
        }
        origin.peerAddress = client?.text
        request.forwardedOrigin = origin
    }

    private func learnFromOlderFields(_ request: HTTPRequest) {
        var client: IPAddress?
        var hops = 0
        request.forEachElementFromRight(of: .xForwardedFor) { bytes in
            guard let address = IPAddress(node: bytes) else { return .stop }
            hops += 1
            client = address
            return trusts(address) && hops < Self.hopLimit ? .next : .stop
        }
        var origin = ForwardedOrigin(peerAddress: client?.text)
        withElement(of: .xForwardedProto, hop: hops, in: request) {
            origin.isSecure = ForwardedElement.isSecure(scheme: $0)
        }
        withElement(of: .xForwardedHost, hop: hops, in: request) {
            origin.host = HostField.Parts(parsing: $0) == nil ? nil : [UInt8](copying: $0)
        }
        origin.prefix = prefix(of: request, hops: hops)
        request.forwardedOrigin = origin
    }

    /// Returns the prefix removed by all trusted hops. Each hop appends its part on the right, and the
    /// outermost part comes first in the path. Nil if the field is missing or a part is malformed.
    private func prefix(of request: HTTPRequest, hops: Int) -> PathPrefix? {
        var prefix: PathPrefix?
        var (place, isWellFormed) = (0, true)
        request.forEachElementFromRight(of: .xForwardedPrefix) { bytes in
            place += 1
            guard let part = PathPrefix(parsing: bytes) else {
                isWellFormed = false
                return .stop
            }
            prefix = part + (prefix ?? .empty)
            return place < hops ? .next : .stop
        }
        return isWellFormed ? prefix : nil
    }

    /// Passes the element at this position from the right, 1 for the last, to `body`; the first element if
    /// the list is shorter, because many proxies replace these fields instead of appending to them.
    private func withElement(
        of name: FieldName, hop: Int, in request: HTTPRequest, _ body: (borrowing Span<UInt8>) -> Void
    ) {
        var place = 0
        request.forEachElementFromRight(of: name) { bytes in
            place += 1
            body(bytes)
            return place < hop ? .next : .stop
        }
    }
}
