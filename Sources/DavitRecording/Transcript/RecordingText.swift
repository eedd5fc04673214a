internal import DavitHTTP

/// The text form of bytes in recordings, readable in an editor.
enum RecordingText {
    /// The start of the first line of a file.
    static let mark = "WIRE-TRANSCRIPT "

    /// Maximum number of bytes in one line of escaped content.
    private static let lineBytes = 96

    /// Appends printable ASCII except the backslash unchanged, and all other bytes as `\\`, `\r`, `\n`, `\t`
    /// or `\xNN`.
    static func append(escaping bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): text.append("\\\\")
            case 13: text.append("\\r")
            case 10: text.append("\\n")
            case 9: text.append("\\t")
            case 32..<127: text.append(byte)
            default:
                text.append("\\x")
                text.append(HexText.digit(byte >> 4))
                text.append(HexText.digit(byte & 15))
            }
        }
    }

    /// Decodes the escapes of ``append(escaping:to:)``; returns nil for an invalid escape.
    static func unescape(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch iterator.next() {
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "r"): bytes.append(13)
            case UInt8(ascii: "n"): bytes.append(10)
            case UInt8(ascii: "t"): bytes.append(9)
            case UInt8(ascii: "x"):
                guard let high = iterator.next()?.hexValue, let low = iterator.next()?.hexValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: return nil
            }
        }
        return bytes
    }

    /// Appends content: more than ``lineBytes`` repetitions of a byte as a line `~ fill`, text as lines that
    /// begin with `|`, and anything else as escaped lines that begin with `:`.
    static func append(content bytes: [UInt8], to text: inout [UInt8]) {
        guard let first = bytes.first else { return }
        if bytes.count > lineBytes, bytes.allSatisfy({ $0 == first }) {
            append(repeating: first, count: bytes.count, to: &text)
        } else if isText(bytes) {
            for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
                text.append(line.isEmpty ? "|" : "| ")
                text += line
                text.append(10)
            }
        } else {
            append(lines: bytes, to: &text)
        }
    }

    /// Appends content that repeats one byte. Long content is not built in memory.
    static func append(repeating byte: UInt8, count: Int, to text: inout [UInt8]) {
        if count <= lineBytes { return append(content: Array(repeating: byte, count: count), to: &text) }
        text.append("~ fill 0x")
        text.append(HexText.digit(byte >> 4))
        text.append(HexText.digit(byte & 15))
        text += " \(count)\n".utf8
    }

    private static func append(lines bytes: [UInt8], to text: inout [UInt8]) {
        var start = 0
        while start < bytes.count {
            let limit = min(start + lineBytes, bytes.count)
            let end = bytes[start..<limit].firstIndex(of: 10).map { $0 + 1 } ?? limit
            text.append(": ")
            append(escaping: bytes[start..<end], to: &text)
            text.append(10)
            start = end
        }
    }

    /// Whether the bytes are UTF-8 without control characters other than tabs and line feeds.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        guard bytes.allSatisfy({ !$0.isControl || $0 == 9 || $0 == 10 }) else { return false }
        return String(validating: bytes, as: UTF8.self) != nil
    }
}
