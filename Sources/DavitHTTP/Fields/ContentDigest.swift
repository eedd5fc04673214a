/// How a digest of content is made, as far as davit knows.
public enum DigestAlgorithm: Sendable, CaseIterable {
    /// The ones that RFC 9530 recommends.
    case sha256, sha512
    /// Found out by accident only: whoever wants to can make other content of the same digest.
    case sha1, md5, adler32

    /// The key in `Content-Digest`, `Repr-Digest` and what asks for them (RFC 9530 §7.2).
    package var key: StaticString {
        switch self {
        case .sha256: "sha-256"
        case .sha512: "sha-512"
        case .sha1: "sha"
        case .md5: "md5"
        case .adler32: "adler"
        }
    }

    /// The name in `OC-Checksum` and in the property `checksums`.
    package var checksumName: StaticString {
        switch self {
        case .sha256: "SHA256"
        case .sha512: "SHA512"
        case .sha1: "SHA1"
        case .md5: "MD5"
        case .adler32: "ADLER32"
        }
    }

    /// The length of a digest.
    package var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha512: 64
        case .sha1: 20
        case .md5: 16
        case .adler32: 4
        }
    }
}

/// A digest of content.
public struct ContentDigest: Hashable, Sendable {
    /// How it was made.
    public let algorithm: DigestAlgorithm
    /// In the order in which they are written; not always as many as the algorithm makes.
    public let bytes: [UInt8]

    /// A digest that somebody has made, or claims.
    public init(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }
}

/// Why what was said about content cannot be looked at.
package enum DigestError: Error, Equatable {
    /// 400: the field is no list of digests.
    case malformed
}
