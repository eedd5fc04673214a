#if TLS
internal import COpenSSL
package import DavitCrypto
package import DavitHTTP

/// Unwraps an object that OpenSSL has created; throws if it is null, which indicates a mistake in a test.
package func made(_ pointer: OpaquePointer?) throws -> OpaquePointer {
    guard let pointer = unsafe pointer else { throw CryptoError(call: "made", reason: "null pointer") }
    return unsafe pointer
}

/// Checks the result of an OpenSSL call; throws on failure, which indicates a mistake in a test.
package func require(_ isTrue: Bool) throws {
    guard isTrue else { throw CryptoError(call: "require", reason: "an OpenSSL call failed") }
}

/// Certificates that ``CertificateGenerator`` does not create: client certificates, certificates with RSA
/// keys, and invalid certificates.
package struct TestCertificate {
    package enum Kind {
        case p256
        case rsa(bits: Int32)
    }

    package let chain: [UInt8]
    package let key: [UInt8]

    package init(chain: [UInt8], key: [UInt8]) {
        self.chain = chain
        self.key = key
    }

    package init(_ pair: CertificateGenerator.Pair) throws {
        self.init(chain: try pair.certificate.pem(), key: try pair.key.pem())
    }

    /// Creates a certificate, by default valid for one day from now. Uses the system clock, because OpenSSL
    /// checks certificates against it.
    ///
    /// - Parameters:
    ///   - extensions: the extensions in OpenSSL's text form.
    ///   - issuer: the issuer; nil for a self-signed certificate.
    ///   - seconds: the seconds from now until it expires; negative for an expired one.
    package static func make(
        _ name: String, kind: Kind = .p256, extensions: [(Int32, String)] = [],
        issuer: TestCertificate? = nil, seconds: Int = 86_400
    ) throws -> TestCertificate {
        let key = try unsafe made(makeKey(kind))
        defer { unsafe EVP_PKEY_free(key) }
        let certificate = try unsafe made(X509_new())
        defer { unsafe X509_free(certificate) }
        unsafe X509_set_version(certificate, 2)
        unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), min(0, seconds) - 60)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), seconds)
        unsafe X509_set_pubkey(certificate, key)
        let subject = unsafe X509_get_subject_name(certificate)
        unsafe X509_NAME_add_entry_by_NID(
            subject, NID_commonName, V_ASN1_UTF8STRING, Array(name.utf8), Int32(name.utf8.count), -1, 0)
        let issuerCertificate = try unsafe issuer.map { try unsafe readCertificate($0.chain) }
        let issuerKey = try unsafe issuer.map { try unsafe readKey($0.key) }
        defer {
            unsafe X509_free(issuerCertificate ?? nil)
            unsafe EVP_PKEY_free(issuerKey ?? nil)
        }
        unsafe X509_set_issuer_name(
            certificate, issuerCertificate.map { unsafe X509_get_subject_name($0) } ?? subject)
        for (kind, value) in extensions {
            let made = try unsafe made(X509V3_EXT_conf_nid(nil, nil, kind, value))
            unsafe X509_add_ext(certificate, made, -1)
            unsafe X509_EXTENSION_free(made)
        }
        try require(unsafe X509_sign(certificate, issuerKey ?? key, EVP_sha256()) > 0)
        return TestCertificate(
            chain: unsafe pem { unsafe PEM_write_bio_X509($0, certificate) },
            key: unsafe pem { unsafe PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) })
    }

    /// Returns the key encrypted with a passphrase.
    package func encryptedKey() throws -> [UInt8] {
        let key = try unsafe Self.readKey(key)
        defer { unsafe EVP_PKEY_free(key) }
        return unsafe Self.pem {
            unsafe PEM_write_bio_PKCS8PrivateKey($0, key, EVP_aes_128_cbc(), "secret", 6, nil, nil)
        }
    }

    package static func readCertificate(_ pem: [UInt8]) throws -> OpaquePointer {
        let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
        defer { unsafe BIO_free(bio) }
        return try unsafe made(PEM_read_bio_X509(bio, nil, nil, nil))
    }

    package static func readKey(_ pem: [UInt8]) throws -> OpaquePointer {
        let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
        defer { unsafe BIO_free(bio) }
        return try unsafe made(PEM_read_bio_PrivateKey(bio, nil, nil, nil))
    }

    private static func makeKey(_ kind: Kind) -> OpaquePointer? {
        guard case .rsa(let bits) = kind else { return unsafe davit_make_p256_key() }
        let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        unsafe EVP_PKEY_keygen_init(context)
        unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits)
        unsafe EVP_PKEY_keygen(context, &key)
        return unsafe key
    }

    private static func pem(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(bio) }
        _ = unsafe write(bio)
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(bio))
        unsafe BIO_read(bio, &bytes, Int32(bytes.count))
        return bytes
    }
}

/// Shared fixtures of the TLS tests, created once: a certificate authority and a server certificate for
/// `localhost`.
package enum TestPKI {
    package static let now = Timestamp(seconds: Int64(currentSeconds()))
    package static let authority = Result { try CertificateGenerator.makeAuthority(named: "Tests", now: now) }
    /// OpenSSL's NID of subjectAltName.
    package static let alternativeName = NID_subject_alt_name
    package static let server = Result { try leaf("localhost") }

    package static func leaf(_ names: String...) throws -> TLSIdentity {
        TLSIdentity(
            try CertificateGenerator.makeLeaf(
                names: names, addresses: [], authority: try authority.get(), now: now))
    }

    package static func client(
        _ name: String, signedBy issuer: CertificateGenerator.Pair, purpose: String = "clientAuth",
        seconds: Int = 86_400
    ) throws -> TestCertificate {
        try TestCertificate.make(
            name, extensions: [(NID_ext_key_usage, purpose), (NID_key_usage, "digitalSignature")],
            issuer: TestCertificate(issuer), seconds: seconds)
    }

    /// Returns the time that OpenSSL uses to check certificates, so that valid ones can be created.
    private static func currentSeconds() -> Int {
        var days: Int32 = 0
        var seconds: Int32 = 0
        let epoch = unsafe ASN1_TIME_set(nil, 0)
        defer { unsafe ASN1_TIME_free(epoch) }
        // A null pointer means the current time.
        unsafe ASN1_TIME_diff(&days, &seconds, epoch, nil)
        return Int(days) * 86_400 + Int(seconds)
    }
}
#endif
