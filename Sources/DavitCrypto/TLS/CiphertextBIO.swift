#if TLS
internal import COpenSSL

/// A BIO for the ciphertext that a session has received but not yet read, and for the ciphertext that it has
/// written.
///
/// OpenSSL's own memory BIO would copy each outgoing byte once more. Owned by one ``TLSSession``, which is
/// used by one thread at a time.
@safe final class CiphertextBIO {
    @safe @exclusivity(unchecked) var input = ByteQueue()
    @safe @exclusivity(unchecked) var output = ByteQueue()

    /// Creates a BIO that uses this object, which must outlive the BIO.
    func makeBIO() throws(CryptoError) -> OpaquePointer {
        guard let method = unsafe Self.method, let bio = unsafe BIO_new(method) else {
            throw CryptoError("BIO_new")
        }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// Constant after initialization, and never freed.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let kind = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        guard let method = unsafe BIO_meth_new(kind, "davit") else { return nil }
        guard unsafe BIO_meth_set_read_ex(method, readCipher) == 1,
            unsafe BIO_meth_set_write_ex(method, writeCipher) == 1,
            unsafe BIO_meth_set_ctrl(method, control) == 1
        else { return nil }
        return unsafe method
    }()

    fileprivate static func of(_ bio: OpaquePointer?) -> CiphertextBIO? {
        guard let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<CiphertextBIO>.fromOpaque(data).takeUnretainedValue()
    }
}

/// Flags by which OpenSSL distinguishes an empty queue from a broken connection.
private let waitsForInput = BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY

private func readCipher(
    _ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ room: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let pipe = unsafe CiphertextBIO.of(bio) else { return -1 }
    unsafe BIO_clear_flags(bio, waitsForInput)
    let taken = unsafe pipe.input.take(into: UnsafeMutableRawBufferPointer(start: bytes, count: room))
    unsafe count?.pointee = taken
    if taken > 0 { return 1 }
    unsafe BIO_set_flags(bio, waitsForInput)
    return -1
}

private func writeCipher(
    _ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ length: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> Int32 {
    guard let pipe = unsafe CiphertextBIO.of(bio) else { return -1 }
    unsafe BIO_clear_flags(bio, waitsForInput)
    unsafe pipe.output.append(UnsafeRawBufferPointer(start: bytes, count: length))
    unsafe count?.pointee = length
    return 1
}

private func control(
    _ bio: OpaquePointer?, _ command: Int32, _ number: Int, _ data: UnsafeMutableRawPointer?
) -> Int {
    guard let pipe = unsafe CiphertextBIO.of(bio) else { return 0 }
    switch command {
    // Writes are queued immediately, so there is nothing to flush.
    case BIO_CTRL_FLUSH: return 1
    case BIO_CTRL_PENDING: return pipe.input.count
    case BIO_CTRL_WPENDING: return pipe.output.count
    default: return 0
    }
}
#endif
