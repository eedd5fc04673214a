#if TLS
internal import DavitHTTP

/// The secret that Digest authentication derives from a password (RFC 7616 §3.4.2): `H(user ":" realm ":"
/// password)`.
///
/// It is sufficient to authenticate in this realm, so it must be protected like a password. The password
/// cannot be recovered from it except by guessing, which is fast.
package struct DigestSecret: Equatable, Sendable {
    /// The supported algorithms of RFC 7616 §3.2, without their `-sess` variants.
    package enum Algorithm: Sendable, CaseIterable {
        case sha256
        /// For clients that support no other algorithm.
        case md5

        /// The value of `algorithm` in the challenge.
        package var name: String {
            switch self {
            case .sha256: "SHA-256"
            case .md5: "MD5"
            }
        }

        var digest: Digest.Algorithm {
            switch self {
            case .sha256: .sha256
            case .md5: .md5
            }
        }
    }

    /// The values from which `response` is computed: the method of a request, and parameters of its
    /// Authorization field, unquoted (RFC 7616 §3.4).
    package struct Answer: Sendable {
        package var method: [UInt8]
        package var uri: [UInt8]
        package var nonce: [UInt8]
        /// The value of `nc`: eight hexadecimal digits.
        package var count: [UInt8]
        /// The value of `cnonce`.
        package var clientNonce: [UInt8]

        package init(
            method: [UInt8], uri: [UInt8], nonce: [UInt8], count: [UInt8], clientNonce: [UInt8]
        ) {
            self.method = method
            self.uri = uri
            self.nonce = nonce
            self.count = count
            self.clientNonce = clientNonce
        }
    }

    package let algorithm: Algorithm
    /// The digest as lowercase hexadecimal digits, the form in which it is stored and hashed into responses.
    package let digits: [UInt8]

    package init(
        user: [UInt8], realm: [UInt8], password: [UInt8], algorithm: Algorithm
    ) throws(CryptoError) {
        self.algorithm = algorithm
        digits = try Self.hash([user, realm, password], algorithm)
    }

    /// Parses the stored form; returns nil unless it has the number of hexadecimal digits that the algorithm
    /// produces.
    package init?(digits: [UInt8], algorithm: Algorithm) {
        guard let bytes = HexText.decode(digits), bytes.count == algorithm.digest.byteCount else {
            return nil
        }
        self.algorithm = algorithm
        self.digits = HexText.encode(bytes)
    }

    /// Whether `response` proves knowledge of the secret, for `qop=auth` (§3.4.1).
    ///
    /// - Parameter response: the digits as sent; only lower case is valid (§3.3).
    package func verifies(_ response: [UInt8], for answer: Answer) throws(CryptoError) -> Bool {
        ConstantTime.areEqual(try self.response(to: answer), response)
    }

    /// Returns the expected `response`: `KD(H(A1), nonce ":" nc ":" cnonce ":" qop ":" H(A2))`.
    package func response(to answer: Answer) throws(CryptoError) -> [UInt8] {
        let request = try Self.hash([answer.method, answer.uri], algorithm)
        return try Self.hash(
            [digits, answer.nonce, answer.count, answer.clientNonce, Array("auth".utf8), request], algorithm)
    }

    /// Returns the digest of the parts joined by colons, as hexadecimal digits.
    private static func hash(_ parts: [[UInt8]], _ algorithm: Algorithm) throws(CryptoError) -> [UInt8] {
        let joined = Array(parts.joined(separator: [UInt8(ascii: ":")]))
        return HexText.encode(try Digest.of(joined, algorithm.digest))
    }
}

extension DigestSecret: CustomStringConvertible {
    package var description: String { "\(algorithm.name) Digest secret" }
}
#endif
