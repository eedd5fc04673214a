/// The server that was recorded and the one that is asked: URLs of the one become those of the other.
struct Origins {
    /// What most requests of the recording name as the host; empty if there is none.
    let recordedHost: String
    /// Scheme and authority.
    let actual: String

    func moved(_ text: String) -> String {
        guard !recordedHost.isEmpty, text.contains("://") else { return text }
        let plain = text.replacing("://\(CredentialMask.mask)@", with: "://")
        return plain.replacing("https://\(recordedHost)", with: actual)
            .replacing("http://\(recordedHost)", with: actual)
    }
}
