#if TLS
internal import COpenSSL
internal import Synchronization

/// HMAC with SHA-256, as ``MessageCode``, under one key and for many short messages.
///
/// Keeps its digest context: OpenSSL's one-shot functions make ten allocations each time. Who comes while another
/// thread uses it makes one for himself.
@safe package final class MessageCoder: Sendable {
    /// The code of a message.
    package struct Code: Hashable, Sendable {
        private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        fileprivate init(_ bytes: UnsafeMutableRawBufferPointer) {
            unsafe withUnsafeMutableBytes(of: &words) {
                unsafe $0.copyMemory(from: UnsafeRawBufferPointer(bytes))
            }
        }

        package static func == (a: Code, b: Code) -> Bool { a.words == b.words }

        /// All bits are equally random.
        package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

        package var bytes: [UInt8] { unsafe withUnsafeBytes(of: words) { unsafe Array($0) } }
    }

    private static let blockLength = 64
    private static let codeLength = 32

    /// The key, combined with the two pads (RFC 2104 §2).
    private let inner: [UInt8]
    private let outer: [UInt8]
    private let lock = Mutex(())
    /// Used by whoever has `lock`.
    nonisolated(unsafe) private let context: OpaquePointer

    /// - Parameter key: 64 bytes at most; further ones do not count.
    package init(key: [UInt8]) throws(CryptoError) {
        let padded =
            key.prefix(Self.blockLength) + [UInt8](repeating: 0, count: max(0, Self.blockLength - key.count))
        inner = padded.map { $0 ^ 0x36 }
        outer = padded.map { $0 ^ 0x5C }
        unsafe context = try Self.makeContext()
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    private static func makeContext() throws(CryptoError) -> OpaquePointer {
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptoError("EVP_MD_CTX_new") }
        guard let method = unsafe Digest.Algorithm.sha256.method,
            unsafe EVP_DigestInit_ex2(context, method, nil) == 1
        else {
            unsafe EVP_MD_CTX_free(context)
            throw CryptoError("EVP_DigestInit_ex2")
        }
        return unsafe context
    }

    package func code(for message: borrowing Span<UInt8>) throws(CryptoError) -> Code {
        let code = unsafe message.withUnsafeBytes { message in
            if let kept = lock.withLockIfAvailable({ _ in unsafe make(message, context) }) { return kept }
            guard let own = unsafe try? Self.makeContext() else { return nil }
            defer { unsafe EVP_MD_CTX_free(own) }
            return unsafe make(message, own)
        }
        guard let code else { throw CryptoError("EVP_DigestUpdate") }
        return code
    }

    /// Nil if OpenSSL fails.
    private func make(_ message: UnsafeRawBufferPointer, _ context: OpaquePointer) -> Code? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.codeLength, alignment: 8) { code in
            guard unsafe digest(inner, message, context, code),
                unsafe digest(outer, UnsafeRawBufferPointer(code), context, code)
            else { return nil }
            return unsafe Code(code)
        }
    }

    private func digest(
        _ key: [UInt8], _ message: UnsafeRawBufferPointer, _ context: OpaquePointer,
        _ result: UnsafeMutableRawBufferPointer
    ) -> Bool {
        unsafe EVP_DigestInit_ex2(context, nil, nil) == 1
            && EVP_DigestUpdate(context, key, key.count) == 1
            && EVP_DigestUpdate(context, message.baseAddress, message.count) == 1
            && EVP_DigestFinal_ex(context, result.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
    }
}
#endif
