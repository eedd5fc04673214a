package import DavitAccess
package import DavitHTTP

/// Authenticates requests in another way than with an Authorization field, such as with a cookie.
package protocol RequestAuthenticator: Sendable {
    /// Whether a request contains credentials for this authenticator, or is addressed to it. Clients that have not signed
    /// in can have rights; this authenticator decides before they apply.
    func claims(_ request: HTTPRequest) -> Bool

    /// Decides about a request without an Authorization field. Runs on the event loop of the connection; must
    /// not block.
    /// - Returns: nil if the request has nothing that this authenticator evaluates. If no authenticator decides,
    ///   the response is a challenge for the schemes of `authentication`.
    func authenticate(
        _ request: HTTPRequest, for authentication: Authentication
    ) throws(HTTPError) -> AuthenticatorDecision?
}

/// What a ``RequestAuthenticator`` decides about a request.
package enum AuthenticatorDecision {
    /// The request is that of an account.
    /// - Parameters:
    ///   - name: the ``HTTPRequest/principal``.
    ///   - number: the ``HTTPRequest/credentialNumber``.
    case admitted(name: String, number: UInt64)
    /// The request is that of a user without an account here.
    case admittedElsewhere(Principal, number: UInt64)
    /// The response, instead of that of the next handler.
    case response(Reply)
    /// The authenticator must be asked again after this.
    case later(@Sendable () async -> Void)
}

extension Authentication {
    /// Asks the authenticators about a request without an Authorization field.
    /// - Returns: nil if none of them decides.
    func ask(
        _ authenticators: [any RequestAuthenticator], _ request: HTTPRequest, _ next: some Handler
    ) throws(HTTPError) -> Reply? {
        guard !request.contains(.authorization) else { return nil }
        for authenticator in authenticators {
            switch try authenticator.authenticate(request, for: self) {
            case nil: continue
            case .response(let reply): return reply
            case .later(let prepare):
                return .pending { () async throws(HTTPError) in
                    await prepare()
                    return try await self.handle(request, next: next).response()
                }
            case .admitted(let name, let number):
                request.principal = name
                request.credentialNumber = number
                return try next.respond(to: request).map(Self.withoutSharedCaching)
            case .admittedElsewhere(let principal, let number):
                request.identity = principal
                request.credentialNumber = number
                return try next.respond(to: request).map(Self.withoutSharedCaching)
            }
        }
        return nil
    }

    /// Prevents caches from storing a response for other clients and, unless the handler has decided otherwise,
    /// the browser from using it without revalidation, for example after the user has signed out. Caches know that
    /// a response to a request with an Authorization field is private, but not that one to a request with a cookie
    /// is (RFC 9111 §3.5).
    static func withoutSharedCaching(_ response: HTTPResponse) -> HTTPResponse {
        let known = response.fields.first(.cacheControl)
        if let known, known.contains("no-store") || known.contains("private") { return response }
        var response = response
        response.fields[.cacheControl] = known.map { "private, \($0)" } ?? "private, no-cache"
        return response
    }
}
