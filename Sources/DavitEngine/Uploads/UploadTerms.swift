internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// What a client wants to upload over several requests, whichever protocol it says it in.
struct UploadTerms: Sendable {
    /// Bytes of all of it, if the client says.
    var length: Int64?
    var options: UploadRecord.Options = []
    /// What of the request counts when the content is complete, as lines of fields.
    let fieldLines: [UInt8]

    /// Fields of a PUT of the whole content that are kept: conditions, times, the language, digests, and which digests the
    /// response is to have.
    private static let kept: [FieldName] = [
        .if, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .xOCMTime, .xOCCTime, .reprDigest,
        .ocChecksum, .wantReprDigest, .contentLanguage,
    ]

    /// - Parameters:
    ///   - more: fields besides those of the request.
    ///   - isWhole: the content of this request is all of it, so that its digest is that of all.
    init(_ request: HTTPRequest, adding more: HTTPFields = HTTPFields(), isWhole: Bool = false) {
        var fields = HTTPFields()
        for name in Self.kept {
            if let value = request.combinedBytes(of: name), !more.contains(name) {
                fields.append(name, value)
            }
        }
        if isWhole, !fields.contains(.reprDigest), let value = request.combinedBytes(of: .contentDigest) {
            fields.append(.reprDigest, value)
        }
        fieldLines = fields.encoded + more.encoded
    }
}

/// One request that appends to an upload, whichever protocol it is in.
struct UploadPiece: Sendable {
    /// What of the request is to be compared before it counts.
    var digests: [ContentDigest] = []
    /// What the whole has to be as well, if it ends here: who sends as he reads knows no earlier.
    var wholeDigests: [ContentDigest] = []
    /// Digests of the whole that this client may name when it ends.
    var likely: [DigestAlgorithm] = []
    /// The answer where the content is not what these say.
    var mismatch = WebDAVError(.badRequest, .digestMismatch)
    /// The upload ends with this content.
    var isLast: Bool
    /// More than the whole upload was to have.
    var overflow = WebDAVError(.inconsistentLength)

    /// Of this request, by a client that has digests of its pieces: such a one is likely to have that of the whole in the
    /// end, of an algorithm that RFC 9530 recommends.
    mutating func setDigests(_ digests: [ContentDigest]) {
        self.digests = digests
        likely = digests.map(\.algorithm).filter { $0 == .sha256 || $0 == .sha512 }
    }
}

extension UploadRecord {
    /// Where it shall be in the end.
    var target: ResourcePath? { collection.appending(name) }

    /// The PUT that the upload stands for, with everything but its content.
    /// - Parameters:
    ///   - context: of a request of the same client.
    ///   - conditions: whether it brings an `If` of its own: locks come and go while an upload goes on.
    func request(
        for context: RequestContext, at path: ResourcePath
    ) throws(WebDAVError) -> RequestContext {
        try context.replacing(UploadRecord.head(fieldLines, for: context.request), at: path)
    }

    /// A head with these fields, as the client of `request` would send it now.
    static func head(_ fieldLines: [UInt8], for request: HTTPRequest) throws(WebDAVError) -> HTTPRequest {
        var fields = HTTPFields()
        fields.append(.host, request.bytes(of: .host) ?? Array("localhost".utf8))
        var lines = fieldLines
        // Locks come and go while an upload goes on: what is said now counts.
        if UploadMethods.method(of: request) == .patch, let now = request.combinedBytes(of: .if) {
            fields.append(.if, now)
            lines = Array(
                fieldLines.split(separator: UInt8(ascii: "\n")).filter { line in
                    FieldName(parsing: Array(line.prefix { $0 != UInt8(ascii: ":") }).span) != .if
                }.map { $0 + [UInt8(ascii: "\n")] }.joined())
        }
        let bytes = Array("PUT / HTTP/1.1\r\n".utf8) + fields.encoded + lines + Array("\r\n".utf8)
        do throws(HTTPError) {
            let put = try HTTPRequest(parsing: bytes)
            put.principal = request.principal
            put.peerAddress = request.connectionPeerAddress
            put.forwardedOrigin = request.forwardedOrigin
            return put
        } catch {
            throw WebDAVError(error.status)
        }
    }
}
