/// A host with an optional port, `uri-host [ ":" port ]` (RFC 9110 §7.2), from a Host field or URI authority.
public struct HostField: Hashable, Sendable {
    /// The syntactic kind of a host.
    public enum Kind: Hashable, Sendable {
        /// Any host that is not an IP address.
        case name
        /// Four decimal octets. Other forms that some resolvers accept as addresses (`127.1`, `0x7f.0.0.1`)
        /// are names.
        case ipv4
        /// An IPv6 address in brackets.
        case ipv6
    }

    /// The host in lower case; an IPv6 address includes its brackets. Never empty.
    public let host: [UInt8]
    /// The port; nil if missing or empty.
    public let port: UInt16?
    /// The kind of the host.
    public let kind: Kind

    /// Parses an authority; returns nil if it is malformed, contains userinfo, or has no host.
    public init?(parsing bytes: borrowing Span<UInt8>) {
        guard let parts = Parts(parsing: bytes) else { return nil }
        host = [UInt8](copying: bytes.extracting(0..<parts.hostLength)).map(\.lowercasedASCII)
        port = parts.port
        kind = parts.kind
    }

    /// Whether the host is an IP address.
    public var isIPLiteral: Bool { kind != .name }

    /// Returns the effective port: the specified one, or the default of the scheme (RFC 9110 §4.2).
    public func port(isSecure: Bool) -> UInt16 { port ?? (isSecure ? 443 : 80) }

    /// Whether this field and `other` have the same host and the same effective port.
    public func matches(_ other: HostField, isSecure: Bool, otherIsSecure: Bool) -> Bool {
        host == other.host && port(isSecure: isSecure) == other.port(isSecure: otherIsSecure)
    }
}

extension HostField: CustomStringConvertible {
    /// The host, with its port if it was sent: `localhost:8080`.
    public var description: String {
        String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
    }
}

extension HostField {
    /// The structure of a host field, parsed without copying.
    package struct Parts {
        package var hostLength: Int
        package var port: UInt16?
        package var kind: Kind

        package init?(parsing bytes: borrowing Span<UInt8>) {
            guard let host = Self.host(of: bytes) else { return nil }
            hostLength = host.length
            kind = host.kind
            guard hostLength < bytes.count else { return }
            guard bytes[hostLength] == UInt8(ascii: ":") else { return nil }
            let digits = bytes.extracting((hostLength + 1)..<bytes.count)
            if digits.isEmpty { return }
            // Reject more than five digits, even if they are leading zeros.
            guard digits.count <= 5, let value = digits.decimalValue, let port = UInt16(exactly: value) else {
                return nil
            }
            self.port = port
        }

        private static func host(of bytes: borrowing Span<UInt8>) -> (length: Int, kind: Kind)? {
            if bytes.isEmpty { return nil }
            if bytes[0] == UInt8(ascii: "[") {
                guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
                guard IPAddressText.ipv6(bytes.extracting(1..<close)) != nil else { return nil }
                return (close + 1, .ipv6)
            }
            var length = 0
            while length < bytes.count, bytes[length] != UInt8(ascii: ":") {
                guard isNameCharacter(bytes, at: length) else { return nil }
                length += 1
            }
            if length == 0 { return nil }
            return (length, IPAddressText.ipv4(bytes.extracting(0..<length)) != nil ? .ipv4 : .name)
        }

        /// Whether the character is valid in `reg-name` (RFC 3986 §3.2.2).
        private static func isNameCharacter(_ bytes: borrowing Span<UInt8>, at index: Int) -> Bool {
            let byte = bytes[index]
            if byte.isUnreserved || byte.isSubDelimiter { return true }
            guard byte == UInt8(ascii: "%"), index + 2 < bytes.count else { return false }
            return bytes[index + 1].hexValue != nil && bytes[index + 2].hexValue != nil
        }
    }
}
