public import DavitHTTP

/// Gets the certificate of a server from elsewhere and renews it, such as from an ACME server.
///
/// Until there is a first certificate, the server uses a temporary one that it has signed itself.
public protocol CertificateIssuer: Sendable {
    /// The DNS names of the certificate, at least one.
    var domains: [String] { get }

    /// Returns the stored certificate, even if it must be renewed; nil if there is none. Blocks.
    /// - Parameter folder: the folder for keys and certificates, which may not exist yet. Only the server uses it.
    /// - Throws: ``CertificateIssuerError`` if there is one that cannot be used.
    func certificate(in folder: String) throws(CertificateIssuerError) -> IssuedCertificate?

    /// Begins to renew the certificate when it is due, until ``stop()``. Returns immediately.
    func start(in folder: String, for server: CertificateConsumer)

    /// Ends the renewal, and waits until it has ended: at most about a second. Does nothing if it has not begun.
    func stop()
}

/// A certificate and its key.
public struct IssuedCertificate: Hashable, Sendable {
    /// The certificate and the chain up to an authority, in PEM.
    public let chain: [UInt8]
    /// The key, in PEM.
    public let key: [UInt8]

    /// Creates a certificate from PEM texts, which can be the same.
    public init(chain: [UInt8], key: [UInt8]) {
        self.chain = chain
        self.key = key
    }
}

/// The reason why the certificate of a ``CertificateIssuer`` cannot be used.
public struct CertificateIssuerError: Error, Hashable, Sendable {
    /// A message for the log.
    public let reason: String

    /// Creates an error with a message for the log.
    public init(reason: String) { self.reason = reason }
}

/// What a ``CertificateIssuer`` requests from the server. The closures can be called on any thread and may block.
public struct CertificateConsumer: Sendable {
    /// An event for the log.
    public enum Event: Hashable, Sendable {
        /// The certificate was issued and stored; it expires at this time.
        case issued(until: Timestamp)
        /// No certificate was issued. The current one remains in use, and there is another attempt after this time.
        case failed(reason: String, retrySeconds: Int64)
    }

    /// Replaces the answers to challenges.
    ///
    /// The first parameter contains SHA-256 digests of key authorizations, 32 bytes each, by DNS name, for `tls-alpn-01`
    /// (RFC 8737). The second contains key authorizations by token, for `http-01` (RFC 8555 §8.3).
    public let answer: @Sendable (_ digests: [String: [UInt8]], _ contents: [String: String]) -> Void
    /// Uses the stored certificate for new connections.
    public let certificateChanged: @Sendable () -> Void
    /// Reports an event.
    public let report: @Sendable (Event) -> Void

    /// Creates a consumer from its closures.
    public init(
        answer: @escaping @Sendable (_ digests: [String: [UInt8]], _ contents: [String: String]) -> Void,
        certificateChanged: @escaping @Sendable () -> Void, report: @escaping @Sendable (Event) -> Void
    ) {
        self.answer = answer
        self.certificateChanged = certificateChanged
        self.report = report
    }
}
