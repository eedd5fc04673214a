internal import DavitXML

/// A response for checks and comparisons: decoded, and parsed as XML if possible.
struct ResponseView {
    /// Longer content is compared by length and digest.
    static let bodyLimitBytes = 64 * 1024 * 1024

    let status: Int
    let fields: [WireField]
    let interim: [Int]
    /// The content without its codings; nil if it is too long to be kept, or cannot be decoded.
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

    init(_ answer: WireResponse) {
        self.init(
            status: answer.status, fields: answer.fields, interim: answer.interim, content: answer.content)
    }

    var multistatus: Multistatus? { document.flatMap { Multistatus($0) } }

    /// The active locks in the body of a response to LOCK; nil if its root element is not `prop`.
    var activeLocks: [ActiveLockView]? { document.flatMap { ActiveLockView.all(inAnswer: $0) } }

    var isWellFormed: Bool { document != nil }

    var root: XMLElement? { document?.root }
}
