/// Who a client is by its certificate (RFC 5280). It was verified when the connection, or the session that goes on with
/// it, began.
public struct ClientCertificate: Hashable, Sendable {
    // One reference, so that a request without a certificate carries no more than that.
    private let content: Content

    /// - Parameters:
    ///   - subject: as RFC 4514 writes it.
    ///   - fingerprint: 32 bytes.
    package init(subject: String, fingerprint: [UInt8]) {
        content = Content(subject: subject, fingerprint: fingerprint)
    }

    /// The distinguished name of its owner, as RFC 4514 writes it, in ASCII: `CN=anna,O=Example`.
    public var subject: String { content.subject }
    /// SHA-256 of the whole certificate, 32 bytes.
    public var fingerprint: [UInt8] { content.fingerprint }

    public static func == (a: ClientCertificate, b: ClientCertificate) -> Bool {
        a.fingerprint == b.fingerprint
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    private final class Content: Sendable {
        let subject: String
        let fingerprint: [UInt8]

        init(subject: String, fingerprint: [UInt8]) {
            self.subject = subject
            self.fingerprint = fingerprint
        }
    }
}
