internal import DavitXML

extension PropertyValue {
    /// The character data of the value, for the few properties that the server also acts upon, without white space
    /// around it; "" if the stored element is not well-formed. Cost: a parse.
    public var trimmedText: String { (try? XMLDocument.parse(element).root.text.trimmingXMLSpace) ?? "" }

    /// The character data of a value without elements inside, and its language (RFC 4918 §4.3); nil for other values.
    /// Cost: a parse.
    package var simpleText: (text: String, language: String?)? {
        guard let root = try? XMLDocument.parse(element).root, root.firstChild == nil else { return nil }
        return (root.text, root.language)
    }
}

extension String {
    /// Without the white space of XML at both ends.
    var trimmingXMLSpace: String {
        let isSpace: (Unicode.Scalar) -> Bool = { " \t\r\n".unicodeScalars.contains($0) }
        guard let start = unicodeScalars.firstIndex(where: { !isSpace($0) }),
            let last = unicodeScalars.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(unicodeScalars[start...last])
    }
}
