internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// The part of a resource's content that a request replaces or appends.
struct ContentPart: Sendable {
    private enum Start: Sendable {
        /// Offset from the start of the content, in bytes.
        case at(Int64)
        /// Number of bytes before the end of the content.
        case fromEnd(Int64)
        case end
    }

    /// The media type of a PATCH whose range is in `X-Update-Range`.
    static let patchType: StaticString = "application/x-sabredav-partialupdate"

    private let start: Start
    /// Length of the part in bytes; nil if the request does not specify it.
    private let length: Int64?
    /// Length in bytes of the complete content; nil if the client does not specify it.
    let total: Int64?
    /// Whether a part may begin after the end of the content, which fills the gap with zeros.
    private let allowsGap: Bool
    /// The status if the length of the body differs from the announced length of the part.
    private let mismatch: HTTPStatus

    /// Parses the `Content-Range` field of a PUT (RFC 9110 §14.5).
    /// - Throws: 400 if the field is malformed or does not specify exactly one byte range.
    init(ofPut request: HTTPRequest) throws(WebDAVError) {
        guard request.count(of: .contentRange) == 1,
            let field = request.withValue(of: .contentRange, { ContentRange(parsing: $0) }) ?? nil
        else { throw WebDAVError(.badRequest) }
        start = .at(field.range.offset)
        length = field.range.length
        total = field.total
        // A client that resumes an upload assumes that the preceding bytes are stored; a gap of zeros would
        // hide that they are missing.
        allowsGap = false
        mismatch = .badRequest
    }

    /// Parses the `X-Update-Range` field of a PATCH.
    /// - Throws: 415 for a media type other than ``patchType``; 411 if the request has neither Content-Length nor
    ///   Transfer-Encoding; 400 if the field is missing or malformed; 416 if its range is backwards.
    init(ofPatch request: HTTPRequest) throws(WebDAVError) {
        guard request.contentType?.essence == Self.patchType.description else { throw .unsupportedPatch }
        guard request.contains(.contentLength) || request.contains(.transferEncoding) else {
            throw WebDAVError(.lengthRequired)
        }
        guard let field = request.string(named: "X-Update-Range") else { throw WebDAVError(.badRequest) }
        do throws(UpdateRange.ParseError) {
            switch try UpdateRange.parse(Array(field.utf8).span) {
            case .from(let first, let count):
                start = .at(first)
                length = count
            case .fromEnd(let count):
                start = .fromEnd(count)
                length = nil
            case .append:
                start = .end
                length = nil
            }
        } catch {
            throw WebDAVError(error == .backwards ? .rangeNotSatisfiable : .badRequest)
        }
        total = nil
        allowsGap = true
        mismatch = .rangeNotSatisfiable
    }

    /// Checks that the received content has the announced length, if any.
    /// - Throws: 400 for PUT, 416 for PATCH.
    func check(contentLength: Int64) throws(WebDAVError) {
        if let length, length != contentLength { throw WebDAVError(mismatch) }
    }

    /// Returns the offset of the part in content that is `current` bytes long.
    ///
    /// - Throws: 416 with the current length if the part would begin before the content or, for PUT, after its end; 400
    ///   if the content is already longer than the complete length that the client specified.
    func offset(in current: Int64) throws(WebDAVError) -> Int64 {
        if let total, total < current { throw WebDAVError(.badRequest) }
        let offset: Int64
        switch start {
        case .at(let first): offset = first
        case .fromEnd(let count): offset = current - count
        case .end: offset = current
        }
        guard offset >= 0, allowsGap || offset <= current else { throw .unsatisfiableRange(of: current) }
        return offset
    }
}

extension WebDAVError {
    /// 415 with the supported patch format in `Accept-Patch` (RFC 5789 §2.2).
    static let unsupportedPatch: WebDAVError = {
        var error = WebDAVError(.unsupportedMediaType)
        error.fields.append(named: "Accept-Patch", ContentPart.patchType.description)
        return error
    }()

    /// 416 with the current length, from which the client can resume (RFC 9110 §15.5.17).
    static func unsatisfiableRange(of length: Int64) -> WebDAVError {
        var error = WebDAVError(.rangeNotSatisfiable)
        error.fields.append(.contentRange, ByteRanges.unsatisfiedContentRange(of: length))
        return error
    }
}
