/// The identity of a client according to its certificate (RFC 5280). The certificate was verified when the
/// connection, or the session that it resumes, was established.
public struct ClientCertificate: Hashable, Sendable {
    // A single reference, to keep requests without a certificate small.
    private let content: Content

    /// - Parameters:
    ///   - subject: the distinguished name in the string format of RFC 4514.
    ///   - fingerprint: the SHA-256 digest, 32 bytes.
    package init(subject: String, fingerprint: [UInt8]) {
        content = Content(subject: subject, fingerprint: fingerprint)
    }

    /// The distinguished name of the subject in the ASCII string format of RFC 4514: `CN=anna,O=Example`.
    public var subject: String { content.subject }
    /// The SHA-256 digest of the entire certificate, 32 bytes.
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
