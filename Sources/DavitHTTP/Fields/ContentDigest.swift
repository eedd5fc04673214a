/// The supported digest algorithms.
public enum DigestAlgorithm: Sendable, CaseIterable {
    /// The algorithms recommended by RFC 9530.
    case sha256, sha512
    /// Not secure against deliberate changes: an attacker can create different content with the same digest.
    case sha1, md5, adler32

    /// The key in `Content-Digest`, `Repr-Digest` and the corresponding `Want-` fields (RFC 9530 §7.2).
    package var key: StaticString {
        switch self {
        case .sha256: "sha-256"
        case .sha512: "sha-512"
        case .sha1: "sha"
        case .md5: "md5"
        case .adler32: "adler"
        }
    }

    /// The name in `OC-Checksum` and the property `checksums`.
    package var checksumName: StaticString {
        switch self {
        case .sha256: "SHA256"
        case .sha512: "SHA512"
        case .sha1: "SHA1"
        case .md5: "MD5"
        case .adler32: "ADLER32"
        }
    }

    /// The length of a digest in bytes.
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
    /// The algorithm of the digest.
    public let algorithm: DigestAlgorithm
    /// The bytes of the digest; not necessarily of the length that the algorithm produces.
    public let bytes: [UInt8]

    /// Creates a digest from computed or received bytes.
    public init(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }
}

/// The reason why digests sent by a client cannot be verified.
package enum DigestError: Error, Equatable {
    /// The field is malformed; answered with 400.
    case malformed
}
