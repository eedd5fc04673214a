#if TLS
internal import COpenSSL
package import DavitHTTP

/// Creates certificates for a server that has none: a private certificate authority, which users add to the
/// trusted authorities of their clients, and certificates signed by it.
package enum CertificateGenerator {
    /// A certificate and its key.
    package struct Pair: Sendable {
        package let certificate: Certificate
        package let key: PrivateKey

        package init(certificate: Certificate, key: PrivateKey) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The reason why a certificate for these hosts cannot be created.
    package enum Problem: Error, Equatable, Sendable {
        /// No name or address was given.
        case noHost
        /// Not an ASCII DNS name with at most one `*`, as the first label.
        case badName(String)
        /// Not an IP address; zone identifiers are not allowed, because they are meaningless on other hosts.
        case badAddress(String)
        case failed(CryptoError)
    }

    /// The validity of an authority: ten years.
    package static let authoritySeconds: Int64 = 3652 * 86_400
    /// The validity of a server certificate: 825 days, the maximum that Apple systems accept.
    package static let leafSeconds: Int64 = 825 * 86_400
    /// Certificates become valid one hour before their creation, for clients whose clocks are slow.
    static let backdatedSeconds: Int64 = 3600

    /// Creates an authority that can sign server certificates, but not other authorities.
    /// - Parameter name: the common name of the authority, 1 to 64 characters, which clients display.
    package static func makeAuthority(named name: String, now: Timestamp) throws(CryptoError) -> Pair {
        let key = try PrivateKey.makeP256()
        let first = now.adding(seconds: -backdatedSeconds)
        let validity = first...first.adding(seconds: authoritySeconds)
        let draft = try CertificateDraft(key: key, commonName: name, validity: validity)
        try draft.setIssuer(nil)
        try draft.addExtension(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: nil)
        try draft.addExtension(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: nil)
        try draft.addExtension(NID_subject_key_identifier, "hash", issuer: nil)
        return Pair(certificate: try draft.signed(with: key), key: key)
    }

    /// Creates a server certificate for the given hosts only, which expires no later than its authority.
    ///
    /// - Parameters:
    ///   - names: DNS names, in ASCII; `*` may be the first label.
    ///   - addresses: IPv4 and IPv6 addresses as text.
    package static func makeLeaf(
        names: [String], addresses: [String], authority: Pair, now: Timestamp
    ) throws(Problem) -> Pair {
        let hosts = try HostList(names: names, addresses: addresses)
        do throws(CryptoError) {
            let key = try PrivateKey.makeP256()
            let first = now.adding(seconds: -backdatedSeconds)
            // Both ends are inclusive (RFC 5280 §4.1.2.5).
            let last = min(
                first.adding(seconds: leafSeconds - 1), try authority.certificate.validity().upperBound)
            guard first <= last else {
                throw CryptoError(call: "makeLeaf", reason: "the authority has expired")
            }
            let draft = try CertificateDraft(key: key, commonName: hosts.commonName, validity: first...last)
            let issuer = authority.certificate
            try draft.setIssuer(issuer)
            try draft.addExtension(NID_basic_constraints, "critical,CA:FALSE", issuer: issuer)
            try draft.addExtension(NID_key_usage, "critical,digitalSignature", issuer: issuer)
            try draft.addExtension(NID_ext_key_usage, "serverAuth", issuer: issuer)
            try draft.addExtension(NID_subject_key_identifier, "hash", issuer: issuer)
            try draft.addExtension(NID_authority_key_identifier, "keyid:always", issuer: issuer)
            try draft.addExtension(NID_subject_alt_name, hosts.alternativeName, issuer: issuer)
            return Pair(certificate: try draft.signed(with: authority.key), key: key)
        } catch {
            throw .failed(error)
        }
    }
}
#endif
