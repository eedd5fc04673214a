/// Reports quickly that most names are not in a set, at less cost than hashing them for a dictionary (a Bloom filter).
///
/// Clients choose the names that are looked up, but the names in the set come from access rules. An account that writes rules
/// with names that collide only loses the benefit: a name that is not ruled out is looked up in the dictionary.
struct RuledNames: Sendable {
    /// Bits per name in the set, of which one is set, so that it rules out at least seven of eight other names.
    private static let bitsPerName = 8

    private var words: [UInt64]
    /// Shifts a digest to the index of its bit.
    private let shift: UInt64

    /// - Parameter names: the names in the set; those that are not ASCII are ignored.
    init(_ names: some Collection<[UInt8]>) {
        var bits = 64
        while bits < names.count * Self.bitsPerName { bits *= 2 }
        words = [UInt64](repeating: 0, count: bits / 64)
        shift = UInt64(64 - bits.trailingZeroBitCount)
        for name in names {
            guard let digest = Self.digest(name) else { continue }
            let bit = digest >> shift
            words[Int(bit / 64)] |= 1 << (bit % 64)
        }
    }

    /// Whether `name` may be in the set: true for all names in the set, and for names that are not ASCII.
    func mayContain(_ name: [UInt8]) -> Bool {
        guard let digest = Self.digest(name) else { return true }
        let bit = digest >> shift
        return words[Int(bit / 64)] & (1 << (bit % 64)) != 0
    }

    /// Returns a digest of which the upper bits depend on all bytes; nil if the name is not ASCII.
    private static func digest(_ name: [UInt8]) -> UInt64? {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        var digest = UInt64(name.count)
        var all: UInt64 = 0
        unsafe name.withUnsafeBytes { bytes in
            var offset = 0
            while offset + 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                all |= word
                digest = (digest ^ word) &* factor
                digest ^= digest >> 32
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = unsafe rest << 8 | UInt64(bytes[offset])
                offset += 1
            }
            all |= rest
            digest = (digest ^ rest) &* factor
        }
        return all & 0x8080_8080_8080_8080 == 0 ? digest &* factor : nil
    }
}
