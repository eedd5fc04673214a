internal import DavitHTTP

/// Why a multipart is refused. Offsets are in bytes from the start of the content.
package enum MultipartError: Error, Hashable, Sendable {
    /// A delimiter or the head of a part is broken near this byte.
    case malformed(offset: Int64)
    /// The content ended before the last delimiter.
    case truncated(offset: Int64)
    /// A part has an encoding that would have to be undone.
    case transferEncoding(offset: Int64)
    case tooManyParts(limit: Int)
    case headTooLarge(limit: Int)
    /// Something long follows the last delimiter.
    case trailingData(offset: Int64)

    var httpError: HTTPError {
        switch self {
        case .malformed(let offset):
            HTTPError(.badRequest, "The form is malformed at byte \(offset).")
        case .truncated(let offset):
            HTTPError(.badRequest, "The form ends too early, at byte \(offset).")
        case .transferEncoding(let offset):
            HTTPError(
                .unsupportedMediaType, "The part of the form at byte \(offset) has a transfer encoding.")
        case .tooManyParts(let limit):
            HTTPError(.contentTooLarge, "The form has more than \(limit) parts.")
        case .trailingData(let offset):
            HTTPError(.badRequest, "More than a form ends with follows it at byte \(offset).")
        case .headTooLarge(let limit):
            HTTPError(.contentTooLarge, "A part of the form has a head longer than \(limit) bytes.")
        }
    }
}

/// How much a form may have; over each of these it is answered 413.
public struct MultipartLimits: Sendable {
    /// Most parts of a form, those of nested `multipart/mixed` included; over it 413.
    public var parts = 1000
    /// Bytes of the head of one part.
    public var partHeadBytes = 8 << 10
    /// Bytes of all parts together that are not files; they are kept in memory.
    public var fieldBytes = 1 << 20
    /// Parts that are files; each may need a descriptor.
    public var files = 100
    /// Bytes of all files together.
    public var fileBytes: Int64 = 4 << 30
    /// What may follow the form, in bytes.
    static let trailerBytes = 64 << 10

    /// The default limits.
    public init() {}

    /// No form within the limits is longer, delimiters and what may be around the form included.
    var contentBytes: Int64 {
        let perPart = Int64(partHeadBytes + 128)
        let (heads, overflow) = perPart.multipliedReportingOverflow(by: Int64(parts) + 1)
        let sizes = [overflow ? .max : heads, Int64(fieldBytes), fileBytes, Int64(Self.trailerBytes) * 2]
        return sizes.reduce(0) { sum, size in
            let (total, overflow) = sum.addingReportingOverflow(size)
            return overflow ? .max : total
        }
    }
}
