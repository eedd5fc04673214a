internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Which part of the content of a resource a request replaces, or adds.
struct ContentPart: Sendable {
    private enum Start: Sendable {
        /// Counted from 0.
        case at(Int64)
        /// Bytes before the end.
        case fromEnd(Int64)
        case end
    }

    /// The media type of a PATCH that says so in `X-Update-Range`.
    static let patchType: StaticString = "application/x-sabredav-partialupdate"

    private let start: Start
    /// Bytes that the part has; nil for as many as come.
    private let length: Int64?
    /// Bytes of the whole when all of its parts are there; nil if the client does not say.
    private let total: Int64?
    /// Whether a part may lie behind the end; what is between then reads as zeros.
    private let allowsGap: Bool
    /// What is answered if the part does not have the length that was announced.
    private let mismatch: HTTPStatus

    /// What the `Content-Range` of a PUT says (RFC 9110 §14.5).
    /// - Throws: 400 for a field that is malformed, or not about one range of bytes.
    init(ofPut request: HTTPRequest) throws(WebDAVError) {
        guard request.count(of: .contentRange) == 1,
            let field = request.withValue(of: .contentRange, { ContentRange(parsing: $0) }) ?? nil
        else { throw WebDAVError(.badRequest) }
        start = .at(field.range.offset)
        length = field.range.length
        total = field.total
        // Who goes on with an upload believes the bytes before to be there: zeros would pass for them.
        allowsGap = false
        mismatch = .badRequest
    }

    /// What the `X-Update-Range` of a PATCH says.
    /// - Throws: 415 for another kind of patch, 411 for none at all, 400 and 416 for the field.
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

    /// Refuses content of another length than was announced.
    func check(contentLength: Int64) throws(WebDAVError) {
        if let length, length != contentLength { throw WebDAVError(mismatch) }
    }

    /// Where the part begins in content that is so long now.
    ///
    /// - Throws: 416 with the length if there is no such place, 400 if the content is longer already than the client says
    ///   that all of it is.
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
    /// 415 that says what is understood (RFC 5789 §2.2).
    static let unsupportedPatch: WebDAVError = {
        var error = WebDAVError(.unsupportedMediaType)
        error.fields.append(named: "Accept-Patch", ContentPart.patchType.description)
        return error
    }()

    /// 416 with the length there is, so that the client can go on from there (RFC 9110 §15.5.17).
    static func unsatisfiableRange(of length: Int64) -> WebDAVError {
        var error = WebDAVError(.rangeNotSatisfiable)
        error.fields.append(.contentRange, ByteRanges.unsatisfiedContentRange(of: length))
        return error
    }
}
