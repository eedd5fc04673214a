public import DavitHTTP
internal import DavitZlib

extension HTTPRequest {
    /// The content without its coding, gzip or deflate: ``body`` itself where it has none.
    ///
    /// The limit holds for the content as sent and for what comes out of it. Only one of the two is to be read, and
    /// what is left when the end comes belongs to the connection.
    /// - Throws: 415 for other codings, and for more than one (RFC 9110 §8.4); 413 if Content-Length is over the limit.
    ///   Reading throws 413, which names the limit, if the content becomes longer, or more than 200 times as long as it
    ///   was sent; and 400 for content that is not in its coding, that is cut, or that is followed by something.
    public func decodedBody(limitBytes: Int64) throws(HTTPError) -> any RequestBody {
        let coding: ContentCoding
        do throws(ContentCoding.Unsupported) { coding = try contentCoding() } catch {
            throw HTTPError(.unsupportedMediaType, "The content has a coding that this server does not read.")
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

/// Content that is expanded while it is read: no more of it is fetched than the reader asks for.
private final class DecodedBody: RequestBody {
    private let coded: any RequestBody
    private let limitBytes: Int64
    private var inflater: Inflater
    private let input = IOBuffer(capacity: 16 << 10)
    /// Where the bytes of `input` begin that are not expanded yet.
    private var offset = 0
    private var codedBytes: Int64 = 0
    /// The inflater holds more, for which there was no room.
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

    /// - Returns: false at the end of the content.
    private func fetch() async throws(HTTPError) -> Bool {
        input.removeAll()
        offset = 0
        let count = try await coded.read(into: input)
        codedBytes += Int64(count)
        // What becomes nothing, like empty members, could go on for ever.
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
        // Chunked content can turn out to be none, and no content has no coding.
        if codedBytes == 0 { return }
        do throws(InflateError) { try inflater.finish() } catch { throw Self.refusal(error) }
    }

    private static func refusal(_ error: InflateError) -> HTTPError {
        switch error {
        case .malformed(let offset):
            HTTPError(.badRequest, "The content is not in its coding, as byte \(offset) of it shows.")
        case .truncated(let offset):
            HTTPError(.badRequest, "The coding of the content is not at its end at byte \(offset).")
        case .trailingData(let offset):
            HTTPError(.badRequest, "Something follows the coded content at byte \(offset).")
        case .tooLong(let limitBytes): .tooLarge(limitBytes)
        case .expandsTooMuch(let ratio):
            HTTPError(
                .contentTooLarge, "The content becomes more than \(ratio) times as long as it was sent.")
        case .outOfMemory: .noMemory
        }
    }
}

extension HTTPError {
    fileprivate static var noMemory: HTTPError {
        HTTPError(.serviceUnavailable, "There is no memory to decode the content.")
    }
}
