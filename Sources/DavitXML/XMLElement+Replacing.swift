internal import CXML2

extension XMLElement {
    /// The elements of a name inside this one, in document order, without those inside of one that was found.
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

    /// Puts a copy of an element, of this document or of another, in the place of this one, which is gone afterwards
    /// with all that is inside it: no copy of this value may be used any more. Not for the root.
    public consuming func replace(with element: XMLElement) {
        guard let copy = unsafe xmlDocCopyNode(element.node, document.handle, 1) else {
            fatalError("libxml2 has no memory left")
        }
        unsafe xmlReplaceNode(node, copy)
        unsafe xmlFreeNode(node)
    }
}
