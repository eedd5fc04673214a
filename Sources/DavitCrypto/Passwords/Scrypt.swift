#if TLS
internal import COpenSSL

/// The password-based key derivation function of RFC 7914, which requires memory as well as time.
package enum Scrypt {
    /// The parameters of RFC 7914 §2, which determine the time and memory needed for each guess.
    package struct Cost: Hashable, Sendable {
        /// The binary logarithm of N, the number of blocks in memory; at least 1.
        package let logN: Int
        /// The block size in units of 128 bytes; at least 1.
        package let r: Int
        /// The number of sequential repetitions; at least 1.
        package let p: Int

        /// The maximum of `N · r · p`. Memory is `128 · N · r` bytes and time is proportional to `N · r · p`,
        /// so both are bounded: 128 MiB, and four times the time of ``standard``.
        package static let limit = 1 << 20

        /// 32 MiB, and 50 to 100 ms of one core, for each guess.
        package static let standard = Cost(checkedLogN: 15, r: 8, p: 1)

        /// Returns nil for parameters that are invalid or exceed ``limit``.
        package init?(logN: Int, r: Int, p: Int) {
            // Each parameter is checked first, so that the product cannot overflow. §2: N < 2^(128 · r / 8).
            guard 1...20 ~= logN, 1...Self.limit ~= r, 1...Self.limit ~= p, logN < 16 * r else { return nil }
            guard (r * p) <= Self.limit >> logN else { return nil }
            self.init(checkedLogN: logN, r: r, p: p)
        }

        private init(checkedLogN logN: Int, r: Int, p: Int) {
            self.logN = logN
            self.r = r
            self.p = p
        }
    }

    /// Derives `count` bytes. Blocks for a time that depends on `cost`; must not be called on an event loop.
    package static func derive(
        from password: [UInt8], salt: [UInt8], cost: Cost, count: Int
    ) throws(CryptoError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: count)
        // Twice the limit of the working memory, because OpenSSL counts its other buffers as well.
        let memoryLimit = UInt64(2 * 128 * Cost.limit)
        let code = unsafe password.withUnsafeBytes { password in
            let text = unsafe password.assumingMemoryBound(to: CChar.self).baseAddress
            return unsafe EVP_PBE_scrypt(
                text, password.count, salt, salt.count, 1 << UInt64(cost.logN), UInt64(cost.r),
                UInt64(cost.p), memoryLimit, &key, count)
        }
        guard code == 1 else { throw CryptoError("EVP_PBE_scrypt") }
        return key
    }
}
#endif
