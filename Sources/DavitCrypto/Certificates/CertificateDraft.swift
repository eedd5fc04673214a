#if TLS
internal import COpenSSL
internal import DavitHTTP

/// A certificate under construction. It is a class so that the handle is freed if the initializer fails
/// halfway.
@safe final class CertificateDraft {
    private let handle: OpaquePointer

    /// Creates a version 3 certificate with a random serial number (RFC 5280 §4.1.2.2).
    init(
        key: PrivateKey, commonName: String, validity: ClosedRange<Timestamp>
    ) throws(CryptoError) {
        guard let made = unsafe X509_new() else { throw CryptoError("X509_new") }
        unsafe handle = made
        try setSerialNumber()
        let first = unsafe ASN1_TIME_set(X509_getm_notBefore(handle), Int(validity.lowerBound.seconds))
        let last = unsafe ASN1_TIME_set(X509_getm_notAfter(handle), Int(validity.upperBound.seconds))
        guard unsafe first != nil && last != nil else { throw CryptoError("ASN1_TIME_set") }
        guard unsafe X509_set_version(handle, 2) == 1, unsafe X509_set_pubkey(handle, key.handle) == 1 else {
            throw CryptoError("X509_set_pubkey")
        }
        let code = unsafe X509_NAME_add_entry_by_NID(
            X509_get_subject_name(handle), NID_commonName, V_ASN1_UTF8STRING, Array(commonName.utf8),
            Int32(clamping: commonName.utf8.count), -1, 0)
        guard code == 1 else { throw CryptoError("X509_NAME_add_entry_by_NID") }
    }

    deinit { unsafe X509_free(handle) }

    private func setSerialNumber() throws(CryptoError) {
        var bytes = RandomBytes.make(count: 16)
        // Make the serial number positive, without leading zero bytes.
        bytes[0] = bytes[0] & 0x3f | 0x40
        guard let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) else {
            throw CryptoError("BN_bin2bn")
        }
        defer { unsafe BN_free(number) }
        guard unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(handle)) != nil else {
            throw CryptoError("BN_to_ASN1_INTEGER")
        }
    }

    /// Sets the issuer; nil for a self-signed certificate. Call this before adding the key identifier
    /// extensions.
    func setIssuer(_ issuer: Certificate?) throws(CryptoError) {
        let name = unsafe X509_get_subject_name(issuer?.handle ?? handle)
        guard unsafe X509_set_issuer_name(handle, name) == 1 else {
            throw CryptoError("X509_set_issuer_name")
        }
    }

    /// Adds an extension in OpenSSL's text form (x509v3_config(5)).
    ///
    /// - Parameter value: must contain only validated names, because a comma begins another value.
    func addExtension(_ kind: Int32, _ value: String, issuer: Certificate?) throws(CryptoError) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer?.handle ?? handle, handle, nil, nil, 0)
        guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, kind, value) else {
            throw CryptoError("X509V3_EXT_conf_nid")
        }
        defer { unsafe X509_EXTENSION_free(made) }
        guard unsafe X509_add_ext(handle, made, -1) == 1 else { throw CryptoError("X509_add_ext") }
    }

    /// Adds a critical extension.
    ///
    /// - Parameters:
    ///   - identifier: the object identifier, as numbers separated by dots.
    ///   - value: the content in DER.
    func addCriticalExtension(_ identifier: String, _ value: [UInt8]) throws(CryptoError) {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else { throw CryptoError("OBJ_txt2obj") }
        defer { unsafe ASN1_OBJECT_free(object) }
        guard let octets = unsafe ASN1_OCTET_STRING_new() else { throw CryptoError("ASN1_OCTET_STRING_new") }
        defer { unsafe ASN1_OCTET_STRING_free(octets) }
        guard unsafe ASN1_OCTET_STRING_set(octets, value, Int32(clamping: value.count)) == 1 else {
            throw CryptoError("ASN1_OCTET_STRING_set")
        }
        guard let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, 1, octets) else {
            throw CryptoError("X509_EXTENSION_create_by_OBJ")
        }
        defer { unsafe X509_EXTENSION_free(made) }
        guard unsafe X509_add_ext(handle, made, -1) == 1 else { throw CryptoError("X509_add_ext") }
    }

    /// Signs the certificate with SHA-256. The result shares the draft's memory, so the draft must not be
    /// changed afterwards.
    func signed(with key: PrivateKey) throws(CryptoError) -> Certificate {
        guard unsafe X509_sign(handle, key.handle, EVP_sha256()) > 0 else { throw CryptoError("X509_sign") }
        guard unsafe X509_up_ref(handle) == 1 else { throw CryptoError("X509_up_ref") }
        return unsafe Certificate(owning: handle)
    }
}
#endif
