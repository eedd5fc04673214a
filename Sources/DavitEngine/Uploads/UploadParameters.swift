internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// The parameters of a resumable upload, independent of the protocol.
struct UploadParameters: Sendable {
    /// Length of the complete content in bytes, if specified.
    var length: Int64?
    var options: UploadRecord.Options = []
    /// The fields of the request that apply when the content is complete, as field lines.
    let fieldLines: [UInt8]

    /// Fields that are stored because they apply to a PUT of the complete content: preconditions, `If`,
    /// times, the language, digests, and the digest requested for the response.
    private static let kept: [FieldName] = [
        .if, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .xOCMTime, .xOCCTime, .reprDigest,
        .ocChecksum, .wantReprDigest, .contentLanguage,
    ]

    /// - Parameters:
    ///   - more: Fields to add; a field replaces that of the request with the same name.
    ///   - isWhole: Whether this request contains the complete content, so that its content digest is also
    ///     that of the representation.
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

/// The parameters of a request that appends to an upload, independent of the protocol.
struct UploadChunk: Sendable {
    /// Digests of this request's content, to be verified before it is added to the upload.
    var digests: [ContentDigest] = []
    /// Digests of the complete content, verified if this request completes the upload: a client that streams
    /// its source knows them only at the end.
    var wholeDigests: [ContentDigest] = []
    /// Algorithms likely to be used for a digest of the complete content at the end.
    var likely: [DigestAlgorithm] = []
    /// The error if the content does not match its digests.
    var mismatch = WebDAVError(.badRequest, .digestMismatch)
    /// Whether the upload ends with this content.
    var isLast: Bool
    /// The error if the upload would exceed its announced length.
    var overflow = WebDAVError(.inconsistentLength)

    /// Sets the digests of this request. A client that sends digests of pieces is likely to send a digest of
    /// the complete content at the end, with the same algorithm if RFC 9530 recommends it.
    mutating func setDigests(_ digests: [ContentDigest]) {
        self.digests = digests
        likely = digests.map(\.algorithm).filter { $0 == .sha256 || $0 == .sha512 }
    }
}

extension UploadRecord {
    /// The path of the resource to be created or replaced.
    var target: ResourcePath? { collection.appending(name) }

    /// Returns the context of the PUT that the upload represents, with everything except its content.
    /// - Parameter context: The context of a request from the same client.
    func request(
        for context: RequestContext, at path: ResourcePath
    ) throws(WebDAVError) -> RequestContext {
        try context.replacing(UploadRecord.head(fieldLines, for: context.request), at: path)
    }

    /// Returns a request head with these fields, as the client of `request` would send it now.
    static func head(_ fieldLines: [UInt8], for request: HTTPRequest) throws(WebDAVError) -> HTTPRequest {
        var fields = HTTPFields()
        fields.append(.host, request.bytes(of: .host) ?? Array("localhost".utf8))
        var lines = fieldLines
        // Locks may be created and removed during an upload: use the current `If` field.
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
            put.identity = request.identity
            put.peerAddress = request.connectionPeerAddress
            put.forwardedOrigin = request.forwardedOrigin
            return put
        } catch {
            throw WebDAVError(error.status)
        }
    }
}
