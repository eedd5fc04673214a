#if TLS
/// A certificate, the certificates between it and an authority, and its key: who a server is.
package struct TLSIdentity: Sendable {
    /// Why the bytes of the two files are no identity.
    package enum Problem: Error, Equatable, Sendable {
        case certificate(Certificate.ReadError)
        case key(PrivateKey.ReadError)
        /// The key is not the one of the first certificate.
        case keyDoesNotMatch
    }

    /// The server's own certificate first; each is signed by the next.
    package let chain: [Certificate]
    package let key: PrivateKey

    /// - Parameters:
    ///   - chain: the bytes of a PEM file, the server's own certificate first. It may have the key, too.
    ///   - key: the bytes of a PEM file, which may be the same.
    package init(chain: [UInt8], key: [UInt8]) throws(Problem) {
        do throws(Certificate.ReadError) { self.chain = try Certificate.read(pem: chain) } catch {
            throw .certificate(error)
        }
        do throws(PrivateKey.ReadError) { self.key = try PrivateKey(pem: key) } catch { throw .key(error) }
        guard self.key.belongs(to: certificate) else { throw .keyDoesNotMatch }
    }

    package init(_ pair: CertificateMaker.Pair) {
        chain = [pair.certificate]
        key = pair.key
    }

    /// The server's own certificate. A chain is never empty.
    package var certificate: Certificate { chain[0] }
}

/// Whether clients are to show certificates (RFC 8446 §4.3.2).
package enum ClientCertificates: Sendable {
    case off
    /// A client may have none; one it shows must be valid, and signed by one of these.
    case asked([Certificate])
    /// A client without a valid one is refused in the handshake.
    case demanded([Certificate])

    var authorities: [Certificate] {
        switch self {
        case .off: []
        case .asked(let authorities), .demanded(let authorities): authorities
        }
    }
}
#endif
