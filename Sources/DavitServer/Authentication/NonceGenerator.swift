#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import Synchronization

/// Creates nonces that can be verified without being stored (RFC 7616 §3.3): a time, a number and an
/// authentication code over both.
///
/// A flood of requests without credentials therefore uses no memory, and each challenge has a unique nonce.
final class NonceGenerator: Sendable {
    /// The content of a nonce.
    struct Content: Equatable {
        /// The sequence number of the nonce, starting at 1.
        var number: UInt64
        /// When the nonce was created, in nanoseconds.
        var time: Int64
    }

    private static let codeLength = 16

    private let key = RandomBytes.make(count: 32)
    private let last = Atomic<UInt64>(0)

    /// Returns a new nonce in hexadecimal digits; nil if OpenSSL fails.
    func make(now: Int64) -> [UInt8]? {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        let content = Self.bytes(UInt64(bitPattern: now)) + Self.bytes(number)
        return code(for: content).map { HexText.encode(content + $0) }
    }

    /// Returns the content of a nonce; nil unless it was created by this object.
    func read(_ nonce: [UInt8]) -> Content? {
        guard nonce.count == 2 * (16 + Self.codeLength), let bytes = HexText.decode(nonce) else { return nil }
        let content = Array(bytes[..<16])
        guard let code = code(for: content), ConstantTime.areEqual(code, Array(bytes[16...])) else {
            return nil
        }
        return Content(
            number: Self.word(content[8...]), time: Int64(bitPattern: Self.word(content[..<8])))
    }

    private func code(for content: [UInt8]) -> [UInt8]? {
        // The span of a class property does not live long enough.
        let key = key
        do throws(CryptoError) {
            let code = try HMACSHA256.make(for: content.span, key: key.span)
            return Array(code.prefix(Self.codeLength))
        } catch {
            return nil
        }
    }

    private static func bytes(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
#endif
