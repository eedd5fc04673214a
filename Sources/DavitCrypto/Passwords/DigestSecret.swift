#if TLS
internal import DavitHTTP

/// What Digest authentication needs of a password (RFC 7616 §3.4.2): `H(user ":" realm ":" password)`.
///
/// Whoever has it can authenticate in this realm: it is to be kept like a password. It cannot be turned back
/// into one, except by guessing, which is fast.
package struct DigestSecret: Equatable, Sendable {
    /// The algorithms of RFC 7616 §3.2 that are offered, without their `-sess` forms.
    package enum Algorithm: Sendable, CaseIterable {
        case sha256
        /// For clients that know nothing else.
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

    /// What a request says of itself, as it stands in its field, without quotes (RFC 7616 §3.4).
    package struct Answer: Sendable {
        package var method: [UInt8]
        package var uri: [UInt8]
        package var nonce: [UInt8]
        /// `nc`, eight hexadecimal digits.
        package var count: [UInt8]
        /// `cnonce`.
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
    /// Lower-case hexadecimal digits, as they are kept and as the formula takes them.
    package let digits: [UInt8]

    package init(
        user: [UInt8], realm: [UInt8], password: [UInt8], algorithm: Algorithm
    ) throws(CryptoError) {
        self.algorithm = algorithm
        digits = try Self.hash([user, realm, password], algorithm)
    }

    /// The kept form; nil unless it has as many hexadecimal digits as the algorithm gives.
    package init?(digits: [UInt8], algorithm: Algorithm) {
        guard let bytes = HexText.decode(digits), bytes.count == algorithm.digest.byteCount else {
            return nil
        }
        self.algorithm = algorithm
        self.digits = HexText.encode(bytes)
    }

    /// Whether `response` is the one that only who has the secret can make, for `qop=auth` (§3.4.1).
    ///
    /// - Parameter response: the digits as the client sent them; lower case alone is right (§3.3).
    package func verifies(_ response: [UInt8], for answer: Answer) throws(CryptoError) -> Bool {
        ConstantTime.areEqual(try self.response(to: answer), response)
    }

    /// The value of `response`: `KD(H(A1), nonce ":" nc ":" cnonce ":" qop ":" H(A2))`.
    package func response(to answer: Answer) throws(CryptoError) -> [UInt8] {
        let request = try Self.hash([answer.method, answer.uri], algorithm)
        return try Self.hash(
            [digits, answer.nonce, answer.count, answer.clientNonce, Array("auth".utf8), request], algorithm)
    }

    /// The digest of the parts with colons between them, as digits.
    private static func hash(_ parts: [[UInt8]], _ algorithm: Algorithm) throws(CryptoError) -> [UInt8] {
        let joined = Array(parts.joined(separator: [UInt8(ascii: ":")]))
        return HexText.encode(try Digest.of(joined, algorithm.digest))
    }
}

extension DigestSecret: CustomStringConvertible {
    package var description: String { "a \(algorithm.name) Digest secret" }
}
#endif
