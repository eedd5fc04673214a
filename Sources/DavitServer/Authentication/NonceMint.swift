#if TLS
internal import DavitCrypto
internal import DavitHTTP
internal import Synchronization

/// Makes nonces that it recognises without having kept them (RFC 7616 §3.3): a time, a number, and a code over both.
///
/// So a flood of requests without credentials takes no memory, and each challenge has a nonce of its own.
final class NonceMint: Sendable {
    /// What a nonce says.
    struct Content: Equatable {
        /// Counts the nonces, from 1 on.
        var number: UInt64
        /// When it was made; nanoseconds.
        var time: Int64
    }

    private static let codeLength = 16

    private let key = RandomBytes.make(count: 32)
    private let last = Atomic<UInt64>(0)

    /// Hexadecimal digits; nil if OpenSSL refuses.
    func make(now: Int64) -> [UInt8]? {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        let content = Self.bytes(UInt64(bitPattern: now)) + Self.bytes(number)
        return code(for: content).map { HexText.encode(content + $0) }
    }

    /// Nil unless it was made here.
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
        // A span of a property of a class does not live long enough.
        let key = key
        do throws(CryptoError) {
            let code = try MessageCode.make(for: content.span, key: key.span)
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
