internal import DavitHTTP
internal import DavitXML

/// The reason why the XML of a request is refused. Lines are numbered from 1; 0 means unknown.
public enum BodyError: Error, Hashable, Sendable {
    /// Not well-formed, over a limit, or lacking a required element: 400 (RFC 4918 §8.2).
    case malformed(line: Int)
    /// 403 with `no-external-entities` (§16).
    case externalEntity(line: Int)
    /// The XML is well-formed, but it is not the document that the method expects, specifies an unknown kind
    /// of lock or operator, or is a query that is too large: 422 (§11.2, RFC 5323 §5.5.2).
    case notThis(line: Int)

    init(_ error: XMLError) {
        self =
            switch error {
            case .malformed(let position), .limitExceeded(_, let position): .malformed(line: position.line)
            case .externalEntity(let position): .externalEntity(line: position.line)
            }
    }
}

extension XMLElement {
    /// Parses a request body, whose root must be this element of the `DAV:` namespace.
    static func root(
        named local: StaticString, of bytes: [UInt8], charset: Charset?, limits: XMLLimits
    ) throws(BodyError) -> XMLElement {
        let root = try root(of: bytes, charset: charset, limits: limits)
        guard root.isDAV(local) else { throw .notThis(line: root.line) }
        return root
    }

    /// Parses a request body with any root element.
    static func root(
        of bytes: [UInt8], charset: Charset?, limits: XMLLimits
    ) throws(BodyError) -> XMLElement {
        do { return try XMLDocument.parse(bytes, charset: charset, limits: limits).root } catch {
            throw BodyError(error)
        }
    }

    func isDAV(_ local: StaticString) -> Bool { isNamed(local, in: "DAV:") }

    var propertyName: PropertyName { PropertyName(namespace: namespace, local: local) }

    /// Returns the only child with this name in the `DAV:` namespace, or nil if there is none.
    /// - Throws: `malformed` if there are several.
    func only(_ local: StaticString) throws(BodyError) -> XMLElement? {
        var found: XMLElement?
        var child = firstChild
        while let current = child {
            if current.isDAV(local) {
                if found != nil { throw .malformed(line: current.line) }
                found = current
            }
            child = current.next
        }
        return found
    }
}
