internal import DavitCrypto

extension ServerError {
    /// In words, for the log.
    var certificateReason: String {
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
        case .none: "there is no certificate in it (PEM: -----BEGIN CERTIFICATE-----)"
        case .notReadable(let error): "a certificate in it cannot be read: \(error.reason)"
        }
    }
}

extension TLSIdentity.Problem {
    /// - Parameter key: the file of the key; nil where there is none.
    func text(key: String?) -> String {
        switch self {
        case .certificate(let error): error.text
        case .key(.isEncrypted): "the key has a pass phrase, and nobody is there to type it"
        case .key(.notReadable): "there is no private key in it (PEM: -----BEGIN PRIVATE KEY-----)"
        case .keyDoesNotMatch:
            key.map { "the key in \($0) is another certificate's" } ?? "the key is another certificate's"
        }
    }
}

extension TLSContext.Problem {
    var text: String {
        switch self {
        case .noIdentity: "there is no certificate"
        case .noAuthority: "there is no authority for clients"
        case .refused(let error): "OpenSSL refuses it: \(error.reason)"
        }
    }
}

extension CertificateMaker.Problem {
    var text: String {
        switch self {
        case .noHost: "this machine has neither a name nor an address"
        case .badName(let name): "'\(name)' is no host name"
        case .badAddress(let address): "'\(address)' is no address"
        case .failed(let error): "\(error.call): \(error.reason)"
        }
    }
}
#endif
