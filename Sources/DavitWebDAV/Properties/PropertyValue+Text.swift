internal import DavitXML

extension PropertyValue {
    /// The character data of the value, for the few dead properties that the server also acts upon; "" if the
    /// stored element is not well-formed. Cost: a parse.
    public var text: String { (try? XMLDocument.parse(element).root.text) ?? "" }
}
