internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import Synchronization

/// Digests of stored content: those that are being computed, which all requests for them share, and the last results.
final class DigestTable: Sendable {
    /// Results that are remembered, of about 200 bytes each.
    static let rememberedLimit = 1024

    /// One version of content, and how its digest is made.
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

    /// A result that is remembered.
    func digest(_ key: Key) -> ContentDigest? {
        state.withLock { state in
            guard let digest = state.remembered[key]?.digest else { return nil }
            state.useCount += 1
            state.remembered[key]?.lastUse = state.useCount
            return digest
        }
    }

    /// Remembers a result. Of too many, the half that was used last stays.
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

    /// The computation of a digest, which begins with its first user. ``leave(_:)`` is to be called afterwards.
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

    /// Drops a computation with its last user.
    func leave(_ key: Key) {
        state.withLock { state in
            state.computations[key]?.users -= 1
            if state.computations[key]?.users == 0 { state.computations[key] = nil }
        }
    }
}

/// A digest on its way. One user at a time advances it, inside the gate; when that one leaves, the next continues where
/// it has stopped. That makes the unchecked conformance true.
final class DigestComputation: @unchecked Sendable {
    /// Bytes of one step: less than 20 milliseconds for each algorithm.
    private static let stepBytes: Int64 = 4 << 20

    enum Result: Sendable {
        case digest(ContentDigest)
        /// The content has changed since it was opened, or the library has failed.
        case unavailable
    }

    /// As many wait as there are requests.
    let gate = Gate(limit: 1, waitingLimit: .max)
    /// Nil while there is more to read.
    private(set) var result: Result?
    private var running: RunningDigest
    private var offset: Int64 = 0

    init(_ running: consuming RunningDigest) { self.running = running }

    /// Reads the next step. May block.
    /// - Parameter isChanged: asked when all has been read.
    func advance(
        _ file: any FileContent, in resources: any ResourceStore, isChanged: () -> Bool
    ) throws(StoreError) {
        let buffer = IOBuffer(capacity: Int(min(max(file.length, 1), 1 << 18)))
        let end = min(file.length, offset + Self.stepBytes)
        while offset < end {
            buffer.removeAll()
            let count = Int64(try resources.read(file, at: offset, into: buffer))
            if count == 0 {
                result = .unavailable
                return
            }
            // What has grown behind the end is not sent either.
            buffer.count -= Int(max(0, offset + count - file.length))
            unsafe buffer.withBytes { unsafe running.update($0) }
            offset += count
        }
        guard offset >= file.length else { return }
        if !isChanged(), let digest = running.finish() {
            result = .digest(digest)
        } else {
            result = .unavailable
        }
    }
}

extension Share {
    /// Content of up to so many bytes is short work.
    private static let shortDigestBytes: Int64 = 256 << 10
    /// Content that has just been written may be written again without a new modification time.
    private static let settledSeconds: Int64 = 2

    /// The digest of stored content: remembered, or computed together with other requests for it.
    ///
    /// - Parameter client: who is charged for it.
    /// - Returns: nil if the content has changed since, too much long work waits, or the algorithm is not available.
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
                    try await offload(step)
                } else {
                    try await offloadLong(for: client, stage, step)
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

    /// Whether the content at a path is the same file with other bytes.
    private func isChanged(_ info: ResourceInfo, at path: ResourcePath) -> Bool {
        guard let now = try? look(at: path, wait: .allowed).info, now.identity == info.identity else {
            return false
        }
        return now.entityTag != info.entityTag
    }
}
