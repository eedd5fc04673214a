/// Where a request came from before a trusted proxy passed it on.
package struct ForwardedOrigin: Hashable, Sendable {
    /// Nil where the proxy does not say.
    package var peerAddress: String?
    package var isSecure: Bool?
    /// `host[:port]`, well formed.
    package var host: [UInt8]?
    /// What the proxies took away from the beginning of the path.
    package var prefix: PathPrefix?

    package init(
        peerAddress: String? = nil, isSecure: Bool? = nil, host: [UInt8]? = nil, prefix: PathPrefix? = nil
    ) {
        self.peerAddress = peerAddress
        self.isSecure = isSecure
        self.host = host
        self.prefix = prefix
    }
}

extension HTTPRequest {
    /// The host that the client asked: what a trusted proxy says, else that of the absolute form, else Host. Nil in
    /// HTTP/1.0 without a Host field.
    public var host: HostField? {
        guard let bytes = forwardedOrigin?.host ?? authority ?? bytes(of: .host) else { return nil }
        return HostField(parsing: bytes.span)
    }
}

extension HTTPRequest {
    /// True if the name that the client asked for cannot be known: the peer is a trusted proxy, or by its fields some
    /// proxy on this machine, and says nothing of it. Such a proxy may have put its own name for this server into Host.
    package var isHostUncertain: Bool {
        if let forwardedOrigin { return forwardedOrigin.host == nil }
        guard contains(.xForwardedFor) || contains(.forwarded), !contains(.xForwardedHost) else {
            return false
        }
        return ends?.remote.isLoopback == true
    }
}

/// How ``HTTPRequest/forEachElementFromRight(of:_:)`` goes on.
package enum ListStep {
    /// To the next element.
    case next
    /// The comma in front of the element belongs to it: again, with what stands before.
    case extend
    case stop
}

extension HTTPRequest {
    /// A comma in a quoted string is rare; more of them in one element are a game.
    private static let extensionLimit = 8

    /// Calls `body` for the elements of a list field from the last one to the first, as far as it wants, trimmed and
    /// without empty ones. Proxies add theirs at the right, so that what stands to the left of them, however
    /// malformed, cannot change how they are read.
    ///
    /// An element with quoted strings can have commas; it is then offered from its last comma on first, and longer
    /// with each ``ListStep/extend``. None but the whole element is well formed, because quoted strings stand only
    /// behind an equals sign.
    package func forEachElementFromRight(
        of name: FieldName, _ body: (borrowing Span<UInt8>) -> ListStep
    ) {
        guard contains(name) else { return }
        let head = head
        for line in lines.reversed() where line.name == name {
            let value = head.span.extracting(line.valueRange)
            var end = value.count
            var start = end
            var extensions = 0
            while end > 0 {
                while start > 0, value[start - 1] != UInt8(ascii: ",") { start -= 1 }
                let element = value.extracting(start..<end)
                let trimmed = element.extracting(element.trimmedRange)
                switch trimmed.isEmpty ? .next : body(trimmed) {
                case .stop: return
                case .extend:
                    extensions += 1
                    guard start > 0, extensions <= Self.extensionLimit else { return }
                    start -= 1
                    continue
                case .next: break
                }
                end = max(0, start - 1)
                start = end
                extensions = 0
            }
        }
    }
}

extension HTTPRequest {
    /// The ``peerAddress`` of a connection over a local socket, which has no address.
    package static let localPeer = "unix:"

    /// Sixteen hexadecimal digits that name this request in the log; made when it is first asked for. For whatever a
    /// person may have to quote: a response that shows it can be found in the access log.
    public var requestID: String {
        if requestNumber == 0 { requestNumber = .random(in: 1 ... .max) }
        let digits = String(requestNumber, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
