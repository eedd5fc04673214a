/// Removes comments and insignificant white space from a style sheet. Strings are unchanged.
struct StyleMinifier {
    private let source: [UInt8]
    private var index = 0
    private var result: [UInt8] = []
    private var isSpaced = false

    static func of(_ source: [UInt8]) -> [UInt8] {
        var style = StyleMinifier(source: source)
        style.run()
        return style.result
    }

    private init(source: [UInt8]) {
        self.source = source
        result.reserveCapacity(source.count)
    }

    private mutating func run() {
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "/"), index + 1 < source.count, source[index + 1] == UInt8(ascii: "*") {
                skipComment()
            } else if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t") {
                isSpaced = true
                index += 1
            } else {
                token(byte)
            }
        }
        result.append(UInt8(ascii: "\n"))
    }

    /// Skips a comment, which separates tokens like white space.
    private mutating func skipComment() {
        isSpaced = true
        index += 2
        while index < source.count {
            index += 1
            if source[index - 1] == UInt8(ascii: "/"), source[index - 2] == UInt8(ascii: "*") { return }
        }
    }

    private mutating func token(_ byte: UInt8) {
        if isSpaced, let last = result.last, !Self.separates(last), last != UInt8(ascii: ":"),
            !Self.separates(byte)
        {
            result.append(UInt8(ascii: " "))
        }
        isSpaced = false
        // Keep one line per rule, so that the sheet is readable in the browser's tools.
        if result.last == UInt8(ascii: "}"), byte != UInt8(ascii: "}") { result.append(UInt8(ascii: "\n")) }
        result.append(byte)
        index += 1
        guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { return }
        while index < source.count {
            let next = source[index]
            result.append(next)
            index += 1
            if next == UInt8(ascii: "\\"), index < source.count {
                result.append(source[index])
                index += 1
            }
            if next == byte { return }
        }
    }

    /// Whether spaces on both sides of this byte are insignificant. Excludes the colon: a space before it
    /// changes a selector.
    private static func separates(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: ">"):
            true
        default: false
        }
    }
}
