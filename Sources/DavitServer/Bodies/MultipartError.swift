internal import DavitHTTP

/// The reason why a multipart body was rejected. Offsets are in bytes from the start of the content.
package enum MultipartError: Error, Hashable, Sendable {
    /// A delimiter or part header near this byte is malformed.
    case malformed(offset: Int64)
    /// The content ended before the closing delimiter.
    case truncated(offset: Int64)
    /// A part uses a transfer encoding that would require decoding.
    case transferEncoding(offset: Int64)
    case tooManyParts(limit: Int)
    case headTooLarge(limit: Int)
    /// Too much data follows the closing delimiter.
    case trailingData(offset: Int64)

    var httpError: HTTPError {
        switch self {
        case .malformed(let offset):
            HTTPError(.badRequest, "The form is malformed at byte \(offset).")
        case .truncated(let offset):
            HTTPError(.badRequest, "The form is truncated at byte \(offset).")
        case .transferEncoding(let offset):
            HTTPError(
                .unsupportedMediaType, "Unsupported transfer encoding in the form part at byte \(offset).")
        case .tooManyParts(let limit):
            HTTPError(.contentTooLarge, "The form has more than \(limit) parts.")
        case .trailingData(let offset):
            HTTPError(.badRequest, "Unexpected data after the final boundary at byte \(offset).")
        case .headTooLarge(let limit):
            HTTPError(.contentTooLarge, "The header of a form part exceeds \(limit) bytes.")
        }
    }
}

/// Limits for a multipart form; a form that exceeds one is answered with 413.
public struct MultipartLimits: Sendable {
    /// Maximum number of parts, including those of a nested `multipart/mixed`.
    public var parts = 1000
    /// Maximum bytes in the header of one part.
    public var partHeadBytes = 8 << 10
    /// Maximum total bytes of all parts that are not files; they are kept in memory.
    public var fieldBytes = 1 << 20
    /// Maximum number of files; each may need a file descriptor.
    public var files = 100
    /// Maximum total bytes of all files.
    public var fileBytes: Int64 = 4 << 30
    /// Maximum bytes after the closing delimiter; longer data is answered with 400.
    static let trailerBytes = 64 << 10

    /// Creates the default limits.
    public init() {}

    /// Upper bound for the length of a form within the limits, including delimiters, preamble and epilogue.
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
