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

    /// Returns the computation of a digest, which the first caller starts. Each call must be balanced by a
    /// call of ``leave(_:)``.
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

/// A digest that is being computed. One user at a time advances it, while holding the gate; when that user
/// leaves, the next one resumes where it stopped.
final class DigestComputation: Sendable {
    /// Bytes hashed in one step: less than 20 milliseconds for each algorithm.
    private static let stepBytes: Int64 = 4 << 20

    enum Result: Sendable {
        case digest(ContentDigest)
        /// The content has changed since it was opened, or the cryptographic library has failed.
        case unavailable
    }

    /// The number of waiting users is limited only by the number of requests.
    let gate = AsyncSemaphore(limit: 1, waitingLimit: .max)
    private let state: Exclusive<State>

    private struct State {
        /// Nil until the whole content has been read.
        var result: Result?
        let running: RunningDigest
        var offset: Int64 = 0
    }

    init(_ running: sending RunningDigest) { state = Exclusive(State(running: running)) }

    /// Nil until the whole content has been read.
    var result: Result? { state.withValue { $0.result } }

    /// Reads and hashes the next step. May block.
    /// - Parameter isChanged: Called after all content has been read.
    func advance(
        _ file: any FileContent, in resources: any ResourceStore, isChanged: () -> Bool
    ) throws(StoreError) {
        let buffer = IOBuffer(capacity: Int(min(max(file.length, 1), 1 << 18)))
        try state.withValue { state throws(StoreError) in
            let running = state.running
            let end = min(file.length, state.offset + Self.stepBytes)
            while state.offset < end {
                buffer.removeAll()
                let count = Int64(try resources.read(file, at: state.offset, into: buffer))
                if count == 0 {
                    state.result = .unavailable
                    return
                }
                // Ignore bytes appended since the file was opened; they are not sent either.
                buffer.truncate(to: buffer.count - Int(max(0, state.offset + count - file.length)))
                unsafe buffer.withBytes { unsafe running.update($0) }
                state.offset += count
            }
            guard state.offset >= file.length else { return }
            if !isChanged(), let digest = running.finish() {
                state.result = .digest(digest)
            } else {
                state.result = .unavailable
            }
        }
    }
}

extension Share {
    /// Maximum length in bytes of content whose digest counts as short work.
    private static let shortDigestBytes: Int64 = 256 << 10
    /// Content modified within this many seconds may change again without a new modification time.
    private static let settledSeconds: Int64 = 2

    /// Returns the digest of stored content, from the cache or from a computation shared with concurrent
    /// requests.
    ///
    /// - Parameter client: The client whose quota of long work is charged.
    /// - Returns: nil if the content has changed since it was opened, too much long work is queued, or the
    ///   algorithm is not available.
    func digest(
        _ algorithm: DigestAlgorithm, of info: ResourceInfo, _ file: any FileContent, at path: ResourcePath,
        for client: String
    ) async throws(WebDAVError) -> ContentDigest? {
        let key = DigestTable.Key(
            identity: info.identity, volume: info.volume, tag: info.entityTag, algorithm: algorithm)
        if let known = digests.digest(key) { return known }
        guard let computation = digests.join(key) else { return nil }
        defer { digests.leave(key) }
        guard await computation.gate.enter() else { return nil }
        defer { computation.gate.leave() }
        let isSettled = info.modified.adding(seconds: Self.settledSeconds) < now()
        var stage = LongWorkStage.begins
        while computation.result == nil {
            if Task.isCancelled { throw .busy }
            let step = { @Sendable [self] () throws(WebDAVError) in
                try storing { () throws(StoreError) in
                    try computation.advance(file, in: resources) { isChanged(info, at: path) }
                }
            }
            do throws(WebDAVError) {
                if file.length <= Self.shortDigestBytes {
                    try await work.run(step)
                } else {
                    try await work.runLong(for: client, stage, step)
                }
            } catch {
                if error.status == .serviceUnavailable { return nil }
                throw error
            }
            stage = .continues
        }
        guard case .digest(let digest) = computation.result else { return nil }
        if isSettled { digests.remember(digest, as: key) }
        return digest
    }

    /// Whether the file at `path` is still the same but its content has changed.
    private func isChanged(_ info: ResourceInfo, at path: ResourcePath) -> Bool {
        guard let now = try? lookUp(at: path, wait: .allowed).info, now.identity == info.identity else {
            return false
        }
        return now.entityTag != info.entityTag
    }
}
