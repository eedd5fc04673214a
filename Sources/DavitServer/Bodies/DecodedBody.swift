public import DavitHTTP
internal import DavitZlib

extension HTTPRequest {
    /// Returns the content with its gzip or deflate coding removed, or ``body`` itself if the content has no
    /// coding.
    ///
    /// The limit applies to both the encoded and the decoded content. Read only one of the two bodies; the
    /// connection handles anything left unread.
    /// - Throws: 415 for other codings and for more than one (RFC 9110 §8.4); 413 if Content-Length exceeds
    ///   the limit. Reading encoded content throws 413 if the content exceeds the limit, or if more than 1
    ///   MiB is decoded and that is more than 200 times the encoded length; and 400 if the encoded content is
    ///   malformed, truncated or followed by other data. The caller must enforce the limit for other content
    ///   without a Content-Length.
    public func decodedBody(limitBytes: Int64) throws(HTTPError) -> any RequestBody {
        let coding: ContentCoding
        do throws(ContentCoding.Unsupported) { coding = try contentCoding() } catch {
            throw HTTPError(.unsupportedMediaType, "Unsupported content coding.")
        }
        if let length = body.declaredLength, length > limitBytes { throw .tooLarge(limitBytes) }
        guard body.isPresent else { return body }
        switch coding {
        case .identity: return body
        case .gzip: return try DecodedBody(body, .gzip, limitBytes: limitBytes)
        case .deflate: return try DecodedBody(body, .deflate, limitBytes: limitBytes)
        }
    }
}

/// Content that is decoded while it is read; encoded content is fetched only as needed.
private final class DecodedBody: RequestBody {
    private let coded: any RequestBody
    private let limitBytes: Int64
    private var inflater: Inflater
    private let input = IOBuffer(capacity: 16 << 10)
    /// Offset of the first byte of `input` that has not been decoded.
    private var offset = 0
    private var codedBytes: Int64 = 0
    /// Whether the inflater may hold more output that did not fit into the buffer.
    private var hasMore = false

    init(_ coded: any RequestBody, _ format: Inflater.Format, limitBytes: Int64) throws(HTTPError) {
        self.coded = coded
        self.limitBytes = limitBytes
        do throws(OutOfMemory) {
            inflater = try Inflater(format, limit: ExpansionLimit(bytes: limitBytes))
        } catch {
            throw .noMemory
        }
    }

    var isPresent: Bool { true }
    var declaredLength: Int64? { nil }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        if buffer.freeCount == 0 { return 0 }
        while true {
            if offset == input.count, !hasMore {
                guard try await fetch() else {
                    try checkEnd()
                    return 0
                }
            }
            let count = try expand(into: buffer)
            if count > 0 { return count }
        }
    }

    /// Fetches encoded content.
    /// - Returns: false at the end of the content.
    private func fetch() async throws(HTTPError) -> Bool {
        input.removeAll()
        offset = 0
        let count = try await coded.read(into: input)
        codedBytes += Int64(count)
        // Content that decodes to nothing, such as empty gzip members, could otherwise continue forever.
        if codedBytes > limitBytes { throw .tooLarge(limitBytes) }
        return count > 0
    }

    private func expand(into buffer: IOBuffer) throws(HTTPError) -> Int {
        do throws(InflateError) {
            return try unsafe input.withBytes { bytes throws(InflateError) in
                try unsafe buffer.fill { room throws(InflateError) in
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
                    let progress = try unsafe inflater.transform(rest, into: room)
                    offset += progress.consumed
                    hasMore = progress.produced == room.count
                    return progress.produced
                }
            }
        } catch {
            throw Self.refusal(error)
        }
    }

    private func checkEnd() throws(HTTPError) {
        // Chunked content can turn out to be empty, and empty content has no coding.
        if codedBytes == 0 { return }
        do throws(InflateError) { try inflater.finish() } catch { throw Self.refusal(error) }
    }

    private static func refusal(_ error: InflateError) -> HTTPError {
        switch error {
        case .malformed(let offset):
            HTTPError(.badRequest, "The encoded content is malformed at byte \(offset).")
        case .truncated(let offset):
            HTTPError(.badRequest, "The encoded content is truncated at byte \(offset).")
        case .trailingData(let offset):
            HTTPError(.badRequest, "Unexpected data after the encoded content at byte \(offset).")
        case .tooLong(let limitBytes): .tooLarge(limitBytes)
        case .expandsTooMuch(let ratio):
            HTTPError(
                .contentTooLarge, "The content decodes to more than \(ratio) times its length.")
        case .outOfMemory: .noMemory
        }
    }
}

extension HTTPError {
    fileprivate static var noMemory: HTTPError {
        HTTPError(.serviceUnavailable, "Not enough memory to decode the content.")
    }
}
