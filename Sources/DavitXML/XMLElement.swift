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
        // In namespace declarations, libxml2 keeps the character reference to which it converts each
        // ampersand.
        return text.contains("&") ? text.replacing("&#38;", with: "&") : text
    }

    public var local: String {
        guard let name = unsafe node.pointee.name else { return "" }
        return unsafe String(cString: name)
    }

    /// The line on which the start tag ends; lines from 65535 on are reported as 65535.
    public var line: Int { unsafe Int(node.pointee.line) }

    /// The child elements in document order.
    public var children: [XMLElement] {
        var children: [XMLElement] = []
        var child = firstChild
        while let current = child {
            children.append(current)
            child = current.next
        }
        return children
    }

    /// The first child element.
    public var firstChild: XMLElement? { unsafe element(from: node.pointee.children) }

    /// The next sibling element.
    public var next: XMLElement? { unsafe element(from: node.pointee.next) }

    /// Returns the first element among a node and its following siblings.
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

    /// The character data of this element and its descendants, without comments and processing instructions.
    public var text: String {
        guard let content = unsafe xmlNodeGetContent(node) else { return "" }
        defer { unsafe davit_xml_free(content) }
        return unsafe String(cString: content)
    }

    /// Returns the value of an attribute in no namespace, or nil if it does not exist.
    public func attribute(_ local: StaticString) -> String? {
        guard let value = unsafe xmlGetNoNsProp(node, local.utf8Start) else { return nil }
        defer { unsafe davit_xml_free(value) }
        return unsafe String(cString: value)
    }

    /// Returns the namespace that a prefix is bound to at this element; nil if it is not bound.
    /// - Parameter prefix: empty for the default namespace.
    public func namespace(of prefix: String) -> String? {
        let found =
            prefix.isEmpty
            ? unsafe xmlSearchNs(document.handle, node, nil)
            : unsafe xmlSearchNs(document.handle, node, prefix)
        guard let name = unsafe found?.pointee.href else { return nil }
        return unsafe String(cString: name)
    }

    /// Whether the element has this name; compares without creating strings.
    public func isNamed(_ local: StaticString, in namespace: StaticString) -> Bool {
        let uri = unsafe node.pointee.ns?.pointee.href
        guard unsafe xmlStrEqual(node.pointee.name, local.utf8Start) == 1 else { return false }
        if unsafe uri == nil { return namespace.utf8CodeUnitCount == 0 }
        return unsafe xmlStrEqual(uri, namespace.utf8Start) == 1
    }
}
