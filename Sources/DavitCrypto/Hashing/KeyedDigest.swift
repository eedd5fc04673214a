#if TLS
internal import COpenSSL
internal import Synchronization

/// SHA-256 of a key followed by a message, for looking up secrets that recur often.
///
/// Codes must stay in this process: given a code, the code of a longer message can be computed (length
/// extension), which ``HMACSHA256`` prevents with a second pass. The digest context is reused, because
/// OpenSSL's one-shot functions allocate memory each time. If another thread is using the context, a new one
/// is created.
@safe package final class KeyedDigest: Sendable {
    /// The code of a message.
    package struct Code: Hashable, Sendable {
        private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        fileprivate init(_ bytes: UnsafeMutableRawBufferPointer) {
            unsafe withUnsafeMutableBytes(of: &words) {
                unsafe $0.copyMemory(from: UnsafeRawBufferPointer(bytes))
            }
        }

        package static func == (a: Code, b: Code) -> Bool { a.words == b.words }

        /// Hashes only the first word, which suffices because all bits are uniformly distributed.
        package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

        package var bytes: [UInt8] { unsafe withUnsafeBytes(of: words) { unsafe Array($0) } }
    }

    private static let codeLength = 32

    private let key: [UInt8]
    private let lock = Mutex(())
    /// The reusable digest context; protected by `lock`.
    nonisolated(unsafe) private let context: OpaquePointer

    /// - Parameter key: 16 random bytes, with which a message of up to 39 bytes fits in one block.
    package init(key: [UInt8]) throws(CryptoError) {
        self.key = key
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

    /// Returns the code of a message; nil if OpenSSL fails.
    private func make(_ message: UnsafeRawBufferPointer, _ context: OpaquePointer) -> Code? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.codeLength, alignment: 8) { code in
            guard unsafe EVP_DigestInit_ex2(context, nil, nil) == 1,
                unsafe EVP_DigestUpdate(context, key, key.count) == 1,
                unsafe EVP_DigestUpdate(context, message.baseAddress, message.count) == 1,
                unsafe EVP_DigestFinal_ex(context, code.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
                    == 1
            else { return nil }
            return unsafe Code(code)
        }
    }
}
#endif
