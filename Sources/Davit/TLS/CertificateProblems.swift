internal import DavitCrypto

extension ServerError {
    /// A message for the log.
    package var certificateReason: String {
        switch self {
        case .certificateNotUsable(let path?, let reason): "\(path): \(reason)"
        case .certificateNotUsable(nil, let reason): reason
        default: "\(self)"
        }
    }
}

#if TLS
extension Certificate.ReadError {
    var text: String {
        switch self {
        case .none: "no certificate found (PEM: -----BEGIN CERTIFICATE-----)"
        case .notReadable(let error): "cannot read certificate: \(error.reason)"
        }
    }
}

extension TLSIdentity.Problem {
    /// Returns a message for the user.
    ///
    /// - Parameter key: the path of the key file, if any.
    func text(key: String?) -> String {
        switch self {
        case .certificate(let error): error.text
        case .key(.isEncrypted): "keys with a passphrase are not supported"
        case .key(.notReadable): "no private key found (PEM: -----BEGIN PRIVATE KEY-----)"
        case .keyDoesNotMatch:
            key.map { "the key in \($0) does not match the certificate" }
                ?? "the key does not match the certificate"
        }
    }
}

extension TLSContext.Problem {
    var text: String {
        switch self {
        case .noIdentity: "no certificate is configured"
        case .noAuthority: "no certificate authority is configured for client certificates"
        case .refused(let error): "rejected by OpenSSL: \(error.reason)"
        }
    }
}

extension CertificateGenerator.Problem {
    var text: String {
        switch self {
        case .noHost: "this machine has neither a name nor an address"
        case .badName(let name): "invalid host name '\(name)'"
        case .badAddress(let address): "invalid address '\(address)'"
        case .failed(let error): "\(error.call): \(error.reason)"
        }
    }
}
#endif
