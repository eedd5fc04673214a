package import DavitHTTP

/// Compares content, while it comes in, with the digests that its sender gave for it.
///
/// `@unchecked`: one task at a time uses it, as the content it looks at.
@safe package final class DigestCheck: @unchecked Sendable {
    private let claims: [ContentDigest]
    private let running: [RunningDigest]

    /// Nil if there is nothing to compare: no digests, or none of a kind that this build can make.
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

    /// Whether the content is what its sender meant, all of it having been seen. Ends the check.
    package func isRight() -> Bool {
        let made = running.compactMap { $0.finish() }
        return claims.allSatisfy { made.contains($0) }
    }
}
