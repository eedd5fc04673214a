internal import DavitXML

extension PropertyValue {
    /// The first element directly inside the root of a document, with each `href` of the `DAV:` namespace inside it
    /// replaced as `response` says.
    ///
    /// - Parameters:
    ///   - document: made by this server.
    ///   - response: gets the text of an href without white space around it. Returns a document, whose first element
    ///     directly inside the root takes the place of the href, or nil to leave it.
    /// - Returns: nil for a document that cannot be read, or is deeper than ``XMLLimits/depth`` can be.
    public static func replacingHrefs<Failure: Error>(
        in document: [UInt8], by response: (String) throws(Failure) -> [UInt8]?
    ) throws(Failure) -> PropertyValue? {
        guard let property = firstElement(of: document) else { return nil }
        for href in property.descendants(named: "href", in: "DAV:") {
            guard let made = try response(href.text.trimmingXMLSpace) else { continue }
            guard let element = firstElement(of: made) else { return nil }
            href.replace(with: element)
        }
        return PropertyValue(element: property.serializedSelfContained())
    }

    private static func firstElement(of document: [UInt8]) -> XMLElement? {
        var limits = XMLLimits()
        limits.bytes = Int(Int32.max)
        limits.depth = 255
        limits.nodes = .max
        return (try? XMLDocument.parse(document, limits: limits))?.root.firstChild
    }
}
