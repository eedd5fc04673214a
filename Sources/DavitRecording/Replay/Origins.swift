/// Replaces the recorded server with the replay server in URLs.
struct Origins {
    /// The most frequent `Host` of the recorded requests; empty if no request has the field.
    let recordedHost: String
    /// Scheme and authority of the replay server.
    let actual: String

    func moved(_ text: String) -> String {
        guard !recordedHost.isEmpty, text.contains("://") else { return text }
        let plain = text.replacing("://\(CredentialMask.mask)@", with: "://")
        return plain.replacing("https://\(recordedHost)", with: actual)
            .replacing("http://\(recordedHost)", with: actual)
    }
}
