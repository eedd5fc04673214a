internal import DavitXML

extension MultistatusWriter {
    /// A live property of the `DAV:` namespace whose value is safe in XML as it is: digits, dates, tags.
    public func property(_ dav: StaticString, bytes: [UInt8]) {
        openPropStat()
        output.element("D:", dav, bytes: bytes)
    }

    public func property(_ dav: StaticString, number: Int64) {
        openPropStat()
        output.element("D:", dav, number: number)
    }

    /// A live property whose value is any text; see ``XMLOutput`` for bytes that cannot stand in XML.
    public func property(_ dav: StaticString, escaped text: [UInt8]) {
        openPropStat()
        output.element("D:", dav, escaped: text)
    }

    /// A live property whose value is constant XML, with the prefix `D` for the `DAV:` namespace.
    public func property(_ dav: StaticString, markup: StaticString) {
        openPropStat()
        output.element("D:", dav, markup: markup)
    }

    /// A live property of any namespace, with any text as its value.
    public func property(_ name: PropertyName, escaped text: [UInt8]) {
        openPropStat()
        let prefix = writeTag(name)
        output.byte(UInt8(ascii: ">"))
        output.escaped(text)
        output.markup("</")
        output.markup(prefix)
        output.escaped(name.local)
        output.byte(UInt8(ascii: ">"))
    }

    /// A dead property as it was set; the value brings its name along.
    public func deadProperty(_ value: PropertyValue) {
        openPropStat()
        output.bytes(value.element)
    }

    /// A property without value: in an answer to propname, to PROPPATCH, or with a status that is no success.
    public func emptyProperty(_ name: PropertyName) {
        openPropStat()
        writeEmpty(name)
    }

    /// The same for a name that is written again and again.
    public func emptyProperty(_ element: EmptyPropertyElement) {
        openPropStat()
        output.bytes(element.bytes)
    }

    fileprivate func writeEmpty(_ name: PropertyName) {
        _ = writeTag(name)
        output.markup("/>")
    }

    public func emptyProperty(_ dav: StaticString) {
        openPropStat()
        output.markup("<D:")
        output.markup(dav)
        output.markup("/>")
    }

    /// The start tag up to where it ends; a namespace that is not `DAV:` is declared in it.
    /// - Returns: the prefix with its colon.
    private func writeTag(_ name: PropertyName) -> StaticString {
        let prefix: StaticString =
            switch name.namespace {
            case "DAV:": "D:"
            case "": ""
            // Always bound, and to no other prefix (Namespaces in XML §3).
            case "http://www.w3.org/XML/1998/namespace": "xml:"
            default: "N:"
            }
        output.byte(UInt8(ascii: "<"))
        output.markup(prefix)
        output.escaped(name.local)
        switch name.namespace {
        case "DAV:", "http://www.w3.org/XML/1998/namespace": break
        case "": output.markup(#" xmlns="""#)
        default:
            output.markup(#" xmlns:N=""#)
            output.attributeValue(name.namespace)
            output.byte(UInt8(ascii: "\""))
        }
        return prefix
    }
}

/// A property without value as ``MultistatusWriter/emptyProperty(_:)`` writes it, made once.
public struct EmptyPropertyElement: Hashable, Sendable {
    fileprivate let bytes: [UInt8]

    public init(_ name: PropertyName) {
        let writer = MultistatusWriter()
        writer.writeEmpty(name)
        bytes = writer.drain()
    }
}
