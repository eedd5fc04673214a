public import DavitFaults
public import DavitServer

extension Configuration {
    /// The TLS settings of a server, for TLS 1.2 and 1.3 on all ports. Plain HTTP requests are redirected to
    /// the same URL with `https`.
    ///
    /// ```swift
    /// configuration.tls = .init(.files(certificate: "/etc/davit/cert.pem", key: "/etc/davit/key.pem"))
    /// ```
    public struct TLS: Sendable {
        /// The source of a certificate and its key.
        public enum Identity: Hashable, Sendable {
            /// Two PEM files, which ``WebServer/reloadCertificates()`` reads again. The first contains the
            /// server's own certificate, followed by the chain up to an authority. Both can be the same file.
            case files(certificate: String, key: String)
            /// The content of two such PEM files.
            case pem(certificate: [UInt8], key: [UInt8])
            /// A certificate authority that the server creates, and a certificate for the names and addresses
            /// of this machine, of ``Configuration/hosts`` and of ``Configuration/publicURLs``. They are
            /// stored in `folder`; nil means `tls` in the state folder of the first share, or in the user's
            /// state folder if there is no share. The certificate is replaced 30 days before it expires, and
            /// when it does not cover all names and addresses. See ``WebServer/certificateAuthority``.
            case selfSigned(folder: String? = nil)
        }

        /// Whether clients authenticate with certificates. `authorities` is a PEM file with the accepted
        /// authorities.
        public enum Clients: Hashable, Sendable {
            /// Client certificates are not requested.
            case off
            /// A client certificate is optional, but must be valid.
            case optional(authorities: String)
            /// A client certificate is required.
            case required(authorities: String)
        }

        /// At least one identity, unless there is an ``issuer``. A client gets the first one with exactly the host name that it requests,
        /// otherwise the first one with a matching wildcard, otherwise the first one in the list.
        public var identities: [Identity]
        /// Whether client certificates are requested. The certificate of a client is in
        /// ``DavitHTTP/HTTPRequest/clientCertificate``. It does not replace an account: if there are
        /// accounts, the client also needs one.
        public var clients = Clients.off
        /// Gets a certificate from elsewhere and renews it, such as from an ACME server; nil for none. Its certificate follows
        /// ``identities``. Keys and certificates are stored in `acme` in the state folder of the first share, or in the
        /// user's state folder if there is no share. Until there is a certificate, the server uses a temporary one that it
        /// has signed itself, and is not ready.
        public var issuer: (any CertificateIssuer)?
        /// A TCP port for plain HTTP, on the same hosts; nil for none. It answers the challenges `http-01` of an ACME server,
        /// and redirects all other requests to the same path with `https`. 0 selects a free port.
        public var plainPort: UInt16?
        /// What is wrong with self-signed certificates, to test clients; nil for nothing. Such a certificate is
        /// not stored.
        public var certificateFault: CertificateFault?

        /// Creates TLS settings. Without an identity the server does not start.
        public init(_ identities: Identity..., clients: Clients = .off) {
            self.identities = identities
            self.clients = clients
        }

        /// Creates TLS settings with a certificate from elsewhere.
        public init(issuer: any CertificateIssuer) {
            identities = []
            self.issuer = issuer
        }

        /// Creates TLS settings from a list of identities.
        public init(identities: [Identity], clients: Clients = .off) {
            self.identities = identities
            self.clients = clients
        }
    }

    /// The scheme of all URLs of this server.
    package var scheme: String { tls == nil ? "http" : "https" }
}

/// The certificate authority that a server has created. Clients that trust it accept the server's
/// certificate.
public struct CertificateAuthority: Hashable, Sendable {
    /// The PEM file to install on clients.
    public let path: String
    /// The SHA-256 fingerprint of the certificate, as browsers display it: `AB:CD:…`.
    public let fingerprint: String
}
