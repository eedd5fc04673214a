internal import CXML2

extension XMLElement {
    /// Returns all names that directly precede a colon in the text or in attribute values of this element and
    /// its descendants. Cost: linear in the size of the element.
    func mentionedPrefixes() -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        unsafe Self.collectPrefixes(below: node, into: &names)
        return names
    }

    /// Collects the names recursively; ``XMLLimits/depth`` limits the recursion.
    private static func collectPrefixes(below element: xmlNodePtr, into names: inout Set<[UInt8]>) {
        var attribute = unsafe element.pointee.properties
        while let current = unsafe attribute {
            var value = unsafe current.pointee.children
            while let text = unsafe value {
                unsafe collectPrefixes(in: text.pointee.content, into: &names)
                unsafe value = text.pointee.next
            }
            unsafe attribute = current.pointee.next
        }
        var child = unsafe element.pointee.children
        while let current = unsafe child {
            switch unsafe current.pointee.type {
            case XML_ELEMENT_NODE: unsafe collectPrefixes(below: current, into: &names)
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
                unsafe collectPrefixes(in: current.pointee.content, into: &names)
            default: break
            }
            unsafe child = current.pointee.next
        }
    }

    private static func collectPrefixes(in text: UnsafePointer<xmlChar>?, into names: inout Set<[UInt8]>) {
        guard let text = unsafe text else { return }
        var name: [UInt8] = []
        var offset = 0
        while unsafe text[offset] != 0 {
            let byte = unsafe text[offset]
            offset += 1
            if byte == UInt8(ascii: ":") {
                if !name.isEmpty { names.insert(name) }
                name.removeAll(keepingCapacity: true)
            } else if isNameByte(byte) {
                name.append(byte)
            } else {
                name.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Whether a byte can occur in a prefix. Accepting more bytes than XML allows is harmless, because the
    /// name is only looked up.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            0x80...0xFF:
            true
        default: false
        }
    }
}

extension UnsafePointer<xmlChar> {
    /// The bytes before the terminating NUL.
    var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: self, count: Int(xmlStrlen(self)))) }
}
