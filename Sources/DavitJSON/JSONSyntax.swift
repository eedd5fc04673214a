/// Checks a JSON text (RFC 8259) without building values, to find the position of errors, which the decoder
/// does not report.
///
/// One pass over the bytes; memory is one byte per nesting level.
struct JSONSyntax {
    /// The reason why a text is refused. Offsets are in bytes from the start of the text.
    enum Failure: Error, Hashable {
        /// Malformed at the first byte that is not allowed, or at the end of the text.
        case malformed(offset: Int)
        case tooDeep(offset: Int, limit: Int)
    }

    /// The nesting limit of the decoder.
    static let depthLimit = 512

    private enum Expected { case value, valueOrEnd, name, nameOrEnd, separator }

    private var index = 0
    /// For each level, outermost first, whether it is an object.
    private var levels: [Bool] = []

    private init(from index: Int) { self.index = index }

    /// - Parameter start: the offset at which the text begins in `bytes`.
    static func check(_ bytes: borrowing Span<UInt8>, from start: Int = 0) throws(Failure) {
        var syntax = JSONSyntax(from: start)
        try syntax.check(bytes)
    }

    private mutating func check(_ bytes: borrowing Span<UInt8>) throws(Failure) {
        var expected = Expected.value
        while true {
            skipSpace(bytes)
            if index == bytes.count, levels.isEmpty, expected == .separator { return }
            guard index < bytes.count else { throw .malformed(offset: index) }
            switch (expected, bytes[index]) {
            case (.name, UInt8(ascii: "\"")), (.nameOrEnd, UInt8(ascii: "\"")):
                try takeString(bytes)
                skipSpace(bytes)
                try take(UInt8(ascii: ":"), bytes)
                expected = .value
            case (.separator, UInt8(ascii: ",")) where !levels.isEmpty:
                index += 1
                expected = levels[levels.count - 1] ? .name : .value
            case (.separator, UInt8(ascii: "}")) where levels.last == true,
                (.separator, UInt8(ascii: "]")) where levels.last == false,
                (.nameOrEnd, UInt8(ascii: "}")), (.valueOrEnd, UInt8(ascii: "]")):
                levels.removeLast()
                index += 1
                expected = .separator
            case (.value, let byte), (.valueOrEnd, let byte): expected = try takeValue(bytes, byte)
            default: throw .malformed(offset: index)
            }
        }
    }

    private mutating func takeValue(
        _ bytes: borrowing Span<UInt8>, _ first: UInt8
    ) throws(Failure) -> Expected {
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard levels.count < Self.depthLimit else {
                throw .tooDeep(offset: index, limit: Self.depthLimit)
            }
            let isObject = first == UInt8(ascii: "{")
            levels.append(isObject)
            index += 1
            return isObject ? .nameOrEnd : .valueOrEnd
        case UInt8(ascii: "\""): try takeString(bytes)
        case UInt8(ascii: "t"): try take("true", bytes)
        case UInt8(ascii: "f"): try take("false", bytes)
        case UInt8(ascii: "n"): try take("null", bytes)
        default: try takeNumber(bytes)
        }
        return .separator
    }

    // MARK: Tokens

    /// Skips white space (§2): spaces, tabs and line breaks.
    private mutating func skipSpace(_ bytes: borrowing Span<UInt8>) {
        while let byte = peek(bytes), byte == 32 || byte == 9 || byte == 10 || byte == 13 { index += 1 }
    }

    private mutating func take(_ byte: UInt8, _ bytes: borrowing Span<UInt8>) throws(Failure) {
        guard index < bytes.count, bytes[index] == byte else { throw .malformed(offset: index) }
        index += 1
    }

    private mutating func take(_ word: StaticString, _ bytes: borrowing Span<UInt8>) throws(Failure) {
        for place in 0..<word.utf8CodeUnitCount { try take(unsafe word.utf8Start[place], bytes) }
    }

    /// Parses a number (§6).
    private mutating func takeNumber(_ bytes: borrowing Span<UInt8>) throws(Failure) {
        if peek(bytes) == UInt8(ascii: "-") { index += 1 }
        if peek(bytes) == UInt8(ascii: "0") { index += 1 } else { try takeDigits(bytes) }
        if peek(bytes) == UInt8(ascii: ".") {
            index += 1
            try takeDigits(bytes)
        }
        if let byte = peek(bytes), byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if let sign = peek(bytes), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
            try takeDigits(bytes)
        }
    }

    private mutating func takeDigits(_ bytes: borrowing Span<UInt8>) throws(Failure) {
        guard let first = peek(bytes), Self.isDigit(first) else { throw .malformed(offset: index) }
        while let byte = peek(bytes), Self.isDigit(byte) { index += 1 }
    }

    private func peek(_ bytes: borrowing Span<UInt8>) -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    /// Parses a string (§7), starting at its opening quotation mark.
    private mutating func takeString(_ bytes: borrowing Span<UInt8>) throws(Failure) {
        index += 1
        while let byte = peek(bytes) {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return
            case UInt8(ascii: "\\"): try takeEscape(bytes)
            case 0x20..<0x80: index += 1
            case 0x80...: try takeScalar(bytes, byte)
            default: throw .malformed(offset: index)
            }
        }
        throw .malformed(offset: index)
    }

    /// Parses an escape sequence. An unpaired surrogate is refused, because a string cannot represent it
    /// (§8.2).
    private mutating func takeEscape(_ bytes: borrowing Span<UInt8>) throws(Failure) {
        let start = index
        index += 1
        guard let kind = peek(bytes) else { throw .malformed(offset: index) }
        guard kind == UInt8(ascii: "u") else {
            switch kind {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
                UInt8(ascii: "f"),
                UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                index += 1
            default: throw .malformed(offset: index)
            }
            return
        }
        let unit = try takeUnit(bytes)
        guard 0xD800...0xDFFF ~= unit else { return }
        guard unit < 0xDC00, peek(bytes) == UInt8(ascii: "\\") else { throw .malformed(offset: start) }
        index += 1
        guard peek(bytes) == UInt8(ascii: "u") else { throw .malformed(offset: start) }
        guard 0xDC00...0xDFFF ~= (try takeUnit(bytes)) else { throw .malformed(offset: start) }
    }

    /// Parses four hexadecimal digits, starting at the `u`.
    private mutating func takeUnit(_ bytes: borrowing Span<UInt8>) throws(Failure) -> UInt32 {
        index += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(bytes), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw .malformed(offset: index)
            }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }

    /// Parses one UTF-8 encoded scalar (RFC 3629 §4).
    private mutating func takeScalar(_ bytes: borrowing Span<UInt8>, _ first: UInt8) throws(Failure) {
        let second: ClosedRange<UInt8>
        let count: Int
        switch first {
        case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
        case 0xE0: (second, count) = (0xA0...0xBF, 3)
        case 0xED: (second, count) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, count) = (0x80...0xBF, 3)
        case 0xF0: (second, count) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
        case 0xF4: (second, count) = (0x80...0x8F, 4)
        default: throw .malformed(offset: index)
        }
        for place in 1..<count {
            guard index + place < bytes.count else { throw .malformed(offset: bytes.count) }
            guard (place == 1 ? second : 0x80...0xBF) ~= bytes[index + place] else {
                throw .malformed(offset: index)
            }
        }
        index += count
    }
}
