package import DavitHTTP

/// Verifies content against the digests that its sender specified, while the content arrives. Used by the
/// task that reads the content.
package final class DigestCheck: Sendable {
    private let expected: [ContentDigest]
    /// Whether a digest that this build supports cannot be computed, so that no digest may count as verified.
    private let hasFailed: Bool
    private let running: Exclusive<[RunningDigest]>

    /// Returns nil if there is nothing to verify: no digests, or none with an algorithm that this build
    /// supports.
    package init?(_ expected: [ContentDigest]) {
        var running: [RunningDigest] = []
        for digest in expected where !running.contains(where: { $0.algorithm == digest.algorithm }) {
            if let digest = RunningDigest(digest.algorithm) { running.append(digest) }
        }
        hasFailed = expected.contains { digest in
            RunningDigest.isAvailable(digest.algorithm)
                && !running.contains { $0.algorithm == digest.algorithm }
        }
        if running.isEmpty, !hasFailed { return nil }
        self.expected = expected.filter { digest in running.contains { $0.algorithm == digest.algorithm } }
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
        return !hasFailed && expected.allSatisfy { made.contains($0) }
    }
}
