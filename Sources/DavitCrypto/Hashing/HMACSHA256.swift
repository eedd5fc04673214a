#if TLS
internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104, RFC 4231): 32 bytes that can only be computed with the key.
package enum HMACSHA256 {
    package static func make(
        for message: borrowing Span<UInt8>, key: borrowing Span<UInt8>
    ) throws(CryptoError) -> [UInt8] {
        try make(.sha256, for: message, key: key)
    }

    /// Returns the HMAC with another digest.
    static func make(
        _ algorithm: Digest.Algorithm, for message: borrowing Span<UInt8>, key: borrowing Span<UInt8>
    ) throws(CryptoError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: algorithm.byteCount)
        // OpenSSL takes a null key as "keep the current key", so pass an address even for an empty key.
        var emptyKey: UInt8 = 0
        let isMade = unsafe message.withUnsafeBufferPointer { message in
            unsafe key.withUnsafeBytes { key in
                unsafe withUnsafePointer(to: &emptyKey) { empty in
                    unsafe HMAC(
                        algorithm.method, key.baseAddress ?? UnsafeRawPointer(empty), Int32(key.count),
                        message.baseAddress, message.count, &code, nil) != nil
                }
            }
        }
        guard isMade else { throw CryptoError("HMAC") }
        return code
    }
}
#endif
