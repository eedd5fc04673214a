/// Random numbers that depend only on a seed, a rule and the number of the request among those that the rule
/// matches, so that the same requests get the same faults, whatever happens at the same time.
package struct FaultRandom {
    private var state: UInt64

    package init(seed: UInt64, rule: Int, occurrence: UInt64) {
        // SplitMix64: each input is mixed in separately, so that neighbors have unrelated sequences.
        state = seed
        state = next() ^ UInt64(truncatingIfNeeded: rule)
        state = next() ^ occurrence
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// Returns a number from 0 up to but not including 1.
    package mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
