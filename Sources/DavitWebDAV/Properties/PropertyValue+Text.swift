internal import DavitXML

extension PropertyValue {
    /// The character data of the value, for the few dead properties that the server also acts upon; "" if the
    /// stored element is not well-formed. Cost: a parse.
    public var text: String { (try? XMLDocument.parse(element).root.text) ?? "" }

    /// The character data of a value without elements inside, and its language (RFC 4918 §4.3); nil for other values.
    /// Cost: a parse.
    package var simpleText: (text: String, language: String?)? {
        guard let root = try? XMLDocument.parse(element).root, root.firstChild == nil else { return nil }
        return (root.text, root.language)
    }
}
