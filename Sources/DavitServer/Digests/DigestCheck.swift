package import DavitHTTP

/// Verifies content against the digests that its sender specified, while the content arrives. Used by the
/// task that reads the content.
package final class DigestCheck: Sendable {
    private let claims: [ContentDigest]
    /// Whether a digest that this build supports cannot be computed, so that no claim may count as verified.
    private let hasFailed: Bool
    private let running: Exclusive<[RunningDigest]>

    /// Returns nil if there is nothing to verify: no digests, or none with an algorithm that this build
    /// supports.
    package init?(_ claims: [ContentDigest]) {
        var running: [RunningDigest] = []
        for claim in claims where !running.contains(where: { $0.algorithm == claim.algorithm }) {
            if let digest = RunningDigest(claim.algorithm) { running.append(digest) }
        }
        hasFailed = claims.contains { claim in
            RunningDigest.isAvailable(claim.algorithm)
                && !running.contains { $0.algorithm == claim.algorithm }
        }
        if running.isEmpty, !hasFailed { return nil }
        self.claims = claims.filter { claim in running.contains { $0.algorithm == claim.algorithm } }
        self.running = Exclusive(running)
    }

    package func update(_ buffer: IOBuffer) {
        running.withValue { running in
            unsafe buffer.withBytes { bytes in
                for digest in running { unsafe digest.update(bytes) }
            }
        }
    }

    /// Whether the content matches its digests. Call once, after all content has been added.
    package func isRight() -> Bool {
        let made = running.withValue { $0.compactMap { $0.finish() } }
        return !hasFailed && claims.allSatisfy { made.contains($0) }
    }
}
