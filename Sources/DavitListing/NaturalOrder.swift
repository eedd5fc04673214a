/// Natural order of names: ignores the case of ASCII letters, and compares numbers by value.
public enum NaturalOrder {
    /// Whether `a` precedes `b`. A strict total order of different names.
    public static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool { precedes(a.span, b.span) }

    static func precedes(_ a: borrowing Span<UInt8>, _ b: borrowing Span<UInt8>) -> Bool {
        var i = 0
        var j = 0
        while i < a.count, j < b.count {
            if isDigit(a[i]), isDigit(b[j]) {
                let first = number(in: a, at: &i)
                let second = number(in: b, at: &j)
                if first.count != second.count { return first.count < second.count }
                for (x, y) in zip(first, second) where a[x] != b[y] { return a[x] < b[y] }
            } else {
                let first = lowercase(a[i])
                let second = lowercase(b[j])
                if first != second { return first < second }
                i += 1
                j += 1
            }
        }
        if i < a.count || j < b.count { return j < b.count }
        // The names differ only in case or leading zeros.
        for index in 0..<min(a.count, b.count) where a[index] != b[index] { return a[index] < b[index] }
        return a.count < b.count
    }

    /// Returns the range of the digits without leading zeros and advances `index` past them.
    private static func number(in name: borrowing Span<UInt8>, at index: inout Int) -> Range<Int> {
        while index < name.count, name[index] == UInt8(ascii: "0") { index += 1 }
        let start = index
        while index < name.count, isDigit(name[index]) { index += 1 }
        return start..<index
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

    private static func lowercase(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }
}
