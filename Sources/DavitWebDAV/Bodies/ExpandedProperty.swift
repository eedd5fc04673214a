internal import DavitXML

/// A property requested by an `expand-property` report (RFC 3253 §3.8).
public struct ExpandedProperty: Hashable, Sendable {
    public let name: PropertyName
    /// The properties to report for each resource whose `href` occurs in the value; empty to return the value
    /// unchanged.
    public let nested: [ExpandedProperty]

    public init(name: PropertyName, nested: [ExpandedProperty] = []) {
        self.name = name
        self.nested = nested
    }

    /// Parses the `property` children. If several have the same name, the first is used. Unknown elements are
    /// ignored.
    ///
    /// - Parameter budget: the maximum number of elements, including nested ones; reduced by the number
    ///   parsed.
    /// - Throws: `malformed` for an element without a name, and if the budget is exceeded.
    static func parse(in element: XMLElement, budget: inout Int) throws(BodyError) -> [ExpandedProperty] {
        var properties: [ExpandedProperty] = []
        var seen: Set<PropertyName> = []
        for child in element.children where child.isDAV("property") {
            budget -= 1
            guard budget >= 0, let local = child.attribute("name"), !local.isEmpty else {
                throw .malformed(line: child.line)
            }
            let name = PropertyName(namespace: child.attribute("namespace") ?? "DAV:", local: local)
            let nested = try parse(in: child, budget: &budget)
            if seen.insert(name).inserted { properties.append(ExpandedProperty(name: name, nested: nested)) }
        }
        return properties
    }
}
