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

    /// Adds what is known or can be found out to a response for this content: a wish may stay unfulfilled, also because
    /// too much long work waits.
    ///
    /// Stored content is sent as it is, so that all of it has the digests of the representation; a part of it has others,
    /// which nobody computes. Reads up to ``ShareConfiguration/digestLimitBytes``.
    /// - Parameter client: who is charged for it.
    func fulfil(
        in response: inout HTTPResponse, for resource: OpenResource, at path: ResourcePath, of share: Share,
        for client: String
    ) async throws(WebDAVError) {
        let isWhole = response.status == .ok
        guard isWhole || response.status == .partialContent, let file = resource.content?.file else { return }
        let wishes = isWhole ? [representation, content] : [representation]
        guard wishes.contains(where: { !$0.isEmpty }) else { return }
        let info = resource.info
        var known = try await share.storedDigests(of: info, at: path)
        var found: [ContentDigest?] = []
        for wish in wishes {
            var digest = wish.lazy.compactMap { algorithm in known.first { $0.algorithm == algorithm } }.first
            if digest == nil, let best = wish.first, file.length <= share.configuration.digestLimitBytes {
                digest = try await share.digest(best, of: info, file, at: path, for: client)
                if let digest { known.append(digest) }
            }
            found.append(digest)
        }
        if let digest = found[0] { response.fields.append(.reprDigest, DigestField.encode(digest)) }
        if isWhole, let digest = found[1] {
            response.fields.append(.contentDigest, DigestField.encode(digest))
        }
    }
}

extension Share {
    /// The digests that the client that wrote the content has sent with it.
    fileprivate func storedDigests(
        of info: ResourceInfo, at path: ResourcePath
    ) async throws(WebDAVError) -> [ContentDigest] {
        guard state.hasRows(at: path) else { return [] }
        let state = state
        return try await offload { () throws(WebDAVError) in
            do throws(StateError) {
                return try state.properties(at: path, identity: info.identity).digests(of: info)
            } catch {
                throw WebDAVError(state: error)
            }
        }
    }
}
