public import DavitHTTP

/// Lets only those through who have an account, by the Basic scheme (RFC 7617).
///
/// Without good credentials every method is answered 401 with a challenge, before anything else happens:
/// some clients never offer a password to a server that once answered without (RFC 9110 §11.6.1).
public struct BasicAuthentication<Next: Handler>: Handler {
    private let accounts: Accounts
    private let optionsFields: HTTPFields
    private let next: Next

    /// - Parameter optionsFields: stand on 401 answers to OPTIONS too, for clients that look there for what
    ///   the server can do before they have asked for a password.
    public init(accounts: Accounts, optionsFields: HTTPFields = HTTPFields(), next: Next) {
        self.accounts = accounts
        self.optionsFields = optionsFields
        self.next = next
    }

    public func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard let name = principal(of: request) else { return challenge(request) }
        request.principal = name
        return try await next.respond(to: request)
    }

    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        guard let name = principal(of: request) else { return nil }
        request.principal = name
        return next.respondAtOnce(to: request)
    }

    /// Nil for no credentials, for wrong ones, and for anything that is not Basic.
    private func principal(of request: HTTPRequest) -> String? {
        // Two fields could be read in two ways by two parties.
        guard request.count(of: .authorization) == 1 else { return nil }
        let found = request.withValue(of: .authorization) { value in
            Credentials.basic(from: value)
        }
        guard let credentials = found ?? nil else { return nil }
        return accounts.name(for: credentials.user, password: credentials.password)
    }

    private func challenge(_ request: HTTPRequest) -> HTTPResponse {
        var fields = request.method == .options ? optionsFields : HTTPFields()
        // One realm and one text for the whole server, or clients ask again in each folder.
        fields.append(.wwwAuthenticate, #"Basic realm="davit", charset="UTF-8""#)
        fields.append(.contentType, "text/plain; charset=utf-8")
        let text = "A name and a password are needed here.\n"
        return HTTPResponse(.unauthorized, fields: fields, body: .bytes(Array(text.utf8)))
    }
}
