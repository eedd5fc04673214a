internal import DavitHTTP

/// Writes JSON (RFC 8259) that is safe in a script element: it contains nothing that ends the element or
/// begins a comment.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        members(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Adds a member whose value is an object.
    package mutating func object(_ name: String, _ members: (inout JSONWriter) -> Void) {
        key(name)
        object(members)
    }

    package mutating func member(_ name: String, _ value: String?) {
        key(name)
        if let value { append(Array(value.utf8)) } else { bytes.append(contentsOf: "null".utf8) }
    }

    /// Adds a member. Invalid UTF-8 is replaced.
    package mutating func member(_ name: String, _ value: [UInt8]) {
        key(name)
        append(Array(String(decoding: value, as: UTF8.self).utf8))
    }

    package mutating func member(_ name: String, _ value: Bool) {
        key(name)
        bytes.append(contentsOf: "\(value)".utf8)
    }

    package mutating func member(_ name: String, _ value: Int64?) {
        key(name)
        bytes.append(contentsOf: (value.map { "\($0)" } ?? "null").utf8)
    }

    package mutating func member(_ name: String, _ values: [String]?) {
        key(name)
        guard let values else { return bytes.append(contentsOf: "null".utf8) }
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(Array(value.utf8))
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Adds a member whose value is an array of objects.
    package mutating func member<Item>(
        _ name: String, _ items: some Sequence<Item>, _ write: (inout JSONWriter, Item) -> Void
    ) {
        key(name)
        bytes.append(UInt8(ascii: "["))
        var isFirst = true
        for item in items {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            object { write(&$0, item) }
        }
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    private mutating func key(_ name: String) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        append(Array(name.utf8))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ text: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case 0..<32, UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"),
                UInt8(ascii: "&"), 127:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(HexText.digit(byte >> 4))
                bytes.append(HexText.digit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
