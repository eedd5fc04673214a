/// Comparison of secrets.
package enum ConstantTime {
    /// Whether both byte sequences are equal. The time depends on their lengths, never on their contents;
    /// compare only values of known length, such as digests.
    // Not inlined, so that the compiler cannot turn it into a comparison that ends early when one side is
    // known.
    @inline(never)
    package static func areEqual(_ a: borrowing Span<UInt8>, _ b: borrowing Span<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<a.count { difference |= a[index] ^ b[index] }
        return difference == 0
    }

    package static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool { areEqual(a.span, b.span) }
}
