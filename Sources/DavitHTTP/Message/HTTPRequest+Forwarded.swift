/// The user whom a trusted proxy has authenticated.
package struct ForwardedIdentity: Hashable, Sendable {
    /// Not empty; not checked otherwise.
    package var name: String
    package var groups: Set<String>

    package init(name: String, groups: Set<String>) {
        self.name = name
        self.groups = groups
    }
}

/// The origin of a request as reported by a trusted proxy.
package struct ForwardedOrigin: Hashable, Sendable {
    /// The numeric address of the client; nil if the proxy does not report it.
    package var peerAddress: String?
    package var isSecure: Bool?
    /// A well-formed `host[:port]`.
    package var host: [UInt8]?
    /// The path prefix that the proxies removed.
    package var prefix: PathPrefix?
    /// Whom the proxy has authenticated.
    package var identity: ForwardedIdentity?

    package init(
        peerAddress: String? = nil, isSecure: Bool? = nil, host: [UInt8]? = nil, prefix: PathPrefix? = nil
    ) {
        self.peerAddress = peerAddress
        self.isSecure = isSecure
        self.host = host
        self.prefix = prefix
    }
}

/// A ``ForwardedOrigin`` as requests refer to it.
final class ForwardedReference: Sendable {
    let origin: ForwardedOrigin

    init(_ origin: ForwardedOrigin) { self.origin = origin }
}

extension HTTPRequest {
    /// The host to which the client sent the request: as reported by a trusted proxy, else from the request
    /// target (absolute form, or CONNECT), else from Host. Nil for HTTP/1.0 without Host.
    public var host: HostField? {
        guard let bytes = forwardedHost ?? authority ?? bytes(of: .host) else { return nil }
        return HostField(parsing: bytes.span)
    }
}

extension HTTPRequest {
    /// Whether the host that the client used is unknown: the request came through a trusted proxy that does
    /// not report the host, or its fields indicate an unconfigured proxy on this machine. Either proxy may
    /// have replaced Host.
    package var isHostUncertain: Bool {
        if isForwarded { return forwardedHost == nil }
        guard contains(.xForwardedFor) || contains(.forwarded), !contains(.xForwardedHost) else {
            return false
        }
        return endpoints?.remote.isLoopback == true
    }
}

/// How ``HTTPRequest/forEachElementFromRight(of:_:)`` continues.
package enum ListElementAction {
    /// Continue with the next element.
    case next
    /// The comma before the element belongs to it: repeat with the element extended to the left.
    case extend
    case stop
}

extension HTTPRequest {
    /// Maximum number of times an element is extended. Commas in quoted strings are rare; more indicate
    /// abuse.
    private static let extensionLimit = 8

    /// Calls `body` for the non-empty elements of a list field, trimmed, from the last to the first, until
    /// `body` returns `stop` or an element cannot be extended. Proxies append on the right, so malformed data
    /// that a client put on the left cannot affect how the elements of the proxies are parsed.
    ///
    /// An element with quoted strings may contain commas. Such an element is first passed without the text up
    /// to its last comma, and is extended to the left by one comma for each ``ListElementAction/extend``.
    /// Only the complete element is well-formed, because quoted strings occur only after an equals sign.
    package func forEachElementFromRight(
        of name: FieldName, _ body: (borrowing Span<UInt8>) -> ListElementAction
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
    /// The ``peerAddress`` of a connection over a Unix socket, which has no address.
    package static let localPeer = "unix:"

    /// Sixteen hexadecimal digits that identify this request in the log; generated on first use. Include them
    /// in responses that users may report, so that the request can be found in the access log.
    public var requestID: String {
        if requestNumber == 0 { requestNumber = .random(in: 1 ... .max) }
        let digits = String(requestNumber, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
