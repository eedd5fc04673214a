internal import CXML2

extension XMLElement {
    /// Returns the value of an attribute, or nil if it does not exist.
    /// - Parameter namespace: the namespace name; "" for an attribute without a prefix.
    public func attribute(_ local: StaticString, in namespace: StaticString = "") -> String? {
        let value =
            unsafe namespace.utf8CodeUnitCount == 0
            ? xmlGetNoNsProp(node, local.utf8Start) : xmlGetNsProp(node, local.utf8Start, namespace.utf8Start)
        return unsafe Self.text(of: value)
    }

    /// The `xml:lang` in scope (XML 1.0 §2.12); nil if there is none, "" if it was reset.
    public var language: String? { unsafe Self.text(of: xmlNodeGetLang(node)) }

    /// Returns the namespace name bound to a prefix in the scope of this element, or nil if it is not
    /// declared.
    /// - Parameter prefix: "" for the default namespace.
    public func namespace(ofPrefix prefix: String) -> String? {
        let name = Array(prefix.utf8) + [0]
        let declared = unsafe name.withUnsafeBufferPointer { bytes in
            unsafe xmlSearchNs(document.handle, node, prefix.isEmpty ? nil : bytes.baseAddress)
        }
        guard let name = unsafe declared?.pointee.href else { return nil }
        return unsafe String(cString: name)
    }

    private static func text(of value: UnsafeMutablePointer<xmlChar>?) -> String? {
        guard let value = unsafe value else { return nil }
        defer { unsafe davit_xml_free(value) }
        return unsafe String(cString: value)
    }
}
