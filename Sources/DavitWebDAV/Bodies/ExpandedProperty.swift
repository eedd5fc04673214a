internal import DavitXML

/// A property that an `expand-property` report asks for (RFC 3253 §3.8).
public struct ExpandedProperty: Hashable, Sendable {
    public let name: PropertyName
    /// What is asked of each resource whose `href` stands in the value; empty if the value stays as it is.
    public let nested: [ExpandedProperty]

    public init(name: PropertyName, nested: [ExpandedProperty] = []) {
        self.name = name
        self.nested = nested
    }

    /// The `property` elements directly inside, each name once: the first one counts. Unknown elements are ignored.
    ///
    /// - Parameter budget: how many may come, nested ones included; what is left of it.
    /// - Throws: `malformed` for one without a name, and over the budget.
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
