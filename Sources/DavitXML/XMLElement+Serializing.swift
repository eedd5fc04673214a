internal import CXML2

extension XMLElement {
    /// Serializes the element as UTF-8 XML with the same meaning in any document (RFC 4918 §4.3).
    ///
    /// Preserved: names with their prefixes, attributes and their order, character data, CDATA sections,
    /// comments, processing instructions. Declared in the result: every namespace that an element or
    /// attribute uses, and every prefix in scope that precedes a colon in text or in an attribute value,
    /// because that may be a qualified name. The `xml:lang` in scope becomes an attribute. Not preserved: the
    /// quotes of attributes, white space inside tags, the difference between `<a></a>` and `<a/>`, and
    /// character references.
    public func serializedSelfContained() -> [UInt8] {
        guard let copy = unsafe xmlDocCopyNode(node, document.handle, 1) else {
            fatalError("libxml2 is out of memory")
        }
        defer { unsafe xmlFreeNode(copy) }
        unsafe declareMentionedPrefixes(on: copy)
        unsafe declareNoNamespace(on: copy)
        unsafe addLanguage(to: copy)
        let output = XMLOutput()
        unsafe output.withHandle {
            unsafe xmlNodeDumpOutput($0, document.handle, copy, 0, 0, "UTF-8")
            return unsafe $0.pointee.error == 0 ? 0 : -1
        }
        return output.drain()
    }

    /// Ensures that an element in no namespace remains so when it is inserted below a default namespace.
    private func declareNoNamespace(on copy: xmlNodePtr) {
        if unsafe copy.pointee.ns == nil { unsafe xmlNewNs(copy, "", nil) }
    }

    private func addLanguage(to copy: xmlNodePtr) {
        guard let language = unsafe xmlNodeGetLang(node) else { return }
        defer { unsafe davit_xml_free(language) }
        let isAbsent = unsafe xmlHasNsProp(copy, "lang", "http://www.w3.org/XML/1998/namespace") == nil
        guard isAbsent, unsafe language[0] != 0 else { return }
        unsafe xmlNewNsProp(copy, xmlSearchNs(document.handle, copy, "xml"), "lang", language)
    }

    /// Declares the prefixes in scope that may be part of a qualified name in the content.
    private func declareMentionedPrefixes(on copy: xmlNodePtr) {
        var mentioned: Set<[UInt8]>?
        var scope: xmlNodePtr? = unsafe node
        // The parent of the root is the document node, which has no namespace definitions.
        while let ancestor = unsafe scope, unsafe ancestor.pointee.type == XML_ELEMENT_NODE {
            var declaration = unsafe ancestor.pointee.nsDef
            while let namespace = unsafe declaration {
                if let prefix = unsafe namespace.pointee.prefix {
                    let names = mentioned ?? mentionedPrefixes()
                    mentioned = names
                    if names.contains(unsafe prefix.bytes) {
                        // Has no effect if the prefix is already declared there, so the nearest declaration
                        // takes precedence.
                        unsafe xmlNewNs(copy, namespace.pointee.href, prefix)
                    }
                }
                unsafe declaration = namespace.pointee.next
            }
            unsafe scope = ancestor.pointee.parent
        }
    }
}
