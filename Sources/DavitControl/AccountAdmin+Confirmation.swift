internal import DavitAccess
internal import DavitEngine
internal import DavitHTTP
internal import DavitServer
internal import Synchronization

/// Asks for the password of an account again, before a change that a session alone must not permit.
extension AccountAdmin {
    enum Confirmation {
        /// - Parameter number: identifies the password; see ``Authentication/number(of:)``.
        case confirmed(number: UInt64)
        case refused(HTTPResponse)
    }

    /// Whether the request was admitted by the cookie of a session, which may be in the wrong hands, and not by a password, a
    /// certificate, or a trusted proxy, which has no password to ask for. Users without an account here have no app passwords.
    func needsPassword(_ visit: PageContext) -> Bool {
        guard let authentication = authentication.withLock({ $0 }), visit.principal.kind == .account,
            let name = visit.principal.name, authentication.number(of: name) != nil
        else { return false }
        return authentication.isAdmittedBySession(visit.request)
    }

    /// Checks the password of the account of a request. Wrong passwords are counted with those of other logins.
    func confirm(_ password: String?, _ visit: PageContext) async -> Confirmation {
        guard let authentication = authentication.withLock({ $0 }), let name = visit.principal.name,
            let password
        else {
            return .refused(Self.problem("password-required", "The password of the account is required."))
        }
        let result = await authentication.signIn(
            name: Array(name.utf8), password: Array(password.utf8), visit.request)
        switch result {
        case .admitted(_, let number): return .confirmed(number: number)
        case .wrong, .admittedElsewhere:
            return .refused(Self.problem("wrong-password", "The password is wrong."))
        case .tooMany(let seconds):
            return .refused(
                Self.problem(
                    "too-many-passwords", "Too many wrong passwords. Try again later.", .tooManyRequests,
                    retryAfter: seconds))
        case .busy:
            return .refused(
                Self.problem(
                    "busy", "The server is too busy to check the password. Try again later.",
                    .serviceUnavailable, retryAfter: 1))
        }
    }

    /// Returns a problem in JSON (RFC 9457).
    private static func problem(
        _ type: String, _ title: String, _ status: HTTPStatus = .forbidden, retryAfter seconds: Int64? = nil
    ) -> HTTPResponse {
        var response = HTTPResponse.problem(type, title, status)
        if let seconds { response.fields.append(.retryAfter, seconds) }
        return response
    }
}
