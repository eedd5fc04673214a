internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Returns the digests of stored content, both those that clients sent and computed ones.
final class DigestReader: Sendable {
    /// Maximum length in bytes of content whose digest counts as short work.
    private static let shortDigestBytes: Int64 = 256 << 10
    /// The time in seconds during which modified content may change again without a new modification time.
    private static let settledSeconds: Int64 = 2

    /// The maximum length in bytes of content whose digest is computed.
    let limitBytes: Int64
    private let resources: any ResourceStore
    private let lookup: ResourceLookup
    private let state: any ShareState
    private let work: BlockingWork
    private let now: @Sendable () -> Timestamp
    private let table = DigestTable()

    init(
        _ resources: any ResourceStore, _ lookup: ResourceLookup, _ state: any ShareState,
        _ work: BlockingWork,
        limitBytes: Int64, now: @escaping @Sendable () -> Timestamp
    ) {
        self.limitBytes = limitBytes
        self.resources = resources
        self.lookup = lookup
        self.state = state
        self.work = work
        self.now = now
    }

    /// Returns the digests that a client sent when it uploaded the content; none if too much work is queued.
    func storedDigests(
        of info: ResourceInfo, at path: ResourcePath
    ) async throws(WebDAVError) -> [ContentDigest] {
        let (state, resources) = (state, resources)
        let mayHaveRows = work.sessions != nil || state.hasRows(at: path)
        do throws(WebDAVError) {
            return try await work.run { () throws(WebDAVError) in
                do throws(StateError) {
                    let rows = mayHaveRows ? try state.properties(at: path, identity: info.identity) : []
                    return rows.digests(of: info, at: ResourceLocation(path), in: resources)
                } catch {
                    throw WebDAVError(state: error)
                }
            }
        } catch {
            if error.status == .serviceUnavailable { return [] }
            throw error
        }
    }

    /// Returns the digest of stored content, from the cache or from a computation shared with concurrent
    /// requests.
    ///
    /// - Parameter client: The client whose quota of long work is charged.
    /// - Returns: nil if the digest cannot be computed, for example because the content has changed since it was
    ///   opened, too much work is queued, or the algorithm is not available.
    func digest(
        _ algorithm: DigestAlgorithm, of info: ResourceInfo, _ file: any FileContent, at path: ResourcePath,
        for client: ClientKey
    ) async throws(WebDAVError) -> ContentDigest? {
        let key = DigestTable.Key(
            identity: info.identity, volume: info.volume, tag: info.entityTag, algorithm: algorithm)
        if let known = table.digest(key) { return known }
        guard let computation = table.join(key) else { return nil }
        defer { table.leave(key) }
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
        if isSettled { table.remember(digest, as: key) }
        return digest
    }

    /// Whether the content of the file has changed. A file that was replaced or removed counts as unchanged, because the
    /// open file still has the old content.
    private func isChanged(_ info: ResourceInfo, at path: ResourcePath) -> Bool {
        guard let now = try? lookup.resource(at: path, wait: .allowed).info, now.identity == info.identity
        else {
            return false
        }
        return now.entityTag != info.entityTag
    }
}
