internal import DavitHTTP

/// The trimmed value of a short field, as text for comparison.
struct FieldText {
    /// The value with ASCII letters in lower case; invalid UTF-8 is replaced.
    let lowercased: String

    init(_ value: Span<UInt8>) {
        self.init(bytes: FieldText.array(value)[...])
    }

    init(bytes: ArraySlice<UInt8>) {
        lowercased = String(decoding: Self.trimmed(bytes).map(\.lowercasedASCII), as: UTF8.self)
    }

    static func array(_ value: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.count)
        for index in value.indices { bytes.append(value[index]) }
        return bytes
    }

    /// Removes spaces and tabs at both ends (RFC 9110 §5.6.3).
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = bytes
        while let first = rest.first, isSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}
