#if TLS
internal import COpenSSL

/// The private key of a certificate.
@safe package final class PrivateKey: Sendable {
    /// The reason why a PEM text cannot be used; never contains part of the text.
    package enum ReadError: Error, Equatable, Sendable {
        /// The key is encrypted with a pass phrase, which a server cannot prompt for.
        case isEncrypted
        case notReadable(CryptoError)
    }

    /// Not modified after creation.
    nonisolated(unsafe) let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// Reads the first private key in a PEM file; certificates before it are skipped.
    package convenience init(pem: [UInt8]) throws(ReadError) {
        let bio: MemoryBIO
        do throws(CryptoError) { bio = try MemoryBIO.holding(pem) } catch { throw .notReadable(error) }
        var isEncrypted = false
        // Without a callback, OpenSSL prompts for the pass phrase at the terminal and waits.
        let key = unsafe PEM_read_bio_PrivateKey(
            bio.handle, nil,
            { _, _, _, wasAsked in
                unsafe wasAsked?.storeBytes(of: true, as: Bool.self)
                return -1
            }, &isEncrypted)
        guard let key = unsafe key else {
            let error = CryptoError("PEM_read_bio_PrivateKey")
            throw isEncrypted ? .isEncrypted : .notReadable(error)
        }
        ErrorQueue.clear()
        unsafe self.init(owning: key)
    }

    /// Creates a key on the curve P-256, which clients commonly support and which signs in about 16 µs.
    package static func makeP256() throws(CryptoError) -> PrivateKey {
        guard let key = unsafe davit_make_p256_key() else { throw CryptoError("EVP_EC_gen") }
        return unsafe PrivateKey(owning: key)
    }

    /// Returns the key as unencrypted PKCS #8 in PEM, for a file that only its owner may read.
    package func pem() throws(CryptoError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard unsafe PEM_write_bio_PKCS8PrivateKey(bio.handle, handle, nil, nil, 0, nil, nil) == 1 else {
            throw CryptoError("PEM_write_bio_PKCS8PrivateKey")
        }
        return try bio.take()
    }

    package func belongs(to certificate: Certificate) -> Bool {
        defer { ErrorQueue.clear() }
        return unsafe X509_check_private_key(certificate.handle, handle) == 1
    }

    /// Whether this is an RSA key. Signing with an RSA key takes more than ten times as long as with keys of
    /// other kinds: about 230 µs with 2048 bits.
    package var signsSlowly: Bool { unsafe EVP_PKEY_get_base_id(handle) == EVP_PKEY_RSA }
}
#endif
