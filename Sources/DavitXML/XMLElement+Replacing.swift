internal import CXML2

extension XMLElement {
    /// Returns the descendants with this name in document order, excluding those inside another match.
    public func descendants(named local: StaticString, in namespace: StaticString) -> [XMLElement] {
        var found: [XMLElement] = []
        for child in children {
            if child.isNamed(local, in: namespace) {
                found.append(child)
            } else {
                found += child.descendants(named: local, in: namespace)
            }
        }
        return found
    }

    /// Replaces this element with a copy of another one, from any document. This element and all its
    /// descendants are freed, so no copy of this value may be used afterwards. Must not be called for the
    /// root.
    public consuming func replace(with element: XMLElement) {
        guard let copy = unsafe xmlDocCopyNode(element.node, document.handle, 1) else {
            fatalError("libxml2 is out of memory")
        }
        unsafe xmlReplaceNode(node, copy)
        unsafe xmlFreeNode(node)
    }
}
