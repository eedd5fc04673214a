/// `uri-host [ ":" port ]` (RFC 9110 §7.2), of a Host field or of the authority of a URI.
public struct HostField: Hashable, Sendable {
    /// What a host is written as.
    public enum Kind: Hashable, Sendable {
        /// Anything that is no address.
        case name
        /// Four decimal octets. What else some resolvers take for an address (`127.1`, `0x7f.0.0.1`) is a name.
        case ipv4
        /// In brackets.
        case ipv6
    }

    /// In lower case; an IPv6 address with its brackets. Never empty.
    public let host: [UInt8]
    /// Nil if there is none, also after a colon.
    public let port: UInt16?
    /// What the host is written as.
    public let kind: Kind

    /// Nil if the authority is malformed, has userinfo or no host.
    public init?(parsing bytes: borrowing Span<UInt8>) {
        guard let parts = Parts(parsing: bytes) else { return nil }
        host = [UInt8](copying: bytes.extracting(0..<parts.hostLength)).map(\.lowercasedASCII)
        port = parts.port
        kind = parts.kind
    }

    /// True for an address, false for a name.
    public var isIPLiteral: Bool { kind != .name }

    /// The port in effect: the one that is given, or that of the scheme (RFC 9110 §4.2).
    public func port(isSecure: Bool) -> UInt16 { port ?? (isSecure ? 443 : 80) }

    /// True if both name the same host and the same port, each with the default of its scheme.
    public func matches(_ other: HostField, isSecure: Bool, otherIsSecure: Bool) -> Bool {
        host == other.host && port(isSecure: isSecure) == other.port(isSecure: otherIsSecure)
    }
}

extension HostField {
    /// The same without a copy: where the host ends, and what it is.
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
            // Five digits at most: a longer text of zeros is a game.
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

        /// `reg-name` (RFC 3986 §3.2.2).
        private static func isNameCharacter(_ bytes: borrowing Span<UInt8>, at index: Int) -> Bool {
            let byte = bytes[index]
            if byte.isUnreserved || byte.isSubDelimiter { return true }
            guard byte == UInt8(ascii: "%"), index + 2 < bytes.count else { return false }
            return bytes[index + 1].hexValue != nil && bytes[index + 2].hexValue != nil
        }
    }
}
