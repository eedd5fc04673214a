/// Comparison of secrets.
package enum ConstantTime {
    /// Whether both are the same bytes. The time depends on the lengths, never on the bytes: compare what has a
    /// known length, such as digests.
    // Not inlined: a caller that knows one side must not have it turned into a comparison that ends early.
    @inline(never)
    package static func areEqual(_ a: borrowing Span<UInt8>, _ b: borrowing Span<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<a.count { difference |= a[index] ^ b[index] }
        return difference == 0
    }

    package static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool { areEqual(a.span, b.span) }
}
