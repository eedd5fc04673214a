#if TLS
internal import COpenSSL

/// A public key for signatures that other services make.
@safe package final class PublicKey: Sendable {
    /// What a key signs with.
    package enum Algorithm: Hashable, Sendable {
        /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2).
        case rsa
        /// ECDSA on the curve P-256 with SHA-256; a signature is `R` and `S` in 32 bytes each (RFC 7518 §3.4).
        case p256
        /// Ed25519 (RFC 8032 §5.1).
        case ed25519
    }

    /// The permitted lengths of an RSA modulus in bytes: 2048 to 8192 bits. The time of a verification grows with the
    /// square of the length.
    private static let modulusBytes = 256...1024
    /// Length of a coordinate, and of a number in a signature, of P-256; and of a key of Ed25519.
    private static let numberBytes = 32

    package let algorithm: Algorithm
    /// Not modified after creation.
    nonisolated(unsafe) private let handle: OpaquePointer

    private init(owning handle: OpaquePointer, _ algorithm: Algorithm) {
        unsafe self.handle = handle
        self.algorithm = algorithm
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// Returns an RSA key; nil if it is invalid, or its length is not in the permitted range. The numbers are big-endian.
    package static func rsa(modulus: [UInt8], exponent: [UInt8]) -> PublicKey? {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        // Larger exponents are unusual and slow; even ones, and 1, cannot be those of a key.
        guard modulusBytes ~= modulus.count, 1...4 ~= exponent.count, exponent != [1],
            exponent.last.map({ $0 % 2 == 1 }) == true
        else { return nil }
        defer { ErrorQueue.clear() }
        let key = unsafe davit_make_rsa_public_key(
            modulus, Int32(modulus.count), exponent, Int32(exponent.count))
        return unsafe key.map { unsafe PublicKey(owning: $0, .rsa) }
    }

    /// Returns a key on the curve P-256; nil if the point is not on the curve, or a coordinate has not 32 bytes.
    package static func p256(x: [UInt8], y: [UInt8]) -> PublicKey? {
        guard x.count == numberBytes, y.count == numberBytes else { return nil }
        defer { ErrorQueue.clear() }
        let point = [4] + x + y
        let key = unsafe davit_make_p256_public_key(point, point.count)
        return unsafe key.map { unsafe PublicKey(owning: $0, .p256) }
    }

    /// Returns an Ed25519 key; nil if it has not 32 bytes.
    package static func ed25519(_ bytes: [UInt8]) -> PublicKey? {
        guard bytes.count == numberBytes else { return nil }
        defer { ErrorQueue.clear() }
        let key = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        return unsafe key.map { unsafe PublicKey(owning: $0, .ed25519) }
    }

    /// Returns whether a signature is one of this key for a message.
    /// - Throws: an error if OpenSSL cannot verify signatures of this kind.
    package func accepts(_ signature: [UInt8], for message: [UInt8]) throws(CryptoError) -> Bool {
        defer { ErrorQueue.clear() }
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptoError("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard
            unsafe EVP_DigestVerifyInit_ex(
                context, nil, algorithm == .ed25519 ? nil : "SHA256", nil, nil, handle, nil) == 1
        else { throw CryptoError("EVP_DigestVerifyInit_ex") }
        var encoded = signature
        if algorithm == .p256 {
            guard signature.count == 2 * Self.numberBytes else { return false }
            encoded = Self.sequence(signature[..<Self.numberBytes], signature[Self.numberBytes...])
        }
        return unsafe EVP_DigestVerify(context, encoded, encoded.count, message, message.count) == 1
    }

    /// Returns two big-endian numbers of at most 32 bytes as an ASN.1 sequence, which OpenSSL expects.
    private static func sequence(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> [UInt8] {
        let content = integer(first) + integer(second)
        return [0x30, UInt8(content.count)] + content
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        // The first bit is the sign.
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
#endif
