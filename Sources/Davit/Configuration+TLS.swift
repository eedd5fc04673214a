extension Configuration {
    /// TLS 1.2 and 1.3 on all ports of a server: who it is, and who clients must be. HTTP without TLS is answered with a
    /// redirect to the same place with `https`.
    ///
    /// ```swift
    /// configuration.tls = .init(.files(certificate: "/etc/davit/cert.pem", key: "/etc/davit/key.pem"))
    /// ```
    public struct TLS: Sendable {
        /// A certificate with its key, and where they come from.
        public enum Identity: Hashable, Sendable {
            /// Two files in PEM, which are read again by ``WebServer/reloadCertificates()``. The first has the server's own
            /// certificate in front, and those behind it up to an authority. Both may be one file.
            case files(certificate: String, key: String)
            /// The same as bytes.
            case pem(certificate: [UInt8], key: [UInt8])
            /// An authority that the server makes for itself, and a certificate for the names and addresses of this machine.
            /// They are kept in `folder`: nil for `tls` in the state folder of the first share, or below the user's
            /// state folder if there is no share. A certificate is replaced 30 days before it expires, and when the
            /// machine has got another name or address. See ``WebServer/certificateAuthority``.
            case selfSigned(folder: String? = nil)
        }

        /// Whether clients show certificates. `authorities` is a file in PEM: who may have signed them.
        public enum Clients: Hashable, Sendable {
            /// No certificate is asked for.
            case off
            /// Who has a certificate may show it; it must be valid then.
            case optional(authorities: String)
            /// Who has none does not come in.
            case required(authorities: String)
        }

        /// At least one. A client that names a host gets the first that has that name; any other gets the first.
        public var identities: [Identity]
        /// What a client has shown is in ``DavitHTTP/HTTPRequest/clientCertificate``. It is no account: where accounts are
        /// wanted, the client needs one as well.
        public var clients = Clients.off

        /// Takes at least one identity; without one the server does not start.
        public init(_ identities: Identity..., clients: Clients = .off) {
            self.identities = identities
            self.clients = clients
        }

        /// The same with a list.
        public init(identities: [Identity], clients: Clients = .off) {
            self.identities = identities
            self.clients = clients
        }
    }

    /// Every URL of this server begins with this.
    var scheme: String { tls == nil ? "http" : "https" }
}

/// The authority that a server has made for itself: clients that trust it know the server.
public struct CertificateAuthority: Hashable, Sendable {
    /// The file in PEM to give to clients.
    public let path: String
    /// SHA-256 of the certificate, as browsers show it: `AB:CD:…`.
    public let fingerprint: String
}
