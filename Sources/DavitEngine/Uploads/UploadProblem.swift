internal import DavitHTTP

/// Why a request about an upload is refused, for programs (RFC 9457; draft §9).
enum UploadProblem {
    /// The content does not begin where the upload ends.
    case mismatchingOffset(expected: Int64, provided: Int64)
    /// All of it has come already.
    case completed
    /// What the client says of the length does not go together.
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
        case .completed: "The upload is complete."
        case .inconsistentLength: "The lengths that were given for the upload do not go together."
        }
    }

    var status: HTTPStatus {
        switch self {
        case .mismatchingOffset: .conflict
        case .completed, .inconsistentLength: .badRequest
        }
    }

    /// As JSON; nothing in it was sent by a client but numbers.
    var encoded: [UInt8] {
        var text = #"{"type":"\#(Self.base)\#(type)","title":"\#(title)""#
        if case .mismatchingOffset(let expected, let provided) = self {
            text += #","expected-offset":\#(expected),"provided-offset":\#(provided)"#
        }
        return Array((text + "}\n").utf8)
    }
}

extension WebDAVError {
    /// - Parameter status: nil for the one that the draft recommends.
    init(_ problem: UploadProblem, _ status: HTTPStatus? = nil) {
        self.init(status ?? problem.status)
        content = (UploadProblem.mediaType, problem.encoded)
        if case .mismatchingOffset(let expected, _) = problem { fields.append(.uploadOffset, expected) }
    }
}
