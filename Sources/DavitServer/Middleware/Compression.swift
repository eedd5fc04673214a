public import DavitHTTP
internal import DavitZlib

/// Compresses generated content with gzip for clients that accept it (RFC 9110 §8.4.1.3, §12.5.3).
///
/// Applies to generated content of a compressible type: byte arrays that reach a threshold, and streams. The
/// following are not compressed: stored files, whose bytes and length WebDAV clients rely on; partial
/// content; content that already has a coding; and content marked `Cache-Control: no-transform`. Live streams
/// are flushed after each piece.
///
/// If the coding depends on the client, the response has `Vary: Accept-Encoding`. A response to GET or HEAD
/// has it even if it is not compressed. A strong entity tag becomes weak, because the compressed and
/// uncompressed bytes must not share a strong tag (RFC 9110 §8.8.3.3). The weak tag still matches in
/// If-None-Match in either form; If-Match requires a strong match and fails.
///
/// Do not use this middleware for pages that contain both a secret and data from the request, because the
/// compressed length then reveals information about the secret (BREACH).
public struct Compression: Middleware {
    /// The default length in bytes from which content is compressed. Shorter content fits into one packet, so
    /// compressing it gains nothing.
    public static let defaultThresholdBytes = 1024

    private let thresholdBytes: Int
    private let level: Int

    /// - Parameters:
    ///   - thresholdBytes: shorter content is not compressed.
    ///   - level: 1, the fastest, to 9; level 1 reduces XML and HTML to about one ninth.
    public init(thresholdBytes: Int = defaultThresholdBytes, level: Int = 1) {
        self.thresholdBytes = thresholdBytes
        self.level = level
    }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        // `map` would allocate a closure even for responses that are ready.
        let reply = try next.respond(to: request)
        switch reply {
        case .ready(let response):
            // Most replies are passed on unchanged, which is cheaper than creating them again.
            return mayChange(response) ? .ready(changed(response, for: request)) : reply
        case .pending(let work):
            guard mayEncode(request) else { return .pending(work) }
            return .pending { () async throws(HTTPError) in encode(try await work(), for: request) }
        }
    }

    /// Returns `bytes` compressed with gzip at the highest level, for content that is compressed once and
    /// sent often. Nil if out of memory.
    package static func encodeOnce(_ bytes: [UInt8]) -> [UInt8]? {
        GzipStream.encode(bytes, level: 9, windowBits: 15)
    }

    package func encode(_ response: HTTPResponse, for request: HTTPRequest) -> HTTPResponse {
        // The response first: inspecting it is cheaper than parsing Accept-Encoding.
        mayChange(response) ? changed(response, for: request) : response
    }

    /// - Parameter response: one that ``mayChange(_:)`` accepts.
    private func changed(_ response: HTTPResponse, for request: HTTPRequest) -> HTTPResponse {
        if response.status == .notModified {
            return isWanted(by: request) ? unmodified(response, for: request) : response
        }
        guard mayEncode(request) else { return response }
        let isWanted = isWanted(by: request)
        var response = response
        response.fields.vary(on: .acceptEncoding)
        guard isWanted else { return response }
        response.body = coded(response.body, isHead: request.method == .head)
        // A handler may have set the length for HEAD; it is not that of the compressed content.
        response.fields.remove(.contentLength)
        response.fields.append(.contentEncoding, "gzip")
        response.fields.weakenEntityTag()
        return response
    }

    /// Whether ``encode(_:for:)`` may change this response.
    private func mayChange(_ response: borrowing HTTPResponse) -> Bool {
        response.status == .notModified || isCodable(response)
    }

    /// Whether ``encode(_:for:)`` may change the response to this request. Responses are compressed if the
    /// client accepts gzip. Responses to GET and HEAD have Vary even if they are not compressed, because
    /// caches store them.
    private func mayEncode(_ request: HTTPRequest) -> Bool {
        request.method == .get || request.method == .head || isWanted(by: request)
    }

    private func isWanted(by request: HTTPRequest) -> Bool { AcceptEncoding(of: request).choice == .gzip }

    /// Whether the response may be compressed for a client that accepts it.
    private func isCodable(_ response: HTTPResponse) -> Bool {
        switch response.body {
        case .empty, .file, .segments, .shaped: return false
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
            // HEAD sends no content and may omit the length (RFC 9110 §9.3.2).
            if !isHead, bytes.count <= GzipStream.shortBytes,
                let short = GzipStream.encode(bytes, level: level)
            {
                return .bytes(short)
            }
            return .stream(GzipStream(of: StoredBytes(bytes), level: level, expectedBytes: bytes.count))
        case .stream(let stream): return .stream(GzipStream(of: stream, level: level))
        case .empty, .file, .segments, .shaped: return body
        }
    }

    /// Returns a 304 response with the fields of the corresponding 200 response (RFC 9110 §15.4.5). If the
    /// client sent only the weak form of a strong tag, it has a compressed response, so the tag becomes weak.
    /// If the client sent the strong tag, it has the uncompressed bytes, so the tag remains strong.
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

    /// Whether Cache-Control contains `no-transform` (RFC 9111 §5.2.2.6).
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
