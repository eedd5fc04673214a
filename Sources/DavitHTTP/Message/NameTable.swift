/// A fixed set of names, looked up by their bytes without allocation.
///
/// Uses open addressing with a hash of the length and three bytes. Hits are always verified, so collisions
/// cost only time.
package struct NameTable: Sendable {
    private let names: [StaticString]
    /// Index into `names` plus one; 0 is a free slot.
    private let slots: [UInt8]
    private let ignoresCase: Bool

    private static let slotCount = 256

    /// - Parameter names: at most 128 non-empty names; if case is ignored, only letters and `-`.
    package init(_ names: [StaticString], ignoresCase: Bool) {
        var slots = [UInt8](repeating: 0, count: Self.slotCount)
        for (index, name) in names.prefix(128).enumerated() {
            let length = name.utf8CodeUnitCount
            var slot = unsafe Self.slot(
                length, name.utf8Start[0], name.utf8Start[length / 2], name.utf8Start[length - 1])
            while slots[slot] != 0 { slot = (slot + 1) % Self.slotCount }
            slots[slot] = UInt8(index + 1)
        }
        self.names = names
        self.slots = slots
        self.ignoresCase = ignoresCase
    }

    /// Returns the index of a name; nil if it is not in the table.
    package func index(of token: borrowing Span<UInt8>) -> Int? {
        let length = token.count
        if length == 0 { return nil }
        var slot = Self.slot(length, token[0], token[length / 2], token[length - 1])
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if matches(token, names[index]) { return index }
            slot = (slot + 1) % Self.slotCount
        }
        return nil
    }

    private func matches(_ token: borrowing Span<UInt8>, _ name: StaticString) -> Bool {
        guard token.count == name.utf8CodeUnitCount else { return false }
        for index in 0..<token.count {
            let expected = unsafe name.utf8Start[index]
            if token[index] == expected { continue }
            guard ignoresCase, token[index].lowercasedASCII == expected.lowercasedASCII else { return false }
        }
        return true
    }

    /// Returns the initial slot. Uses only the low five bits of each byte, which are the same for upper-case
    /// and lower-case letters.
    private static func slot(_ length: Int, _ first: UInt8, _ middle: UInt8, _ last: UInt8) -> Int {
        let letters = Int(first & 0x1F) &* 7 &+ Int(middle & 0x1F) &* 19 &+ Int(last & 0x1F) &* 37
        let mixed = length &* 59 &+ letters
        return mixed & (slotCount - 1)
    }
}

extension FieldName {
    private static let table = NameTable(allCases.dropFirst().map(\.text), ignoresCase: true)

    /// Creates the case for a field name; `other` if there is none.
    package init(parsing name: borrowing Span<UInt8>) {
        // `other` has the raw value 0 and is not in the table.
        guard let index = Self.table.index(of: name) else {
            self = .other
            return
        }
        self = FieldName(rawValue: UInt8(index + 1)) ?? .other
    }
}

extension HTTPMethod {
    private static let table = NameTable(named.map(\.name), ignoresCase: false)

    /// Creates the case for a method token; methods are case-sensitive (RFC 9110 §9.1).
    package init(parsing token: borrowing Span<UInt8>) {
        if token.count == 3, token[0] == 71, token[1] == 69, token[2] == 84 {
            self = .get  // Fast path for the most frequent method.
        } else if let index = Self.table.index(of: token) {
            self = Self.named[index].method
        } else {
            self = .other(String(decoding: [UInt8](copying: token), as: UTF8.self))
        }
    }
}
