/// The reason why a provider cannot be used. Texts are for the log.
enum OIDCError: Error, Hashable, Sendable {
    /// The provider does not respond, or reports that it cannot.
    case unavailable(String)
    /// The provider responds with something that cannot be used.
    case invalid(String)
    /// The provider has not issued the code, or it was used before.
    case wrongCode(String)
}
