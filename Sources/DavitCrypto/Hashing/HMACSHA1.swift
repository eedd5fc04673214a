#if TLS
/// HMAC with SHA-1 (RFC 2104): 20 bytes. Only for protocols that require it, such as RFC 6238, whose codes do not
/// depend on the resistance of SHA-1 to collisions.
package enum HMACSHA1 {
    package static func make(
        for message: borrowing Span<UInt8>, key: borrowing Span<UInt8>
    ) throws(CryptoError) -> [UInt8] {
        try HMACSHA256.make(.sha1, for: message, key: key)
    }
}
#endif
