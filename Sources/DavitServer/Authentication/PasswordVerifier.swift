/// Verifies the passwords of users who have no account on this server, such as with a directory.
///
/// The server remembers results for each pair of a name and a password: correct ones and those of disabled users for
/// one minute, wrong ones for 15 minutes, so that clients that repeat an old password do not lock out their user. It
/// verifies at most four passwords at a time.
public protocol PasswordVerifier: Sendable {
    /// The name of the service, for log entries.
    var service: String { get }

    /// Verifies a password. A call that takes longer than 10 seconds counts as
    /// ``PasswordVerification/unavailable(reason:)``.
    /// - Parameters:
    ///   - name: has at most 256 bytes, no colon and no control characters.
    ///   - password: has 1 to 256 bytes and no control characters.
    func verify(name: String, password: String) async -> PasswordVerification
}

/// The result of a ``PasswordVerifier``.
public enum PasswordVerification: Hashable, Sendable {
    /// The password is correct.
    /// - Parameters:
    ///   - name: the name of the user in the spelling of the service, to which rules refer.
    ///   - groups: the groups of the user.
    case right(name: String, groups: Set<String>)
    /// The name is unknown, or the password is wrong. The client receives 401.
    case wrong
    /// The user is not allowed to log in, regardless of the password. The client receives 401.
    case disabled
    /// The service cannot verify passwords at present. The client receives 503 with `Retry-After`.
    /// - Parameter reason: for the log.
    case unavailable(reason: String)
}
