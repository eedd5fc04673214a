internal import DavitFaults
internal import DavitHTTP
internal import Synchronization

/// The path of a rule. Paths are compared decoded, including their trailing slash.
///
/// - `/login` matches this path only.
/// - `/things/{id}`: a segment in braces matches any segment, whose value is the parameter `id`.
/// - `/files/**` and `/a/*.txt`: `*` matches any characters within a segment, `**` also slashes. A pattern that
///   ends in `/**` also matches the path before it.
/// - `~^/v[0-9]+/`: a regular expression after `~`, which matches anywhere in the path.
struct StubPath: Sendable {
    enum Segment: Hashable, Sendable {
        case text([UInt8])
        case parameter(String)
    }

    enum Kind: Sendable {
        /// Segments; the last is empty if the path ends in a slash.
        case segments([Segment])
        /// A pattern below the segments before its first wildcard.
        case glob(below: [[UInt8]], PathGlob)
        case regex(TextPattern)
    }

    let kind: Kind

    init(_ text: String) throws(RuleError) {
        guard text.utf8.count <= 4096 else { throw Self.error("a path has at most 4,096 bytes") }
        if text.utf8.first == UInt8(ascii: "~") {
            guard let pattern = TextPattern(String(text.dropFirst())) else {
                throw Self.error("invalid regular expression")
            }
            kind = .regex(pattern)
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw Self.error("a path begins with a slash, a regular expression with ~")
        }
        let parts = text.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map { Array($0) }
        if text.utf8.contains(UInt8(ascii: "*")) {
            guard !text.contains("{"), let glob = PathGlob(text) else {
                throw Self.error("a path cannot have both wildcards and parameters")
            }
            let literal = parts.prefix { !$0.contains(UInt8(ascii: "*")) }
            kind = .glob(below: Array(literal), glob)
            return
        }
        var segments: [Segment] = []
        var names: Set<String> = []
        for (index, part) in parts.enumerated() {
            guard !part.isEmpty || index == parts.count - 1 else { throw Self.error("a segment is empty") }
            guard part != Array(".".utf8), part != Array("..".utf8) else {
                throw Self.error("no request has a path with . or ..")
            }
            let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
            guard part.contains(open) || part.contains(close) else {
                segments.append(.text(part))
                continue
            }
            let name = String(decoding: part.dropFirst().dropLast(), as: UTF8.self)
            guard part.first == open, part.last == close, !name.isEmpty,
                name.utf8.allSatisfy({ $0.isUnreserved && $0 != UInt8(ascii: ".") })
            else {
                throw Self.error(
                    "a parameter is a complete segment such as {id}, with letters, digits, -, _ and ~")
            }
            guard names.insert(name).inserted else { throw Self.error("there are two parameters {\(name)}") }
            segments.append(.parameter(name))
        }
        kind = .segments(segments)
    }

    private static func error(_ problem: String) -> RuleError { RuleError(column: "path", problem) }

    /// Returns the parameters of a path with these segments, which the rule matches.
    func parameters(in found: [ArraySlice<UInt8>]) -> [ReceivedRequest.Item] {
        guard case .segments(let segments) = kind else { return [] }
        return zip(segments, found).compactMap { segment, value in
            guard case .parameter(let name) = segment else { return nil }
            return ReceivedRequest.Item(name: name, value: String(decoding: value, as: UTF8.self))
        }
    }
}
