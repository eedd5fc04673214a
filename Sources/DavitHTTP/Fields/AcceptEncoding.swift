/// The content codings that a client accepts in a response (RFC 9110 §12.5.3).
public struct AcceptEncoding: Hashable, Sendable {
    /// The weights of the two supported codings; nil if not listed.
    private var gzip: Weight?
    private var identity: Weight?
    /// The weight of `*`, which applies to codings not listed.
    private var others: Weight?

    /// Creates the value for a request with a missing or empty field.
    public init() {}

    /// Parses all lines of the field as one list. Does not allocate.
    public init(of request: HTTPRequest) {
        request.forEachElement(of: .acceptEncoding) { add($0) }
    }

    /// The coding in which a response is sent: gzip or identity.
    ///
    /// gzip is used for clients that list it, unless they refuse it or prefer identity. For clients that list
    /// `*` but not gzip, gzip is used only if identity has a lower weight, because clients that send `*` may
    /// not support every coding. Without the field, any coding is allowed, but identity is used, because
    /// clients that support gzip normally list it.
    ///
    /// If both are refused, the result is identity instead of a 406 response. HTTP has allowed this since
    /// RFC 7231, other servers do the same, and clients cannot usefully react to 406.
    public var choice: ContentCoding {
        let identity = identity ?? others
        if let gzip { return gzip > .zero && gzip >= identity ?? .zero ? .gzip : .identity }
        guard let others, let identity else { return .identity }
        return others > identity ? .gzip : .identity
    }

    /// Adds `codings [ ";" "q=" qvalue ]`; malformed elements are ignored. If a coding is listed twice, the
    /// lower weight applies, so that a refusal always takes effect.
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

    /// Parses the weight after a coding, including its semicolon: 1 if it is missing, nil if it is malformed.
    private static func weight(_ rest: borrowing Span<UInt8>) -> Weight? {
        if rest.isEmpty { return .full }
        let parameter = rest.extracting(1..<rest.count)
        let trimmed = parameter.extracting(parameter.trimmedRange)
        guard trimmed.startsIgnoringCase(with: "q=") else { return nil }
        return Weight(parsing: trimmed.extracting(2..<trimmed.count))
    }
}
