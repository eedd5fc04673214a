#if TLS
internal import COpenSSL

/// Signatures with keys on the curve P-256, as in JSON Web Signatures.
extension PrivateKey {
    /// Length of a coordinate, and of a number in a signature.
    private static let numberBytes = 32

    /// Returns the coordinates of the public key on the curve P-256, 32 bytes each; nil for keys of other kinds.
    package func p256Point() -> (x: [UInt8], y: [UInt8])? {
        defer { ErrorQueue.clear() }
        var name = [CChar](repeating: 0, count: 32)
        guard unsafe EVP_PKEY_get_group_name(handle, &name, name.count, nil) == 1,
            String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                == "prime256v1"
        else { return nil }
        var point = [UInt8](repeating: 0, count: 1 + 2 * Self.numberBytes)
        var count = 0
        guard
            unsafe EVP_PKEY_get_octet_string_param(
                handle, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, &point, point.count, &count) == 1,
            count == point.count, point[0] == 4
        else { return nil }
        return (Array(point[1...Self.numberBytes]), Array(point[(1 + Self.numberBytes)...]))
    }

    /// Returns the ECDSA signature of a message with SHA-256: `R` and `S` in 32 bytes each (RFC 7518 §3.4).
    /// - Throws: an error for keys that are not on the curve P-256.
    package func signatureP256(of message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard p256Point() != nil else {
            throw CryptoError(call: "signatureP256", reason: "the key is not on the curve P-256")
        }
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptoError("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, handle, nil) == 1 else {
            throw CryptoError("EVP_DigestSignInit_ex")
        }
        // A sequence of two numbers of at most 33 bytes, with their headers.
        var encoded = [UInt8](repeating: 0, count: 128)
        var count = encoded.count
        guard unsafe EVP_DigestSign(context, &encoded, &count, message, message.count) == 1 else {
            throw CryptoError("EVP_DigestSign")
        }
        var signature = [UInt8](repeating: 0, count: 2 * Self.numberBytes)
        guard unsafe davit_split_signature(encoded, count, &signature, Int32(Self.numberBytes)) == 1 else {
            throw CryptoError("d2i_ECDSA_SIG")
        }
        return signature
    }
}
#endif
