#if TLS
internal import COpenSSL
package import DavitHTTP

/// An X.509 certificate (RFC 5280).
@safe package final class Certificate: Sendable {
    package enum ReadError: Error, Equatable, Sendable {
        /// The text contains no certificate.
        case none
        case notReadable(CryptoError)
    }

    /// Not modified after creation; OpenSSL protects its internal caches with locks.
    nonisolated(unsafe) let handle: OpaquePointer

    /// Takes ownership of one reference.
    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe X509_free(handle) }

    /// Returns all certificates in a PEM file, at least one, in order; keys between them are skipped.
    package static func read(pem: [UInt8]) throws(ReadError) -> [Certificate] {
        let bio: MemoryBIO
        do throws(CryptoError) { bio = try MemoryBIO.holding(pem) } catch { throw .notReadable(error) }
        var certificates: [Certificate] = []
        while let next = unsafe PEM_read_bio_X509(bio.handle, nil, nil, nil) {
            unsafe certificates.append(Certificate(owning: next))
        }
        let entry = ErrorQueue.take()
        guard entry.library == ERR_LIB_PEM, entry.reason == PEM_R_NO_START_LINE else {
            throw .notReadable(CryptoError(call: "PEM_read_bio_X509", reason: entry.text))
        }
        guard !certificates.isEmpty else { throw .none }
        return certificates
    }

    package func pem() throws(CryptoError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard unsafe PEM_write_bio_X509(bio.handle, handle) == 1 else {
            throw CryptoError("PEM_write_bio_X509")
        }
        return try bio.take()
    }

    /// Returns the DER form, which contains no key.
    package func der() throws(CryptoError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard unsafe i2d_X509_bio(bio.handle, handle) == 1 else { throw CryptoError("i2d_X509_bio") }
        return try bio.take()
    }

    /// Returns the SHA-256 digest of the certificate's DER form, 32 bytes, which people use to compare
    /// certificates.
    package func fingerprint() throws(CryptoError) -> [UInt8] {
        let algorithm = Digest.Algorithm.sha256
        var bytes = [UInt8](repeating: 0, count: algorithm.byteCount)
        guard unsafe X509_digest(handle, algorithm.method, &bytes, nil) == 1 else {
            throw CryptoError("X509_digest")
        }
        return bytes
    }

    /// Returns the fingerprint in the form that browsers and `openssl x509 -fingerprint` display: `AB:CD:…`.
    package func fingerprintText() throws(CryptoError) -> String {
        let digits = String(decoding: HexText.encode(try fingerprint()), as: UTF8.self).uppercased()
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, index.isMultiple(of: 2) { text.append(":") }
            text.append(digit)
        }
        return text
    }

    /// Returns the distinguished name of the subject in the form of RFC 4514, in ASCII with other bytes
    /// escaped.
    package func subject() throws(CryptoError) -> String {
        let bio = try MemoryBIO()
        guard unsafe davit_print_name(bio.handle, X509_get_subject_name(handle)) >= 0 else {
            throw CryptoError("X509_NAME_print_ex")
        }
        return String(decoding: try bio.take(), as: UTF8.self)
    }

    /// Returns the first and the last second of the validity period.
    package func validity() throws(CryptoError) -> ClosedRange<Timestamp> {
        let first = try unsafe Self.timestamp(X509_get0_notBefore(handle))
        let last = try unsafe Self.timestamp(X509_get0_notAfter(handle))
        guard first <= last else {
            throw CryptoError(call: "X509_get0_notAfter", reason: "notAfter is before notBefore")
        }
        return first...last
    }

    private static func timestamp(_ time: UnsafePointer<ASN1_TIME>?) throws(CryptoError) -> Timestamp {
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { throw CryptoError("ASN1_TIME_set") }
        defer { unsafe ASN1_TIME_free(epoch) }
        guard let time = unsafe time, unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
            throw CryptoError("ASN1_TIME_diff")
        }
        return Timestamp(seconds: Int64(days) * 86_400 + Int64(seconds))
    }
}
#endif
