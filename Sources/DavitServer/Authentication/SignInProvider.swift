public import DavitHTTP

/// A service at which users without an account here sign in with the browser, such as an OpenID Connect provider.
///
/// The server sends the browser to ``url(for:)``; the service sends it back to ``SignInAttempt/redirectURL`` with an answer in
/// the query, which ``verify(_:_:)`` evaluates. Calls that take longer than ``ExternalLogins/deadline`` count as unavailable.
public protocol SignInProvider: Sendable {
    /// What users sign in to, for log entries.
    var service: String { get }
    /// The name on the button of the sign-in page.
    var name: String { get }

    /// Returns the absolute URL at which a user signs in.
    func url(for attempt: SignInAttempt) async -> SignInStart

    /// Evaluates an answer.
    /// - Parameter answer: the fields of the query. `state` occurs once and is that of the attempt.
    func verify(_ answer: FormFields, _ attempt: SignInAttempt) async -> SignInVerification
}

/// The secrets of one sign-in at a ``SignInProvider``. They are random for clients, and only the server and the browser that
/// began the sign-in can present them.
public struct SignInAttempt: Hashable, Sendable {
    /// The absolute URL to which the service sends the browser.
    public let redirectURL: String
    /// Binds the answer to the browser (RFC 6749 §10.12).
    public let state: String
    /// Binds the token to the attempt (OpenID Connect Core §3.1.2.1).
    public let nonce: String
    /// The code verifier (RFC 7636 §4.1): 43 characters.
    public let verifier: String

    /// Creates an attempt from its parts.
    public init(redirectURL: String, state: String, nonce: String, verifier: String) {
        self.redirectURL = redirectURL
        self.state = state
        self.nonce = nonce
        self.verifier = verifier
    }
}

/// Where a sign-in at a ``SignInProvider`` begins.
public enum SignInStart: Hashable, Sendable {
    case url(String)
    /// The service does not respond; the response is 503.
    /// - Parameter reason: for the log.
    case unavailable(reason: String)
    /// The service responds with something that cannot be used; the response is 502.
    /// - Parameter reason: for the log.
    case invalid(reason: String)
}

/// What a ``SignInProvider`` has found out about an answer.
public enum SignInVerification: Hashable, Sendable {
    /// The user has signed in.
    /// - Parameters:
    ///   - name: the name of the user, to which rules refer.
    ///   - groups: the groups of the user.
    case right(name: String, groups: Set<String>)
    /// The user has cancelled, or the service refuses the user; the response is 403.
    case denied
    /// The answer was not made by the service, was used before, or reports an error; the response is 403, and further
    /// attempts from the same address are delayed as after wrong passwords.
    /// - Parameter reason: for the log.
    case wrong(reason: String)
    /// The service has confirmed a user who cannot be used here; the response is 403.
    /// - Parameter reason: for the log.
    case refused(reason: String)
    /// The service responds with something that cannot be used, such as a token that it has not signed; the response is 502.
    /// - Parameter reason: for the log.
    case invalid(reason: String)
    /// The service does not respond; the response is 503.
    /// - Parameter reason: for the log.
    case unavailable(reason: String)
}
