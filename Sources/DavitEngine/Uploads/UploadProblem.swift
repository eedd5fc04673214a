internal import DavitHTTP

/// The reason why a request for an upload is refused, in machine-readable form (RFC 9457; draft §9).
enum UploadProblem {
    /// The content does not begin at the end of the upload.
    case mismatchingOffset(expected: Int64, provided: Int64)
    /// The upload is already complete.
    case completed
    /// The lengths specified by the client are inconsistent.
    case inconsistentLength

    static let mediaType: StaticString = "application/problem+json"
    private static let base = "https://iana.org/assignments/http-problem-types#"

    private var type: String {
        switch self {
        case .mismatchingOffset: "mismatching-upload-offset"
        case .completed: "completed-upload"
        case .inconsistentLength: "inconsistent-upload-length"
        }
    }

    private var title: String {
        switch self {
        case .mismatchingOffset: "The content does not begin at the offset of the upload."
        case .completed: "The upload is already complete."
        case .inconsistentLength: "The lengths specified for the upload are inconsistent."
        }
    }

    var status: HTTPStatus {
        switch self {
        case .mismatchingOffset: .conflict
        case .completed, .inconsistentLength: .badRequest
        }
    }

    /// Encodes the problem as JSON. Numbers are the only part that comes from the client.
    var encoded: [UInt8] {
        var text = #"{"type":"\#(Self.base)\#(type)","title":"\#(title)""#
        if case .mismatchingOffset(let expected, let provided) = self {
            text += #","expected-offset":\#(expected),"provided-offset":\#(provided)"#
        }
        return Array((text + "}\n").utf8)
    }
}

extension WebDAVError {
    /// - Parameter status: The status; nil for the one recommended by the draft.
    init(_ problem: UploadProblem, _ status: HTTPStatus? = nil) {
        self.init(status ?? problem.status)
        content = (UploadProblem.mediaType, problem.encoded)
        if case .mismatchingOffset(let expected, _) = problem { fields.append(.uploadOffset, expected) }
    }
}
