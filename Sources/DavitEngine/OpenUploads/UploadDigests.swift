internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Running digests of an upload, computed while its bytes are received so that they need not be read again.
///
/// `@unchecked`: only used by the request that has the turn of the upload, under its mutex or while the
/// upload is completed.
@safe final class UploadDigests: @unchecked Sendable {
    private let running: [RunningDigest]
    /// Number of bytes hashed, from the first one on.
    private(set) var length: Int64 = 0

    /// Returns nil if none of the algorithms is available in this build.
    init?(_ algorithms: [DigestAlgorithm]) {
        running = Set(algorithms).compactMap { RunningDigest($0) }
        if running.isEmpty { return nil }
    }

    private init(_ running: [RunningDigest], _ length: Int64) {
        self.running = running
        self.length = length
    }

    /// Returns nil if OpenSSL fails.
    func copy() -> UploadDigests? {
        let copies = running.compactMap { $0.copy() }
        return copies.count == running.count ? UploadDigests(copies, length) : nil
    }

    func update(_ buffer: IOBuffer) {
        unsafe buffer.withBytes { bytes in
            for digest in running { unsafe digest.update(bytes) }
        }
        length += Int64(buffer.count)
    }

    /// Returns the digest of the bytes hashed so far.
    func digest(_ algorithm: DigestAlgorithm) -> ContentDigest? {
        running.first { $0.algorithm == algorithm }?.copy()?.finish()
    }

    /// Whether these digests are sufficient to verify all `claims`.
    func cover(_ claims: [ContentDigest]) -> Bool {
        claims.allSatisfy { claim in
            running.contains { $0.algorithm == claim.algorithm }
                || !RunningDigest.isAvailable(claim.algorithm)
        }
    }

    /// Whether the complete content matches the digests sent by the client. Unsupported algorithms are
    /// ignored (RFC 9530 §2). The digests cannot be updated afterwards.
    func match(_ claims: [ContentDigest]) -> Bool {
        let algorithms = running.map(\.algorithm)
        let made = running.compactMap { $0.finish() }
        return claims.allSatisfy { made.contains($0) || !algorithms.contains($0.algorithm) }
    }
}
