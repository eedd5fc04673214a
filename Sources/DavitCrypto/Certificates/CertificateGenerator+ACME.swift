#if TLS
internal import COpenSSL
package import DavitHTTP

extension CertificateGenerator {
    /// The validity of a self-signed certificate without an authority: seven days.
    private static let temporarySeconds: Int64 = 7 * 86_400

    /// Creates a certificate that is signed with its own key, for the validation of a name by an ACME server (RFC 8737 §3), or
    /// until there is another certificate. It is valid for seven days.
    ///
    /// - Parameters:
    ///   - names: DNS names, in ASCII.
    ///   - identifier: the SHA-256 digest of a key authorization, 32 bytes, for a critical extension `acmeIdentifier`; nil
    ///     without one.
    package static func makeSelfSigned(
        names: [String], acmeIdentifier identifier: [UInt8]? = nil, now: Timestamp
    ) throws(Problem) -> Pair {
        let hosts = try HostList(names: names, addresses: [])
        do throws(CryptoError) {
            let key = try PrivateKey.makeP256()
            let first = now.adding(seconds: -backdatedSeconds)
            let draft = try CertificateDraft(
                key: key, commonName: hosts.commonName,
                validity: first...now.adding(seconds: temporarySeconds))
            try draft.setIssuer(nil)
            try draft.addExtension(NID_basic_constraints, "critical,CA:FALSE", issuer: nil)
            try draft.addExtension(NID_key_usage, "critical,digitalSignature", issuer: nil)
            try draft.addExtension(NID_ext_key_usage, "serverAuth", issuer: nil)
            try draft.addExtension(NID_subject_alt_name, hosts.alternativeName, issuer: nil)
            if let identifier {
                // An octet string within the extension.
                try draft.addCriticalExtension(
                    acmeIdentifier, [0x04, UInt8(identifier.count)] + identifier)
            }
            return Pair(certificate: try draft.signed(with: key), key: key)
        } catch {
            throw .failed(error)
        }
    }

    /// The object identifier of the extension (RFC 8737 §6.1).
    private static let acmeIdentifier = "1.3.6.1.5.5.7.1.31"

    /// Creates a certificate signing request (RFC 2986) for DNS names, without a subject, in DER.
    /// - Parameter names: DNS names, in ASCII; `*` may be the first label.
    package static func makeRequest(names: [String], key: PrivateKey) throws(Problem) -> [UInt8] {
        let hosts = try HostList(names: names, addresses: [])
        guard let request = unsafe X509_REQ_new() else { throw .failed(CryptoError("X509_REQ_new")) }
        defer { unsafe X509_REQ_free(request) }
        guard unsafe X509_REQ_set_version(request, 0) == 1,
            unsafe X509_REQ_set_pubkey(request, key.handle) == 1
        else { throw .failed(CryptoError("X509_REQ_set_pubkey")) }
        guard unsafe davit_add_alternative_names(request, hosts.alternativeName) == 1 else {
            throw .failed(CryptoError("X509_REQ_add_extensions"))
        }
        guard unsafe X509_REQ_sign(request, key.handle, EVP_sha256()) > 0 else {
            throw .failed(CryptoError("X509_REQ_sign"))
        }
        let count = unsafe i2d_X509_REQ(request, nil)
        guard count > 0 else { throw .failed(CryptoError("i2d_X509_REQ")) }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var pointer = buffer.baseAddress
            _ = unsafe i2d_X509_REQ(request, &pointer)
        }
        return bytes
    }
}
#endif
