internal import CXML2
public import DavitHTTP

/// A parsed document. Owns libxml2's tree; every ``XMLElement`` keeps it alive.
///
/// Belongs to one task at a time.
@safe public final class XMLDocument {
    let handle: xmlDocPtr
    private let rootNode: xmlNodePtr

    /// Takes over a tree that `parser` has built.
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

    /// Parses a whole document, in any encoding of ``Charset``.
    ///
    /// A byte order mark decides about the encoding, then `charset`, then the document itself (RFC 7303 §3).
    ///
    /// Nothing is fetched, no entity but the five predefined ones exists, and a document type declaration is
    /// refused before it has any effect. Safe to call from several threads.
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
