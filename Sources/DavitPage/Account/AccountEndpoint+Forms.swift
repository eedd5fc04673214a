#if TLS
internal import DavitAccess
internal import DavitHTTP
internal import DavitServer

/// The forms of the account pages.
extension AccountEndpoint {
    /// The maximum size of a form in bytes.
    private static let limitBytes = 8 << 10
    private static let limitFields = 16

    /// Reads a form and performs its action.
    /// - Parameters:
    ///   - account: the account that has signed in; nil if none has.
    ///   - current: the session of the request; nil without one.
    func answer(
        _ request: HTTPRequest, account: String?, current: SessionTable.Entry?,
        _ authentication: Authentication
    ) async throws(HTTPError) -> HTTPResponse {
        // Also protects against pages that sign the user in to another account.
        guard request.site(names: names) == .own else {
            return .error(.forbidden, "Cross-origin requests are not allowed.", for: request)
        }
        let form = try await fields(request)
        guard let action = form["do"].flatMap(AccountAction.init(rawValue:)) else {
            throw HTTPError(.badRequest, "Unknown form action.")
        }
        switch action {
        case .signIn: return try await signIn(request, form, current, authentication)
        case .code: return try await checkCode(request, form, current, authentication)
        case .choosePassword: return try await choosePassword(request, form, current, authentication)
        default: break
        }
        guard let account else { return refusal(.wrong, request, form) }
        switch action {
        case .signIn, .code, .choosePassword: break
        case .signOut:
            var response = redirect(request, query: "")
            cookie.remove(in: &response, for: request)
            // This request must not end with its session.
            request.credentialNumber = 0
            if let current { await sessions.end([current.session.id], of: account) }
            return response
        case .endSession:
            guard let id = form["id"].flatMap(Int64.init) else {
                throw HTTPError(.badRequest, "The session ID is missing.")
            }
            if id == current?.session.id { request.credentialNumber = 0 }
            await sessions.end([id], of: account)
        case .endOthers:
            let others = sessions.sessions(of: account).map(\.id).filter { $0 != current?.session.id }
            await sessions.end(Set(others), of: account)
        case .startFactor, .setFactor, .removeFactor, .renewCodes:
            return try await changeFactor(action, request, form, account, current, authentication)
        }
        return redirect(request, query: AccountRoute.query)
    }

    private func fields(_ request: HTTPRequest) async throws(HTTPError) -> FormFields {
        guard request.contentType?.essence == "application/x-www-form-urlencoded" else {
            throw HTTPError(.unsupportedMediaType, "Expected a URL-encoded form.")
        }
        let bytes = try await request.content(limitBytes: Self.limitBytes)
        do throws(FormFields.ParseError) {
            return try FormFields(parsing: bytes, limitFields: Self.limitFields)
        } catch {
            throw HTTPError(.badRequest, "The form is malformed or has too many fields.")
        }
    }

    func signIn(
        _ request: HTTPRequest, _ form: FormFields, _ current: SessionTable.Entry?,
        _ authentication: Authentication
    ) async throws(HTTPError) -> HTTPResponse {
        let (name, password) = (form["name"] ?? "", form["password"] ?? "")
        let result = await authentication.signIn(
            name: Array(name.utf8), password: Array(password.utf8), request)
        switch result {
        case .wrong: return refusal(.wrong, request, form)
        case .tooMany(let seconds): return refusal(.wait(seconds: seconds), request, form)
        case .busy: return refusal(.busy, request, form)
        case .admittedElsewhere(let principal): return await begin(principal, request, form, current)
        case .admitted(let account, let number):
            let factor = factors?.factor(of: account)
            let credential = SessionCredential(number: number, secondFactor: factor?.secret)
            guard factor != nil else {
                return try await begin(account, credential, request, form, current, authentication)
            }
            guard let token = pending.begin(account, credential) else {
                return refusal(.busy, request, form)
            }
            return codeForm(token, nil, request, form)
        }
    }

    /// Begins a session. Its token is always a new one, so a cookie that someone else has set does not become
    /// the cookie of the session.
    func begin(
        _ account: String, _ credential: SessionCredential, _ request: HTTPRequest, _ form: FormFields,
        _ current: SessionTable.Entry?, _ authentication: Authentication
    ) async throws(HTTPError) -> HTTPResponse {
        let begun: (token: String, entry: SessionTable.Entry)?
        do throws(SessionStoreError) {
            begun = try await sessions.begin(
                account, credential, from: request.peerAddress,
                agent: request.string(of: .userAgent) ?? "",
                isCurrent: { self.credential(of: account, authentication) == credential })
        } catch {
            return refusal(.busy, request, form)
        }
        guard let begun else { return refusal(.wrong, request, form) }
        return await signedIn(account, begun.token, request, form, current)
    }

