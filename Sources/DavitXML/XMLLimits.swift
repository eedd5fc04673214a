/// Limits on the resources that a document may use. A document that exceeds one of them is refused with 400.
public struct XMLLimits: Hashable, Sendable {
    /// Size of the document in bytes, as sent; at most 2 GiB. Callers should stop reading at this limit,
    /// and refuse longer content with 413; ``XMLDocument`` checks it again.
    public var bytes = 1 << 20
    /// Nesting depth of elements, including the root; at most 255, the limit of libxml2 itself.
    public var depth = 64
    /// Attributes and namespace declarations of one element. libxml2 compares each with all others.
    public var attributes = 64
    /// Namespace declarations in scope at any position. libxml2 searches them for each name.
    public var declarations = 256
    /// Total number of elements, attributes, declarations, comments, processing instructions and CDATA
    /// sections.
    public var nodes = 50_000
    /// Length of a local name, a prefix or a namespace name in bytes.
    public var nameBytes = 1024

    public init() {}

    /// The limit that was exceeded.
    public enum Kind: Hashable, Sendable { case bytes, depth, attributes, declarations, nodes, nameBytes }
}
