internal import DavitXML

/// An answer as checks and comparisons look at it: decoded, and read as XML where it is.
struct AnswerView {
    /// Longer content is compared by its length and its digest.
    static let bodyLimitBytes = 64 * 1024 * 1024

    let status: Int
    let fields: [WireField]
    let interim: [Int]
    /// Without its codings; nil where it is too long to be there, or not what it says.
    let body: [UInt8]?
    let content: RecordedContent
    private let document: XMLDocument?

    init(status: Int, fields: [WireField], interim: [Int] = [], content: RecordedContent) {
        self.status = status
        self.fields = fields
        self.interim = interim
        self.content = content
        switch content {
        case .bytes(let bytes): body = CodedContent.decoded(bytes, codings: fields["Content-Encoding"])
        case .fill(let byte, let count):
            body = count <= Self.bodyLimitBytes ? [UInt8](repeating: byte, count: count) : nil
        case .omitted: body = nil
        }
        let type = fields["Content-Type"]?.lowercased() ?? ""
        let isXML = status == 207 || type.hasPrefix("application/xml") || type.hasPrefix("text/xml")
        document = isXML ? body.flatMap { Multistatus.document($0) } : nil
    }

    init(_ answer: WireAnswer) {
        self.init(
            status: answer.status, fields: answer.fields, interim: answer.interim, content: answer.content)
    }

    var multistatus: Multistatus? { document.flatMap { Multistatus($0) } }

    /// Nil where the body is no answer to LOCK.
    var activeLocks: [ActiveLockView]? { document.flatMap { ActiveLockView.all(inAnswer: $0) } }

    var isWellFormed: Bool { document != nil }

    var root: XMLElement? { document?.root }
}