    /// Begins a session of a user without an account here.
    private func begin(
        _ principal: Principal, _ request: HTTPRequest, _ form: FormFields, _ current: SessionTable.Entry?
    ) async -> HTTPResponse {
        do throws(SessionStoreError) {
            let token = try sessions.begin(
                principal, from: request.peerAddress, agent: request.string(of: .userAgent) ?? "")
            return await signedIn(principal.name ?? "", token, request, form, current)
        } catch {
            return refusal(.busy, request, form)
        }
    }

    /// Returns the response with the cookie of a new session, and ends the session that it replaces.
    private func signedIn(
        _ name: String, _ token: String, _ request: HTTPRequest, _ form: FormFields,
        _ current: SessionTable.Entry?
    ) async -> HTTPResponse {
        await end(replaced: current, request)
        var response =
            request.wantsJSON
            ? json(.ok) { $0.member("user", name) } : redirect(request, query: form["query"] ?? "")
        cookie.set(token, in: &response, for: request)
        return response
    }

    /// Ends the session that a new one of the same browser replaces.
    func end(replaced current: SessionTable.Entry?, _ request: HTTPRequest) async {
        guard let current else { return }
        // This request must not end with its session.
        request.credentialNumber = 0
        await sessions.end([current.session.id], of: current.session.account)
    }

    // MARK: Responses

    /// Returns a redirect to the page at the URL of the request.
    func redirect(_ request: HTTPRequest, query: String) -> HTTPResponse {
        let own = String(decoding: AccountRoute.own(request), as: UTF8.self)
        var response = HTTPResponse.redirect(to: query.isEmpty ? own : "\(own)?\(query)")
        response.fields.append(.cacheControl, "no-store")
        return response
    }

    /// Returns the form for signing in again, or for scripts the reason.
    func refusal(
        _ failure: SignInView.Failure, _ request: HTTPRequest, _ form: FormFields
    ) -> HTTPResponse {
        var response: HTTPResponse
        if request.wantsJSON {
            response = json(Optional(failure).status) { $0.member("error", failure.code) }
        } else {
            let view = SignInView(
                frame: AccountFrame(request, title: title), provider: provider?.name,
                asksForPassword: knowsPasswords, name: form["name"] ?? "",
                query: Array((form["query"] ?? "").utf8), failure: failure)
            response = view.response()
        }
        appendFields(for: failure, to: &response)
        return response
    }

    /// Returns the form for the code, or for scripts the request for one.
    func codeForm(
        _ token: String, _ failure: SignInView.Failure?, _ request: HTTPRequest, _ form: FormFields
    ) -> HTTPResponse {
        var response: HTTPResponse
        if request.wantsJSON {
            response = json(failure.status) {
                $0.member("error", failure?.code ?? "code")
                $0.member("pending", token)
            }
        } else {
            let view = SignInView(
                frame: AccountFrame(request, title: title), query: Array((form["query"] ?? "").utf8),
                pending: token, failure: failure)
            response = view.response()
        }
        appendFields(for: failure, to: &response)
        return response
    }

    func appendFields(for failure: SignInView.Failure?, to response: inout HTTPResponse) {
        switch failure {
        case .wait(let seconds): response.fields.append(.retryAfter, seconds)
        case .busy: response.fields.append(.retryAfter, Int64(1))
        case nil, .wrong, .wrongCode: appendChallenge(to: &response)
        case .provider(.unavailable(let seconds)): response.fields.append(.retryAfter, seconds)
        case .provider: break
        }
    }

    func json(_ status: HTTPStatus, _ members: (inout JSONWriter) -> Void) -> HTTPResponse {
        var json = JSONWriter()
        json.object(members)
        var response = HTTPResponse.bytes(json.bytes, type: "application/json", status: status)
        response.fields.append(.cacheControl, "no-store")
        return response
    }

    /// Adds a challenge that browsers ignore, so that they show the content instead of asking for a password
    /// (RFC 9110 §11.6.1 requires one for 401).
    func appendChallenge(to response: inout HTTPResponse) {
        response.fields.append(.wwwAuthenticate, "Cookie realm=\"davit\"")
    }
}

extension HTTPRequest {
    /// Whether a script of the page has sent the request.
    var wantsJSON: Bool { string(of: .accept) == "application/json" }
}
#endif
