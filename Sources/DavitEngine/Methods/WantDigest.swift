internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The algorithms of the digests that a client requests (RFC 9530 §4).
struct WantDigest: Sendable {
    /// Algorithms for the representation, most preferred first.
    let representation: [DigestAlgorithm]
    /// Algorithms for the message content, most preferred first.
    private let content: [DigestAlgorithm]

    /// Whether a request contains Want-Repr-Digest or Want-Content-Digest.
    static func isIn(_ request: HTTPRequest) -> Bool {
        request.contains(.wantReprDigest) || request.contains(.wantContentDigest)
    }

    init(_ request: HTTPRequest) {
        func preference(_ name: FieldName) -> [DigestAlgorithm] {
            let value = request.combinedBytes(of: name) ?? []
            return DigestField.parsePreference(value.span).filter(RunningDigest.isAvailable)
        }
        representation = preference(.wantReprDigest)
        content = preference(.wantContentDigest)
    }

    /// Adds the requested digests to a response with content of `resource`, if they are stored or can be computed.
    ///
    /// A digest is omitted if, for example, too much long work is queued or the content is longer than
    /// ``ShareConfiguration/digestLimitBytes``. Content is sent exactly as stored, so the content of a complete response
    /// has the same digests as the representation. `Content-Digest` of a partial response is not supported.
    /// - Parameter client: The client whose quota of long work is charged.
    func fulfill(
        in response: inout HTTPResponse, for resource: OpenResource, at path: ResourcePath,
        from reader: DigestReader, for client: ClientKey
    ) async throws(WebDAVError) {
        let isWhole = response.status == .ok
        guard isWhole || response.status == .partialContent, let file = resource.content?.file else { return }
        let preferences = isWhole ? [representation, content] : [representation]
        guard preferences.contains(where: { !$0.isEmpty }) else { return }
        let info = resource.info
        var known = try await reader.storedDigests(of: info, at: path)
        var found: [ContentDigest?] = []
        for preference in preferences {
            var digest = preference.lazy.compactMap { algorithm in known.first { $0.algorithm == algorithm } }
                .first
            if digest == nil, let best = preference.first, file.length <= reader.limitBytes {
                digest = try await reader.digest(best, of: info, file, at: path, for: client)
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
