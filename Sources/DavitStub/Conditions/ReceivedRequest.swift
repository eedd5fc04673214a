internal import DavitHTTP

/// A request as far as conditions and templates see it.
struct ReceivedRequest: Sendable {
    /// A name and a value, in the order in which they were sent.
    struct Item: Hashable, Sendable {
        var name: String
        var value: String
    }

    var method: HTTPMethod
    /// The decoded path, with its leading slash.
    var path: String
    /// The parameters of the path of the rule.
    var parameters: [Item] = []
    var query: [Item] = []
    var fields: [Item] = []
    /// The content; nil before it has been received.
    var content: ReceivedContent?

    /// The value of a field; the values of repeated fields are joined into one list (RFC 9110 §5.3).
    func field(_ name: String) -> String? {
        let name = name.lowercased()
        let values = fields.filter { $0.name.lowercased() == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// The content of a request. Long content is not kept completely.
struct ReceivedContent: Sendable {
    /// The maximum length of content that is kept completely, in bytes.
    static let keptBytes = 4 << 20

    /// The type and subtype in lower case; empty if `Content-Type` is missing or malformed.
    var type = ""
    /// The boundary of multipart content; nil for other content.
    var boundary: String?
    var length: Int64 = 0
    /// The content, or its first ``keptBytes`` bytes.
    var bytes: [UInt8] = []
    /// The SHA-256 of the content; nil if no condition needs it.
    var sha256: [UInt8]?
    /// What is wrong with the digests in the fields: nil if nothing is, or if no condition needs it.
    var digestProblem: String?
    /// Whether the fields contain a digest that was compared with the content.
    var hasDigest = false

    var isComplete: Bool { Int64(bytes.count) == length }
}
