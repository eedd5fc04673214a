internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The digests that a client wants to see with stored content (RFC 9530 §4).
struct DigestWish: Sendable {
    /// Of the representation, the most wanted first.
    let representation: [DigestAlgorithm]
    /// Of the content of this message.
    private let content: [DigestAlgorithm]

    /// Whether a request has a wish. O(1).
    static func isIn(_ request: HTTPRequest) -> Bool {
        request.contains(.wantReprDigest) || request.contains(.wantContentDigest)
    }

    init(_ request: HTTPRequest) {
        func wish(_ name: FieldName) -> [DigestAlgorithm] {
            let value = request.combinedBytes(of: name) ?? []
            return DigestField.parseWish(value.span).filter(RunningDigest.isAvailable)
        }
        representation = wish(.wantReprDigest)
        content = wish(.wantContentDigest)
    }

    /// Adds what is known or can be found out to a response for this content: a wish may stay unfulfilled.
    ///
    /// Stored content is sent as it is, so that all of it has the digests of the representation; a part of it has others,
    /// which nobody computes. Reads up to ``ShareConfiguration/digestLimitBytes`` on the pool.
    func fulfil(
        in response: inout HTTPResponse, for resource: OpenResource, at path: ResourcePath, of share: Share
    ) async throws(WebDAVError) {
        let isWhole = response.status == .ok
        guard isWhole || response.status == .partialContent, let file = resource.content?.file else { return }
        let wishes = isWhole ? [representation, content] : [representation]
        guard wishes.contains(where: { !$0.isEmpty }) else { return }
        let info = resource.info
        let found = try await share.offload { () throws(WebDAVError) in
            try share.digests(wishes, of: info, file, at: path)
        }
        if let digest = found[0] { response.fields.append(.reprDigest, DigestField.encode(digest)) }
        if isWhole, let digest = found[1] {
            response.fields.append(.contentDigest, DigestField.encode(digest))
        }
    }
}

extension Share {
    /// For each wish a digest that is stored, or else the one that is wanted most. Blocks.
    fileprivate func digests(
        _ wishes: [[DigestAlgorithm]], of info: ResourceInfo, _ file: any FileContent, at path: ResourcePath
    ) throws(WebDAVError) -> [ContentDigest?] {
        var known: [ContentDigest] = []
        do throws(StateError) {
            known = try state.properties(at: path, identity: info.identity).digests(of: info)
        } catch {
            throw WebDAVError(state: error)
        }
        var found: [ContentDigest?] = []
        for wish in wishes {
            var digest = wish.lazy.compactMap { algorithm in known.first { $0.algorithm == algorithm } }.first
            if digest == nil, let best = wish.first, file.length <= configuration.digestLimitBytes {
                digest = try storing { () throws(StoreError) in try compute(best, of: file) }
                if let digest { known.append(digest) }
            }
            found.append(digest)
        }
        return found
    }

    /// Nil if the content has become another length meanwhile.
    private func compute(
        _ algorithm: DigestAlgorithm, of file: any FileContent
    ) throws(StoreError) -> ContentDigest? {
        guard let running = RunningDigest(algorithm) else { return nil }
        let buffer = IOBuffer(capacity: Int(min(max(file.length, 1), 1 << 18)))
        var offset: Int64 = 0
        while offset < file.length {
            buffer.removeAll()
            let count = Int64(try resources.read(file, at: offset, into: buffer))
            if count == 0 { return nil }
            // What has grown behind the end is not sent either.
            buffer.count -= Int(max(0, offset + count - file.length))
            unsafe buffer.withBytes { unsafe running.update($0) }
            offset += count
        }
        return running.finish()
    }
}
