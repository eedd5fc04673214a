internal import DavitHTTP
internal import DavitXML

extension MultistatusWriter {
    /// Writes the property `supported-query-grammar-set` (RFC 5323 §3.3).
    public func supportedQueryGrammars() {
        property(
            "supported-query-grammar-set",
            markup:
                "<D:supported-query-grammar><D:grammar><D:basicsearch/></D:grammar></D:supported-query-grammar>"
        )
    }

    /// Writes the response element that describes which queries a scope supports (RFC 5323 §4.1, §5.19).
    /// - Parameters:
    ///   - href: the scope, as in ``beginResponse(href:isCollection:)``.
    ///   - properties: the properties to describe individually; the schema describes all others together.
    public func searchSchema(href: [UInt8], _ properties: [SearchableProperty]) {
        beginResponse(href: href)
        responseStatus(.ok)
        output.markup("<D:query-schema><D:basicsearchschema><D:properties>")
        for property in properties { write(property) }
        output.markup(
            """
            <D:propdesc><D:any-other-property/><D:datatype><xs:string xmlns:xs="http://www.w3.org/2001/XMLSchema"/>\
            </D:datatype><D:searchable/><D:selectable/><D:sortable/><D:caseless/></D:propdesc>\
            </D:properties><D:operators>\
            <D:opdesc><D:and/></D:opdesc><D:opdesc><D:or/></D:opdesc><D:opdesc><D:not/></D:opdesc>
            """)
        for name in ["eq", "lt", "lte", "gt", "gte"] as [StaticString] {
            output.markup("<D:opdesc><D:")
            output.markup(name)
            output.markup("/><D:operand-property/><D:operand-literal/></D:opdesc><D:opdesc><D:")
            output.markup(name)
            output.markup("/><D:operand-property/><D:operand-typed-literal/></D:opdesc>")
        }
        output.markup(
            """
            <D:opdesc><D:like/><D:operand-property/><D:operand-literal/></D:opdesc>\
            <D:opdesc><D:is-collection/></D:opdesc>\
            <D:opdesc><D:is-defined/><D:operand-property/></D:opdesc>\
            <D:opdesc><D:language-defined/><D:operand-property/></D:opdesc>\
            <D:opdesc><D:language-matches/><D:operand-property/><D:operand-literal/></D:opdesc>\
            </D:operators></D:basicsearchschema></D:query-schema>
            """)
        endResponse()
    }

    private func write(_ property: SearchableProperty) {
        output.markup("<D:propdesc><D:prop><D:")
        output.escaped(property.local)
        output.markup("/></D:prop>")
        switch property.type {
        case .string:
            output.markup(
                #"<D:datatype><xs:string xmlns:xs="http://www.w3.org/2001/XMLSchema"/></D:datatype>"#)
        case .integer:
            output.markup(
                #"<D:datatype><xs:nonNegativeInteger xmlns:xs="http://www.w3.org/2001/XMLSchema"/></D:datatype>"#
            )
        case .dateTime:
            output.markup(
                #"<D:datatype><xs:dateTime xmlns:xs="http://www.w3.org/2001/XMLSchema"/></D:datatype>"#)
        case .boolean, .decimal, nil: break
        }
        if property.type != nil { output.markup("<D:searchable/>") }
        output.markup("<D:selectable/>")
        if property.type != nil { output.markup("<D:sortable/>") }
        if property.type == .string { output.markup("<D:caseless/>") }
        output.markup("</D:propdesc>")
    }
}

/// A property of the `DAV:` namespace in the schema of queries.
public struct SearchableProperty: Hashable, Sendable {
    public var local: String
    /// The type of the value; nil for a property with child elements, which can only be selected.
    public var type: SearchLiteral.ValueType?

    public init(local: String, type: SearchLiteral.ValueType?) {
        self.local = local
        self.type = type
    }
}
