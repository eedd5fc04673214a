internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Digests of all of an upload, which run along with its bytes so that these need not be read again.
///
/// `@unchecked`: who has the turn of the upload uses it, under its mutex or while it ends.
@safe final class UploadDigests: @unchecked Sendable {
    private let running: [RunningDigest]
    /// So many bytes they have seen, from the first one on.
    private(set) var length: Int64 = 0

    /// Nil without any that this build can make.
    init?(_ algorithms: [DigestAlgorithm]) {
        running = Set(algorithms).compactMap { RunningDigest($0) }
        if running.isEmpty { return nil }
    }

    private init(_ running: [RunningDigest], _ length: Int64) {
        self.running = running
        self.length = length
    }

    /// Nil where OpenSSL has failed.
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

    /// One of them, of what they have seen.
    func digest(_ algorithm: DigestAlgorithm) -> ContentDigest? {
        running.first { $0.algorithm == algorithm }?.copy()?.finish()
    }

    /// Whether they are all that it takes to compare these.
    func cover(_ claims: [ContentDigest]) -> Bool {
        claims.allSatisfy { claim in
            running.contains { $0.algorithm == claim.algorithm }
                || !RunningDigest.isAvailable(claim.algorithm)
        }
    }

    /// Whether the content is what its sender meant, all of it having been seen. What this build cannot make is ignored
    /// (RFC 9530 §2). Ends them.
    func match(_ claims: [ContentDigest]) -> Bool {
        let algorithms = running.map(\.algorithm)
        let made = running.compactMap { $0.finish() }
        return claims.allSatisfy { made.contains($0) || !algorithms.contains($0.algorithm) }
    }
}
