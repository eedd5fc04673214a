public import DavitXML

extension MultistatusWriter {
    /// Writes a live property of the `DAV:` namespace whose value needs no escaping in XML: digits, dates,
    /// tags.
    @inlinable @inline(__always)
    public func property(_ dav: StaticString, bytes: [UInt8]) {
        openPropStat()
        output.element("D:", dav, bytes: bytes)
    }

    /// Writes a live property of the `DAV:` namespace whose text `body` writes; it needs no escaping.
    /// - Parameters:
    ///   - limit: the maximum number of bytes that `body` writes.
    ///   - body: returns the number of bytes written.
    @inlinable @inline(__always)
    package func property(
        _ dav: StaticString, limit: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        openPropStat()
        unsafe output.element("D:", dav, limit: limit, body)
    }

    @inlinable @inline(__always)
    public func property(_ dav: StaticString, number: Int64) {
        openPropStat()
        output.element("D:", dav, number: number)
    }

    /// Writes a live property with arbitrary text; see ``XMLOutput`` for bytes that XML does not allow.
    @inlinable @inline(__always)
    public func property(_ dav: StaticString, escaped text: [UInt8]) {
        openPropStat()
        output.element("D:", dav, escaped: text)
    }

    /// Writes a live property whose value is constant XML; the prefix `D` is bound to the `DAV:` namespace.
    @inlinable @inline(__always)
    public func property(_ dav: StaticString, markup: StaticString) {
        openPropStat()
        output.element("D:", dav, markup: markup)
    }

    /// Writes a live property of any namespace with arbitrary text.
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

    /// Writes a dead property as it was set; the value includes the property element.
    public func deadProperty(_ value: PropertyValue) {
        openPropStat()
        output.bytes(value.element)
    }

    /// Writes a property without a value: in a response to propname or PROPPATCH, or with an error status.
    public func emptyProperty(_ name: PropertyName) {
        openPropStat()
        writeEmpty(name)
    }

    /// Like ``emptyProperty(_:)-(PropertyName)``, for a name that is written repeatedly.
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

    /// Writes the start tag without its closing `>`, including the namespace declaration for namespaces other
    /// than `DAV:`.
    /// - Returns: the prefix with its colon.
    private func writeTag(_ name: PropertyName) -> StaticString {
        let prefix: StaticString =
            switch name.namespace {
            case "DAV:": "D:"
            case "": ""
            // This namespace is always bound to `xml`, and to no other prefix (Namespaces in XML §3).
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

/// A property without a value, serialized once, in the form written by
/// ``MultistatusWriter/emptyProperty(_:)``.
public struct EmptyPropertyElement: Hashable, Sendable {
    fileprivate let bytes: [UInt8]

    public init(_ name: PropertyName) {
        let writer = MultistatusWriter()
        writer.writeEmpty(name)
        bytes = writer.drain()
    }
}
