/// Digest credentials in the Authorization field (RFC 7616 §3.4).
package struct DigestCredentials: Hashable, Sendable {
    package enum User: Hashable, Sendable {
        case name([UInt8])
        /// `userhash=true`: the hexadecimal digest of name and realm (§3.4.4).
        case hash([UInt8])
    }

    package var user: User
    package var realm: [UInt8]
    package var nonce: [UInt8]
    /// The request target as sent by the client.
    package var uri: [UInt8]
    package var response: [UInt8]
    /// The digest algorithm as sent; nil means MD5.
    package var algorithm: [UInt8]?
    /// The value of `cnonce`.
    package var clientNonce: [UInt8]
    /// The value of `nc`: eight hexadecimal digits, as sent.
    package var countDigits: [UInt8]
    package var count: UInt32
    package var opaque: [UInt8]?

    /// Maximum length of `cnonce` in bytes; clients typically use 8 to 64.
    package static let clientNonceLimit = 256

    /// Parses the value of an Authorization field.
    ///
    /// - Returns: nil for other schemes, malformed values, missing required parameters, and a `qop` other
    ///   than `auth`: without `qop` (RFC 2069) there is no replay protection, and `auth-int` would require
    ///   the entire content before any of it could be processed.
    package init?(parsing value: borrowing Span<UInt8>) {
        guard value.startsIgnoringCase(with: "digest ") else { return nil }
        guard let parameters = AuthParameters(parsing: value, from: 7), let user = Self.user(parameters),
            let realm = parameters["realm"], let nonce = parameters["nonce"], let uri = parameters["uri"],
            let response = parameters["response"], parameters["qop"] == Array("auth".utf8),
            let digits = parameters["nc"], let count = Self.count(digits),
            let clientNonce = parameters["cnonce"], Self.isUsable(clientNonce: clientNonce)
        else { return nil }
        self.user = user
        self.realm = realm
        self.nonce = nonce
        self.uri = uri
        self.response = response
        algorithm = parameters["algorithm"]
        self.clientNonce = clientNonce
        countDigits = digits
        self.count = count
        opaque = parameters["opaque"]
    }

    /// Returns the value of `username` or `username*`. They must not both occur, and the latter must not be a
    /// hash (§3.4).
    private static func user(_ parameters: AuthParameters) -> User? {
        let isHash: Bool
        switch parameters["userhash"].map({ $0.map(\.lowercasedASCII) }) {
        case nil, Array("false".utf8): isHash = false
        case Array("true".utf8): isHash = true
        default: return nil
        }
        switch (parameters["username"], parameters["username*"]) {
        case (let name?, nil): return isHash ? .hash(name) : .name(name)
        case (nil, let extended?): return isHash ? nil : decode(extended: extended).map { .name($0) }
        default: return nil
        }
    }

    /// Decodes `ext-value` (RFC 8187 §3.2.1) in UTF-8.
    private static func decode(extended value: [UInt8]) -> [UInt8]? {
        let parts = value.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        guard parts.count == 3, Array(parts[0]).span.equalsIgnoringCase("utf-8"),
            let decoded = PercentCoding.decode(parts[2]), String(validating: decoded, as: UTF8.self) != nil
        else { return nil }
        return decoded
    }

    /// Parses the count, which starts at 1 (§3.4).
    private static func count(_ digits: [UInt8]) -> UInt32? {
        guard digits.count == 8 else { return nil }
        var value: UInt32 = 0
        for digit in digits {
            guard let digit = digit.hexValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value == 0 ? nil : value
    }

    /// Whether the value has an accepted length and can be returned in a quoted string in
    /// Authentication-Info.
    private static func isUsable(clientNonce: [UInt8]) -> Bool {
        guard 1...clientNonceLimit ~= clientNonce.count else { return false }
        return clientNonce.allSatisfy {
            $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
    }
}
