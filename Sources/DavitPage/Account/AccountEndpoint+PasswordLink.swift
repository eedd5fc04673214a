#if TLS
internal import DavitHTTP
internal import DavitServer

/// The page with which a user chooses a password, opened by a link.
extension AccountEndpoint {
    /// Returns the page for a request that opens a link; nil for other requests. Programs that only look at the link do
    /// not use it up.
    func choosePage(for request: HTTPRequest) -> HTTPResponse? {
        guard let links, request.method == .get || request.method == .head, AccountRoute.matches(request),
            let token = request.query["link"]
        else { return nil }
        let account = request.query["name"] ?? ""
        let isValid = links.link(of: account)?.accepts(token, now: now()) == true
        return view(request, account, token, failure: isValid ? nil : .invalid)
    }

    /// Sets the password of the form, and signs the user in.
    func choosePassword(
        _ request: HTTPRequest, _ form: FormFields, _ current: SessionTable.Entry?,
        _ authentication: Authentication
    ) async throws(HTTPError) -> HTTPResponse {
        let (account, token) = (form["name"] ?? "", form["link"] ?? "")
        let password = form["password"] ?? ""
        guard let links, let link = links.link(of: account), link.accepts(token, now: now()) else {
            return view(request, account, token, failure: .invalid)
        }
        guard password == form["repeat"] else { return view(request, account, token, failure: .different) }
        guard password.count >= ChoosePasswordView.leastCharacters, Self.isUsable(password) else {
            return view(request, account, token, failure: .unusable)
        }
        let address = request.peerAddress
        let result = await work.run { () -> Result<Bool, SessionStoreError> in
            do throws(SessionStoreError) {
                return .success(try links.set(password, of: account, by: link, from: address))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(true): return try await signIn(request, form, current, authentication)
        case .success(false): return view(request, account, token, failure: .invalid)
        case .failure, nil: return view(request, account, token, failure: .busy)
        }
    }

    private static func isUsable(_ password: String) -> Bool {
        do throws(Accounts.Problem) {
            try Accounts.check(password: password)
            return true
        } catch {
            return false
        }
    }

    private func view(
        _ request: HTTPRequest, _ account: String, _ token: String, failure: ChoosePasswordView.Failure?
    ) -> HTTPResponse {
        var response = ChoosePasswordView(
            frame: AccountFrame(request, title: title), account: account, token: token, failure: failure
        ).response()
        if failure == .busy { response.fields.append(.retryAfter, Int64(1)) }
        return response
    }
}
#endif
