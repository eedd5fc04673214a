internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import Synchronization

/// Digests of stored content: pending computations, which concurrent requests share, and the most recent
/// results.
final class DigestTable: Sendable {
    /// Maximum number of cached results, of about 200 bytes each.
    static let rememberedLimit = 1024

    /// Identifies one version of some content and the digest algorithm.
    struct Key: Hashable {
        let identity: ResourceIdentity
        let volume: UInt64
        let tag: EntityTag
        let algorithm: DigestAlgorithm
    }

    private struct State {
        var computations: [Key: (computation: DigestComputation, users: Int)] = [:]
        var remembered: [Key: (digest: ContentDigest, lastUse: UInt64)] = [:]
        var useCount: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Returns the cached digest for `key`, if any.
    func digest(_ key: Key) -> ContentDigest? {
        state.withLock { state in
            guard let digest = state.remembered[key]?.digest else { return nil }
            state.useCount += 1
            state.remembered[key]?.lastUse = state.useCount
            return digest
        }
    }

    /// Caches a digest. If the cache is full, the least recently used half is evicted.
    func remember(_ digest: ContentDigest, as key: Key) {
        state.withLock { state in
            state.useCount += 1
            state.remembered[key] = (digest, state.useCount)
            guard state.remembered.count > Self.rememberedLimit else { return }
            let uses = state.remembered.values.map(\.lastUse).sorted()
            let oldest = uses[uses.count / 2]
            state.remembered = state.remembered.filter { $0.value.lastUse >= oldest }
        }
    }

    /// Returns the computation of a digest, and creates it for the first caller. Unless the result is nil, the call must
    /// be balanced by a call of ``leave(_:)``.
    /// - Returns: nil if the algorithm is not available.
    func join(_ key: Key) -> DigestComputation? {
        state.withLock { state in
            if let known = state.computations[key] {
                state.computations[key]?.users += 1
                return known.computation
            }
            guard let running = RunningDigest(key.algorithm) else { return nil }
            let computation = DigestComputation(running)
            state.computations[key] = (computation, 1)
            return computation
        }
    }

    /// Drops a computation when its last user leaves.
    func leave(_ key: Key) {
        state.withLock { state in
            state.computations[key]?.users -= 1
            if state.computations[key]?.users == 0 { state.computations[key] = nil }
        }
    }
}
