#if TLS
/// The identity of a server: a certificate, the intermediate certificates between it and an authority, and
/// its key.
package struct TLSIdentity: Sendable {
    /// The reason why two PEM files are not a valid identity.
    package enum Problem: Error, Equatable, Sendable {
        case certificate(Certificate.ReadError)
        case key(PrivateKey.ReadError)
        /// The key does not belong to the first certificate.
        case keyDoesNotMatch
    }

    /// The server's certificate first; each is expected to be signed by the next one.
    package let chain: [Certificate]
    package let key: PrivateKey

    /// - Parameters:
    ///   - chain: the contents of a PEM file, with the server's certificate first. It may also contain the
    ///     key.
    ///   - key: the contents of a PEM file, which may be the same.
    package init(chain: [UInt8], key: [UInt8]) throws(Problem) {
        do throws(Certificate.ReadError) { self.chain = try Certificate.read(pem: chain) } catch {
            throw .certificate(error)
        }
        do throws(PrivateKey.ReadError) { self.key = try PrivateKey(pem: key) } catch { throw .key(error) }
        guard self.key.belongs(to: certificate) else { throw .keyDoesNotMatch }
    }

    package init(_ pair: CertificateGenerator.Pair) {
        chain = [pair.certificate]
        key = pair.key
    }

    /// The server's certificate; the chain is never empty.
    package var certificate: Certificate { chain[0] }
}

/// Whether the server requests certificates from clients (RFC 8446 §4.3.2).
package enum ClientCertificates: Sendable {
    case off
    /// A certificate is optional; if presented, it must be valid and signed by one of these authorities.
    case asked([Certificate])
    /// A client without a valid certificate is rejected in the handshake.
    case demanded([Certificate])

    var authorities: [Certificate] {
        switch self {
        case .off: []
        case .asked(let authorities), .demanded(let authorities): authorities
        }
    }
}
#endif
