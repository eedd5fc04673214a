package import DavitHTTP

/// Verifies content against the digests that its sender specified, while the content arrives.
///
/// `@unchecked`: used by one task at a time, the one that reads the content.
@safe package final class DigestCheck: @unchecked Sendable {
    private let claims: [ContentDigest]
    private let running: [RunningDigest]

    /// Returns nil if there is nothing to verify: no digests, or none with an algorithm that this build
    /// supports.
    package init?(_ claims: [ContentDigest]) {
        var running: [RunningDigest] = []
        for claim in claims where !running.contains(where: { $0.algorithm == claim.algorithm }) {
            if let digest = RunningDigest(claim.algorithm) { running.append(digest) }
        }
        if running.isEmpty { return nil }
        self.claims = claims.filter { claim in running.contains { $0.algorithm == claim.algorithm } }
        self.running = running
    }

    package func update(_ buffer: IOBuffer) {
        unsafe buffer.withBytes { bytes in
            for digest in running { unsafe digest.update(bytes) }
        }
    }

    /// Whether the content matches its digests. Call once, after all content has been added.
    package func isRight() -> Bool {
        let made = running.compactMap { $0.finish() }
        return claims.allSatisfy { made.contains($0) }
    }
}
