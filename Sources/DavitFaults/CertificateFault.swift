/// What is wrong with the certificate of a server, to test clients.
public enum CertificateFault: String, Hashable, Sendable, CaseIterable {
    /// The certificate has expired.
    case expired
    /// The certificate is not valid yet.
    case notYetValid = "not-yet-valid"
    /// The certificate is for another host.
    case wrongName = "wrong-name"
    /// The certificate is signed by an unknown authority.
    case untrusted
}
