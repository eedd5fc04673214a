/// What a document may cost. A document over a limit is refused as a whole: status 400, 413 for ``bytes``.
public struct XMLLimits: Hashable, Sendable {
    /// Bytes of the document as it was sent; at most 2 GiB. Callers stop reading there; ``XMLDocument`` checks
    /// it once more.
    public var bytes = 1 << 20
    /// Elements inside each other, the root included; at most 255, which is libxml2's own limit.
    public var depth = 64
    /// Attributes and namespace declarations of one element. libxml2 compares each with all others.
    public var attributes = 64
    /// Namespace declarations in scope at one place. libxml2 searches them for each name.
    public var declarations = 256
    /// Elements, attributes, declarations, comments, processing instructions and CDATA sections together.
    public var nodes = 50_000
    /// Bytes of a local name, a prefix or a namespace name.
    public var nameBytes = 1024

    public init() {}

    /// Which limit was exceeded.
    public enum Kind: Hashable, Sendable { case bytes, depth, attributes, declarations, nodes, nameBytes }
}
