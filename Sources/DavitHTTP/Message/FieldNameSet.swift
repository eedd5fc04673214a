/// A set of known field names with one bit for each ``FieldName``. Holds up to 128 names, like a
/// ``NameTable``.
///
/// Uses two words because shifting a wider integer is slower.
struct FieldNameSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    private static func bit(_ name: FieldName) -> UInt64 { 1 &<< UInt64(name.rawValue) }

    func contains(_ name: FieldName) -> Bool {
        (name.rawValue < 64 ? low : high) & Self.bit(name) != 0
    }

    mutating func insert(_ name: FieldName) {
        if name.rawValue < 64 { low |= Self.bit(name) } else { high |= Self.bit(name) }
    }

    mutating func remove(_ name: FieldName) {
        if name.rawValue < 64 { low &= ~Self.bit(name) } else { high &= ~Self.bit(name) }
    }

    mutating func removeAll() { (low, high) = (0, 0) }
}
