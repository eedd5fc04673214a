/// Writes values in the format of D-Bus, in little-endian order, aligned to the beginning.
struct DBusWriter {
    var bytes: [UInt8] = []
    /// The types of the arguments that were added.
    private(set) var signature = ""

    // MARK: Arguments

    mutating func add(_ text: String) {
        signature += "s"
        put(text: text)
    }

    mutating func add(_ number: Int32) {
        signature += "i"
        put(number: UInt32(bitPattern: number))
    }

    mutating func add(_ number: UInt32) {
        signature += "u"
        put(number: number)
    }

    mutating func add(_ number: UInt16) {
        signature += "q"
        align(2)
        bytes.append(UInt8(truncatingIfNeeded: number))
        bytes.append(UInt8(truncatingIfNeeded: number >> 8))
    }

    /// Adds an array of arrays of bytes.
    mutating func add(_ blocks: [[UInt8]]) {
        signature += "aay"
        align(4)
        let start = bytes.count
        put(number: 0)
        for block in blocks {
            put(number: UInt32(block.count))
            bytes += block
        }
        let length = UInt32(bytes.count - start - 4)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
    }

    // MARK: Values

    mutating func align(_ boundary: Int) {
        while bytes.count % boundary != 0 { bytes.append(0) }
    }

    mutating func put(byte: UInt8) { bytes.append(byte) }

    mutating func put(number: UInt32) {
        align(4)
        for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func put(text: String) {
        put(number: UInt32(text.utf8.count))
        bytes += text.utf8
        bytes.append(0)
    }

    mutating func put(signature: String) {
        bytes.append(UInt8(truncatingIfNeeded: signature.utf8.count))
        bytes += signature.utf8
        bytes.append(0)
    }
}

/// Reads values in the format of D-Bus, aligned to the beginning of the bytes.
struct DBusReader {
    private let bytes: [UInt8]
    let isBigEndian: Bool
    private(set) var offset = 0

    init(_ bytes: [UInt8], isBigEndian: Bool) {
        self.bytes = bytes
        self.isBigEndian = isBigEndian
    }

    mutating func skip(_ count: Int) { offset += count }

    mutating func align(_ boundary: Int) { offset = (offset + boundary - 1) / boundary * boundary }

    mutating func byte() throws(DBusMessage.Malformed) -> UInt8 {
        guard offset < bytes.count else { throw .truncated }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func number() throws(DBusMessage.Malformed) -> UInt32 {
        align(4)
        guard bytes.count - offset >= 4 else { throw .truncated }
        defer { offset += 4 }
        let four = bytes[offset..<(offset + 4)]
        let ordered = isBigEndian ? Array(four) : four.reversed()
        return ordered.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads a string or the path of an object.
    mutating func string() throws(DBusMessage.Malformed) -> String { try text(ofLength: Int(try number())) }

    mutating func signature() throws(DBusMessage.Malformed) -> String { try text(ofLength: Int(try byte())) }

    private mutating func text(ofLength count: Int) throws(DBusMessage.Malformed) -> String {
        guard count < bytes.count - offset else { throw .truncated }
        let content = bytes[offset..<(offset + count)]
        guard bytes[offset + count] == 0, let text = String(validating: content, as: UTF8.self) else {
            throw .invalidText
        }
        offset += count + 1
        return text
    }
}
