internal import CXML2

/// An element of a document. Keeps the document alive.
@safe public struct XMLElement {
    let document: XMLDocument
    let node: xmlNodePtr

    init(_ node: xmlNodePtr, of document: XMLDocument) {
        self.document = document
        unsafe self.node = node
    }

    /// The namespace name; "" for an element in no namespace.
    public var namespace: String {
        guard let name = unsafe node.pointee.ns?.pointee.href else { return "" }
        let text = unsafe String(cString: name)
        // In declarations, libxml2 leaves the reference that it makes of each ampersand.
        return text.contains("&") ? text.replacing("&#38;", with: "&") : text
    }

    public var local: String {
        guard let name = unsafe node.pointee.name else { return "" }
        return unsafe String(cString: name)
    }

    /// The line of the document its start tag ends on; 65535 and more are one.
    public var line: Int { unsafe Int(node.pointee.line) }

    /// The elements directly inside, in document order.
    public var children: [XMLElement] {
        var children: [XMLElement] = []
        var child = firstChild
        while let current = child {
            children.append(current)
            child = current.next
        }
        return children
    }

    /// The first element directly inside.
    public var firstChild: XMLElement? { unsafe element(from: node.pointee.children) }

    /// The next element beside this one.
    public var next: XMLElement? { unsafe element(from: node.pointee.next) }

    /// The first element among a node and those behind it.
    private func element(from start: xmlNodePtr?) -> XMLElement? {
        var sibling = unsafe start
        while let current = unsafe sibling {
            if unsafe current.pointee.type == XML_ELEMENT_NODE {
                return unsafe XMLElement(current, of: document)
            }
            unsafe sibling = unsafe current.pointee.next
        }
        return nil
    }

    /// All character data inside, that of members included, without comments and processing instructions.
    public var text: String {
        guard let content = unsafe xmlNodeGetContent(node) else { return "" }
        defer { unsafe davit_xml_free(content) }
        return unsafe String(cString: content)
    }

    /// The value of an attribute in no namespace; nil if there is none.
    public func attribute(_ local: StaticString) -> String? {
        guard let value = unsafe xmlGetNoNsProp(node, local.utf8Start) else { return nil }
        defer { unsafe davit_xml_free(value) }
        return unsafe String(cString: value)
    }

    /// Compares the name without making strings.
    public func isNamed(_ local: StaticString, in namespace: StaticString) -> Bool {
        let uri = unsafe node.pointee.ns?.pointee.href
        guard unsafe xmlStrEqual(node.pointee.name, local.utf8Start) == 1 else { return false }
        if unsafe uri == nil { return namespace.utf8CodeUnitCount == 0 }
        return unsafe xmlStrEqual(uri, namespace.utf8Start) == 1
    }
}
