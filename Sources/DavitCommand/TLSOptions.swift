internal import Davit
internal import DavitCrypto

/// The TLS options of the command line.
package struct TLSOptions: Hashable, Sendable {
    /// Whether client certificates are required.
    package enum Clients: String, CaseIterable, Sendable { case optional, required }

    /// Files; each key belongs to the certificate at the same index.
    package var certificates: [String] = []
    package var keys: [String] = []
    package var isSelfSigned = false
    package var clientAuthorities: String?
    package var clients: Clients?

    package init() {}

    package var isOn: Bool { !certificates.isEmpty || isSelfSigned }

    /// Checks the options for consistency.
    ///
    /// - Throws: ``UsageError`` for options that conflict or are incomplete.
    func check() throws(UsageError) {
        let given = [
            (!certificates.isEmpty, ServeOption.tlsCert), (!keys.isEmpty, .tlsKey),
            (isSelfSigned, .tlsSelfSigned), (clientAuthorities != nil, .tlsClientCA),
            (clients != nil, .tlsClients),
        ].first { $0.0 }?.1
        guard let given else { return }
        guard CryptoLibrary.isAvailable else { throw .noTLS(option: given.rawValue) }
        if certificates.count != keys.count {
            throw .certificatesAndKeys(certificates: certificates.count, keys: keys.count)
        }
        guard isOn else { throw .optionNeedsCertificate(given.rawValue) }
        if clients != nil, clientAuthorities == nil { throw .clientsWithoutAuthority }
    }

    /// Nil without TLS.
    var configuration: Configuration.TLS? {
        guard isOn else { return nil }
        var identities: [Configuration.TLS.Identity] = zip(certificates, keys).map {
            .files(certificate: $0, key: $1)
        }
        if isSelfSigned { identities.append(.selfSigned()) }
        var tls = Configuration.TLS(identities: identities)
        if let clientAuthorities {
            tls.clients =
                clients == .optional
                ? .optional(authorities: clientAuthorities) : .required(authorities: clientAuthorities)
        }
        return tls
    }
}
