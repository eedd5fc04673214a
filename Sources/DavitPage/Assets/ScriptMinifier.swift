/// Removes comments, indentation and spaces next to punctuation from a script. Keeps line ends, except next
/// to brackets, because they end statements (ECMA-262 §12.10), and the contents of strings, templates and
/// regular expressions.
struct ScriptMinifier {
    private let source: [UInt8]
    private var index = 0
    private var result: [UInt8] = []
    /// The white space between the last token and the next one.
    private var gap = Gap.none
    /// The number of open braces in the expression of each enclosing template.
    private var templates: [Int] = []

    private enum Gap { case none, space, line }

    static func of(_ source: [UInt8]) -> [UInt8] {
        var script = ScriptMinifier(source: source)
        script.run()
        if let last = script.result.last, last != UInt8(ascii: "\n") {
            script.result.append(UInt8(ascii: "\n"))
        }
        return script.result
    }

    private init(source: [UInt8]) {
        self.source = source
        result.reserveCapacity(source.count)
    }

    private mutating func run() {
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                gap = .line
                index += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                if gap == .none { gap = .space }
                index += 1
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"): skipLine()
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): skipComment()
            default: token(byte)
            }
        }
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        index + distance < source.count ? source[index + distance] : nil
    }

    private mutating func skipLine() {
        while let byte = peek(), byte != UInt8(ascii: "\n") { index += 1 }
    }

    private mutating func skipComment() {
        if gap == .none { gap = .space }
        index += 2
        while let byte = peek() {
            if byte == UInt8(ascii: "\n") { gap = .line }
            if byte == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                index += 2
                return
            }
            index += 1
        }
    }

    private mutating func token(_ byte: UInt8) {
        closeGap(before: byte)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): copyString(to: byte)
        case UInt8(ascii: "`"): copyTemplate()
        case UInt8(ascii: "/") where isExpressionExpected: copyRegularExpression()
        case UInt8(ascii: "{"):
            if let open = templates.last { templates[templates.count - 1] = open + 1 }
            copy()
        case UInt8(ascii: "}"):
            if let open = templates.last {
                if open == 0 {
                    templates.removeLast()
                    copyTemplate()
                    return
                }
                templates[templates.count - 1] = open - 1
            }
            copy()
        default: copy()
        }
    }

    private mutating func copy() {
        result.append(source[index])
        index += 1
    }

    private mutating func closeGap(before next: UInt8) {
        defer { gap = .none }
        guard let last = result.last, last != UInt8(ascii: "\n") else { return }
        switch gap {
        case .none: break
        case .line:
            // A closing bracket also ends a statement; `1.a` is not a number.
            let isNumber = UInt8(ascii: "0")...UInt8(ascii: "9") ~= last
            if !Self.goesOn(behind: last) && !Self.goesOn(with: next) && !Self.closes(next)
                || isNumber && next == UInt8(ascii: ".")
            {
                result.append(UInt8(ascii: "\n"))
            }
        case .space:
            // `a + +b` must not become `a ++b`.
            let isSum = Self.isSign(last) && Self.isSign(next)
            if isSum || !(Self.isTight(last) || Self.isTight(next)) { result.append(UInt8(ascii: " ")) }
        }
    }

    private mutating func copyString(to end: UInt8) {
        copy()
        while let byte = peek() {
            copy()
            if byte == UInt8(ascii: "\\"), peek() != nil { copy() }
            if byte == end { return }
        }
    }

    /// Copies a template from its start, or from the end of one of its expressions, to its end or the next
    /// expression.
    private mutating func copyTemplate() {
        copy()
        while let byte = peek() {
            copy()
            if byte == UInt8(ascii: "\\"), peek() != nil {
                copy()
            } else if byte == UInt8(ascii: "`") {
                return
            } else if byte == UInt8(ascii: "$"), peek() == UInt8(ascii: "{") {
                copy()
                templates.append(0)
                return
            }
        }
    }

    private mutating func copyRegularExpression() {
        copy()
        var isInClass = false
        while let byte = peek(), byte != UInt8(ascii: "\n") {
            copy()
            switch byte {
            case UInt8(ascii: "\\"): if peek() != nil { copy() }
            case UInt8(ascii: "["): isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            case UInt8(ascii: "/"): if !isInClass { return }
            default: break
            }
        }
    }

    /// Whether `/` begins a regular expression here; after a value it is a division.
    private var isExpressionExpected: Bool {
        guard let last = result.last(where: { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: " ") }) else {
            return true
        }
        if [UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "`")].contains(last) {
            return false
        }
        if last == UInt8(ascii: "\"") || last == UInt8(ascii: "'") { return false }
        guard Self.isPartOfName(last) else { return true }
        let text = result.reversed().drop { !Self.isPartOfName($0) }
        let word = String(decoding: Array(text.prefix(while: Self.isPartOfName).reversed()), as: UTF8.self)
        return ["return", "typeof", "case", "in", "of", "await", "yield", "else", "void", "delete"].contains(
            word)
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    /// Whether no statement ends with this byte. A statement can end with `+`, `-` (as in `++`) or `/`, and
    /// the next one can begin with `!` or `*`.
    private static func goesOn(behind byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: "="),
            UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "?"), UInt8(ascii: ":"):
            true
        default: false
        }
    }

    /// Whether no statement begins with this byte.
    private static func goesOn(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "&"), UInt8(ascii: "|"),
            UInt8(ascii: "="):
            true
        default: false
        }
    }

    private static func closes(_ byte: UInt8) -> Bool {
        [UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]")].contains(byte)
    }

    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    }

    /// Whether spaces next to this byte are insignificant. Not for `/`: two of them begin a comment.
    private static func isTight(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "="),
            UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "|"),
            UInt8(ascii: "*"), UInt8(ascii: "!"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "\""),
            UInt8(ascii: "^"), UInt8(ascii: "%"), UInt8(ascii: "`"):
            true
        default: false
        }
    }
}
