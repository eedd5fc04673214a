public import DavitHTTP
internal import DavitZlib

/// Sends generated content in the coding gzip to clients that ask for it (RFC 9110 §8.4.1.3, §12.5.3).
///
/// Coded is content that a handler made, of a type that gets shorter: bytes from a threshold on, and streams. Left alone
/// are stored files, whose bytes and length are what WebDAV clients were told; parts of content; what has a coding
/// already; and what `Cache-Control: no-transform` protects. Live streams are flushed with each piece.
///
/// Where the coding depends on the client, `Vary: Accept-Encoding` says so, also on what is not coded if it answers GET. A strong entity tag becomes weak with the
/// coding: two codings are two sequences of bytes, which must not share a strong tag (RFC 9110 §8.8.3.3). The weak one
/// still matches in If-None-Match, whichever of the two it came with; If-Match wants bytes and does not match it.
///
/// Do not put it before pages that show both a secret and what their address says: their length then tells of the
/// secret (BREACH).
public struct Compression: Middleware {
    /// Below it there is nothing to gain: so much fits into a packet.
    public static let defaultThresholdBytes = 1024

    private let thresholdBytes: Int
    private let level: Int

    /// - Parameters:
    ///   - thresholdBytes: shorter content is sent as it is.
    ///   - level: 1, the fastest, to 9; 1 makes XML and HTML some 9 times smaller.
    public init(thresholdBytes: Int = defaultThresholdBytes, level: Int = 1) {
        self.thresholdBytes = thresholdBytes
        self.level = level
    }

    public func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse {
        encode(try await next.respond(to: request), for: request)
    }

    public func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse? {
        next.respondAtOnce(to: request).map { encode($0, for: request) }
    }

    /// Content in the coding gzip, as short as it gets: for what is coded once and sent often. Nil without memory for it.
    package static func encodeOnce(_ bytes: [UInt8]) -> [UInt8]? {
        GzipStream.encode(bytes, level: 9, windowBits: 15)
    }

    package func encode(_ response: HTTPResponse, for request: HTTPRequest) -> HTTPResponse {
        let isWanted = AcceptEncoding(of: request).choice == .gzip
        // Caches keep what GET brought, so only there they have to be told of what they did not get.
        guard isWanted || request.method == .get || request.method == .head else { return response }
        if response.status == .notModified { return isWanted ? unmodified(response, for: request) : response }
        guard isCodable(response) else { return response }
        var response = response
        response.fields.vary(on: .acceptEncoding)
        guard isWanted else { return response }
        response.body = coded(response.body, isHead: request.method == .head)
        // A handler may have told the length in its answer to HEAD: it is not that of the coded content.
        response.fields.remove(.contentLength)
        response.fields.append(.contentEncoding, "gzip")
        response.fields.weakenEntityTag()
        return response
    }

    /// True where the coding depends on the client alone.
    private func isCodable(_ response: HTTPResponse) -> Bool {
        switch response.body {
        case .empty, .file, .segments: return false
        case .bytes(let bytes): if bytes.count < thresholdBytes { return false }
        case .stream: break
        }
        let fields = response.fields
        if response.status.forbidsContent || response.status == .partialContent { return false }
        if fields.contains(.contentEncoding) || fields.contains(.contentRange) { return false }
        var isCompressible = false
        fields.forEachValue(of: .contentType) { isCompressible = MediaType.isCompressible($0) }
        return isCompressible && !fields.forbidTransformation
    }

    private func coded(_ body: HTTPBody, isHead: Bool) -> HTTPBody {
        switch body {
        case .bytes(let bytes):
            // Nothing of it is sent in answer to HEAD, where the length may be left out (RFC 9110 §9.3.2).
            if !isHead, bytes.count <= GzipStream.shortBytes,
                let short = GzipStream.encode(bytes, level: level)
            {
                return .bytes(short)
            }
            return .stream(GzipStream(of: StoredBytes(bytes), level: level, expectedBytes: bytes.count))
        case .stream(let stream): return .stream(GzipStream(of: stream, level: level))
        case .empty, .file, .segments: return body
        }
    }

    /// A 304 has the fields of the 200 that it stands for (RFC 9110 §15.4.5). A client that has a coded one sends the
    /// weak form of a strong tag, and stored files are never coded: the others hold what was sent as it is.
    private func unmodified(_ response: HTTPResponse, for request: HTTPRequest) -> HTTPResponse {
        guard let tag = response.fields.entityTag, !tag.isWeak,
            let value = request.combinedBytes(of: .ifNoneMatch),
            case .tags(let tags) = EntityTagList.parse(value.span)
        else { return response }
        guard !tags.contains(tag), tags.contains(where: tag.matchesWeakly) else { return response }
        var response = response
        response.fields.vary(on: .acceptEncoding)
        response.fields.weakenEntityTag()
        return response
    }
}

extension HTTPFields {
    fileprivate mutating func weakenEntityTag() {
        guard let tag = entityTag, !tag.isWeak else { return }
        remove(.etag)
        append(.etag, EntityTag(opaque: tag.opaque, isWeak: true).encoded)
    }

    /// RFC 9111 §5.2.2.6.
    fileprivate var forbidTransformation: Bool {
        var isForbidden = false
        forEachValue(of: .cacheControl) { value in
            value.forEachElement { directive in
                if directive.equalsIgnoringCase("no-transform") { isForbidden = true }
            }
        }
        return isForbidden
    }
}
