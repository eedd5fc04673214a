/// Returns the SHA-256 (FIPS 180-4 §6.2) in Base64; simple and slow.
func sha256Base64(_ message: [UInt8]) -> String {
    var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19,
    ]
    let constants = roundConstants()
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
        padded.append(UInt8(truncatingIfNeeded: (message.count * 8) >> shift))
    }
    for start in stride(from: 0, to: padded.count, by: 64) {
        var w = (0..<16).map { i in
            padded[(start + 4 * i)..<(start + 4 * i + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for i in 16..<64 {
            let s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3
            let s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10
            w.append(w[i - 16] &+ s0 &+ w[i - 7] &+ s1)
        }
        var v = state
        for i in 0..<64 {
            let s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let first = v[7] &+ s1 &+ choice &+ constants[i] &+ w[i]
            let s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
            v = [first &+ s0 &+ majority, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
        }
        for i in 0..<8 { state[i] &+= v[i] }
    }
    return base64(state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } })
}

private func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

/// Returns the first 32 bits of the fractional parts of the cube roots of the first 64 primes, in integer
/// arithmetic.
private func roundConstants() -> [UInt32] {
    let primes = (2...311).filter { n in !(2..<n).contains { n % $0 == 0 } }
    return primes.map { prime in
        // The largest r with r³ ≤ prime · 2⁹⁶ is the root with 32 fractional bits.
        var root: UInt128 = 0
        for bit in stride(from: 34, through: 0, by: -1) {
            let candidate = root | UInt128(1) << UInt128(bit)
            if candidate * candidate * candidate <= UInt128(prime) << 96 { root = candidate }
        }
        return UInt32(truncatingIfNeeded: root)
    }
}

private func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
        for index in 0..<4 {
            text.append(index > group.count ? "=" : alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)])
        }
    }
    return text
}
