internal import DavitXML

extension PropertyValue {
    /// The trimmed character data of the value, for the few properties that the server interprets; "" if the
    /// stored element is not well-formed. Cost: parses the value.
    public var trimmedText: String { (try? XMLDocument.parse(element).root.text.trimmingXMLSpace) ?? "" }

    /// The character data and language (RFC 4918 §4.3) of a value without child elements; nil for other
    /// values. Cost: parses the value.
    package var simpleText: (text: String, language: String?)? {
        guard let root = try? XMLDocument.parse(element).root, root.firstChild == nil else { return nil }
        return (root.text, root.language)
    }
}

extension String {
    /// The string without XML white space at both ends.
    var trimmingXMLSpace: String {
        let isSpace: (Unicode.Scalar) -> Bool = { " \t\r\n".unicodeScalars.contains($0) }
        guard let start = unicodeScalars.firstIndex(where: { !isSpace($0) }),
            let last = unicodeScalars.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(unicodeScalars[start...last])
    }
}
