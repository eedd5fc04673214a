#if TLS
internal import COpenSSL

/// A memory buffer from which OpenSSL reads PEM and into which it writes text.
@safe struct MemoryBIO: ~Copyable {
    let handle: OpaquePointer

    init() throws(CryptoError) {
        guard let made = unsafe BIO_new(BIO_s_mem()) else { throw CryptoError("BIO_new") }
        unsafe handle = made
    }

    static func holding(_ bytes: [UInt8]) throws(CryptoError) -> MemoryBIO {
        let bio = try MemoryBIO()
        let count = Int32(clamping: bytes.count)
        guard unsafe bytes.isEmpty || BIO_write(bio.handle, bytes, count) == bytes.count else {
            throw CryptoError("BIO_write")
        }
        return bio
    }

    deinit { unsafe BIO_free_all(handle) }

    /// Returns and removes everything written so far.
    func take() throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(handle))
        let count = Int32(clamping: bytes.count)
        guard unsafe bytes.isEmpty || BIO_read(handle, &bytes, count) == bytes.count else {
            throw CryptoError("BIO_read")
        }
        return bytes
    }
}
#endif
