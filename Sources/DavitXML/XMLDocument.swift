internal import CXML2
public import DavitHTTP

/// A parsed document. Owns libxml2's tree, which each ``XMLElement`` keeps alive.
///
/// Used by one task at a time.
@safe public final class XMLDocument {
    let handle: xmlDocPtr
    private let rootNode: xmlNodePtr

    /// Takes ownership of a tree built by a parser.
    private init?(owning handle: xmlDocPtr) {
        guard let root = unsafe xmlDocGetRootElement(handle) else {
            unsafe xmlFreeDoc(handle)
            return nil
        }
        unsafe self.handle = handle
        unsafe rootNode = root
    }

    deinit { unsafe xmlFreeDoc(handle) }

    public var root: XMLElement { unsafe XMLElement(rootNode, of: self) }

    /// Parses a complete document in any encoding of ``Charset``.
    ///
    /// A byte order mark determines the encoding, otherwise `charset`, otherwise the document itself (RFC
    /// 7303 §3).
    ///
    /// The parser fetches nothing, supports no entities except the five predefined ones, and refuses a
    /// document type declaration before it has any effect. Safe to call from several threads.
    /// - Parameter charset: the charset parameter of the media type; nil if there is none.
    /// - Throws: ``XMLError``.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: XMLLimits = XMLLimits()
    ) throws(XMLError) -> XMLDocument {
        let text = try XMLInput.prepare(bytes, charset: charset, limits: limits)
        var parser = XMLTreeParser(limits: limits)
        let tree = unsafe parser.parse(text)
        if let failure = parser.failure {
            unsafe tree.map { unsafe xmlFreeDoc($0) }
            throw failure
        }
        guard let tree = unsafe tree, let document = unsafe XMLDocument(owning: tree) else {
            throw .malformed(parser.position)
        }
        return document
    }
}
