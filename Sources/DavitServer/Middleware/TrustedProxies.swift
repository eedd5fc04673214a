public import DavitHTTP

/// Learns from the proxies in front of this server where a request came from.
///
/// Believes `Forwarded` (RFC 7239) or `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` from the peers it was told to, and
/// from no others. Each proxy adds at the right what it saw; the lists are followed from there, from trusted address to
/// trusted address, and what stands to the left of the first other one is the client's own word and not read. What is
/// malformed ends the walk: the request is answered as one of the last address that is known.
///
/// The result is what ``DavitHTTP/HTTPRequest/peerAddress``, ``DavitHTTP/HTTPRequest/isSecure`` and
/// ``DavitHTTP/HTTPRequest/host`` say from then on. A prefix that the proxies took away from the path is part of
/// ``DavitHTTP/HTTPRequest/mountPath`` while the request is answered.
public struct TrustedProxies: Middleware {
    /// Which fields the proxies set.
    public enum Fields: String, CaseIterable, Sendable {
        /// `X-Forwarded-*` if one of them is there, else `Forwarded`: most proxies know the former only, and pass the
        /// latter on as the client sent it.
        case either
        /// `Forwarded` (RFC 7239) alone.
        case forwarded
        /// `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` alone.
        case xForwarded = "x-forwarded"
    }

    /// So many proxies in a row; a longer list is a game.
    private static let hopLimit = 32

    private let networks: [IPNetwork]
    private let trustsLocalSockets: Bool
    private let fields: Fields

    /// - Parameters:
    ///   - networks: the addresses of the proxies. Not the networks of clients: who is trusted can give itself any
    ///     address.
    ///   - trustsLocalSockets: whoever can connect to a Unix socket of this server is trusted.
    public init(networks: [IPNetwork], trustsLocalSockets: Bool = false, fields: Fields = .either) {
        self.networks = networks
        self.trustsLocalSockets = trustsLocalSockets
        self.fields = fields
    }

    public func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse {
        learn(request)
        return try await next.respond(to: request)
    }

    public func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse? {
        learn(request)
        return next.respondAtOnce(to: request)
    }

    /// A request can be offered twice, at once and then again: it is read once.
    private func learn(_ request: HTTPRequest) {
        guard request.forwardedOrigin == nil, trusts(peer: request.connectionPeerAddress) else { return }
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
        // The zone of a link-local address is this machine's name for an interface, and no part of the address.
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

    /// What all trusted hops have taken away: each that does adds its part at the right, and the outermost one's comes
    /// first in the path. Nil without the field, and where a part of it is malformed.
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

    /// Hands over the element at this place from the right, 1 for the last; the first one of a list that is shorter,
    /// because many proxies replace these fields instead of adding to them.
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
