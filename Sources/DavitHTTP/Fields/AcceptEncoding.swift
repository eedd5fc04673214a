/// Which codings of a response a client wants (RFC 9110 §12.5.3).
public struct AcceptEncoding: Hashable, Sendable {
    /// Nil where not named.
    private var gzip: Weight?
    private var identity: Weight?
    /// What `*` has, for codings that are not named.
    private var others: Weight?

    /// Of a request without the field, or with an empty one.
    public init() {}

    /// All lines of the field as one list. No allocation.
    public init(of request: HTTPRequest) {
        request.forEachElement(of: .acceptEncoding) { add($0) }
    }

    /// The coding in which a response is sent: gzip or identity.
    ///
    /// gzip is sent to clients that name it, unless they want identity more. `*` does not name it: who sends that may
    /// not know what it stands for, so that gzip has to be wanted more than identity then. Without the field any coding
    /// is allowed, but a client that can decode one says so.
    ///
    /// Where both are refused the answer is identity, not 406: the RFC allows it since its edition of 2014, other
    /// servers do so, and content that was asked for serves better than a refusal that nobody can act on.
    public var choice: ContentCoding {
        let identity = identity ?? others
        if let gzip { return gzip > .zero && gzip >= identity ?? .zero ? .gzip : .identity }
        guard let others, let identity else { return .identity }
        return others > identity ? .gzip : .identity
    }

    /// Adds `codings [ ";" "q=" qvalue ]`; anything else is ignored. Of two for one coding the lower counts: a refusal is
    /// meant.
    private mutating func add(_ element: borrowing Span<UInt8>) {
        let end = element.firstIndex(of: UInt8(ascii: ";")) ?? element.count
        let name = element.extracting(0..<end)
        let token = name.extracting(name.trimmedRange)
        guard let weight = Self.weight(element.extracting(end..<element.count)) else { return }
        if token.equalsIgnoringCase("*") {
            others = min(others ?? weight, weight)
            return
        }
        switch ContentCoding(parsing: token) {
        case .gzip: gzip = min(gzip ?? weight, weight)
        case .identity: identity = min(identity ?? weight, weight)
        case .deflate, nil: break
        }
    }

    /// The weight behind a coding, with its semicolon; nil if it is malformed.
    private static func weight(_ rest: borrowing Span<UInt8>) -> Weight? {
        if rest.isEmpty { return .full }
        let parameter = rest.extracting(1..<rest.count)
        let trimmed = parameter.extracting(parameter.trimmedRange)
        guard trimmed.startsIgnoringCase(with: "q=") else { return nil }
        return Weight(parsing: trimmed.extracting(2..<trimmed.count))
    }
}
