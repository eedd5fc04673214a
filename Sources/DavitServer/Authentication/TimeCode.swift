#if TLS
internal import DavitCrypto

/// Time-based one-time passwords (RFC 6238): HMAC with SHA-1, six digits, a new code every 30 seconds.
package enum TimeCode {
    /// Length of a secret in bytes, as RFC 4226 §4 recommends.
    package static let secretBytes = 20
    package static let digits = 6
    private static let stepSeconds: Int64 = 30

    package static func makeSecret() -> [UInt8] { RandomBytes.make(count: secretBytes) }

    /// Returns the time step of a time in seconds since 1970.
    package static func step(at seconds: Int64) -> Int64 { seconds / stepSeconds }

    /// Returns the code of a time step, with leading zeros (RFC 4226 §5.3); nil if OpenSSL fails.
    package static func code(_ secret: [UInt8], step: Int64) -> String? {
        var counter: [UInt8] = []
        for shift in stride(from: 56, through: 0, by: -8) {
            counter.append(UInt8(truncatingIfNeeded: step >> Int64(shift)))
        }
        guard let hash = try? HMACSHA1.make(for: counter.span, key: secret.span) else { return nil }
        let offset = Int(hash[hash.count - 1] & 15)
        var value = UInt32(hash[offset] & 127)
        for index in 1...3 { value = value << 8 | UInt32(hash[offset + index]) }
        let text = String(value % 1_000_000)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// Returns the time step of a correct code: the current one, or the one before or after it, because clocks
    /// differ (RFC 6238 §5.2). Returns nil for a wrong code.
    /// - Parameter used: codes of this time step and of earlier ones are not accepted.
    package static func step(
        of code: String, _ secret: [UInt8], at seconds: Int64, after used: Int64
    ) -> Int64? {
        let current = step(at: seconds)
        var found: Int64?
        // Compare with all of them, so that the time does not depend on which one matches.
        for step in (current - 1)...(current + 1) where step > used {
            guard let expected = Self.code(secret, step: step) else { continue }
            if ConstantTime.areEqual(Array(expected.utf8), Array(code.utf8)), found == nil { found = step }
        }
        return found
    }
}
#endif
