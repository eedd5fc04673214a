#if TLS
internal import DavitAccess
internal import DavitCrypto
internal import DavitHTTP
internal import DavitServer

/// Signing in at a provider: the browser is sent there with a ticket in a cookie, and returns with an answer.
extension AccountEndpoint {
    /// Returns the reply to a request that begins or completes a sign-in at the provider
    /// (``ProviderAccess/concerns(_:)``).
    /// - Parameter current: returns the session of the request.
    func reply(
        to request: HTTPRequest, _ provider: ProviderAccess, _ authentication: Authentication,
        current: @escaping @Sendable () -> SessionTable.Entry?
    ) -> Reply {
        if AccountRoute.isReturn(request) {
            return .pending { () async throws(HTTPError) in
                await self.complete(request, provider, authentication, current())
            }
        }
        // A page of another site must not sign the user in.
        guard request.site(names: names) != .other else { return .ready(form(for: request, authentication)) }
        return .pending { () async throws(HTTPError) in await self.begin(request, provider) }
    }

    /// Sends the browser to the provider.
    private func begin(_ request: HTTPRequest, _ provider: ProviderAccess) async -> HTTPResponse {
        var query = request.query["query"] ?? ""
        // The browser must not return to the beginning of another sign-in.
        if FormFields(query: Array(query.utf8))[AccountRoute.start] != nil { query = "" }
        let path = String(decoding: request.target.rawPath, as: UTF8.self)
        let destination = query.isEmpty ? path : "\(path)?\(query)"
        let isLong = destination.utf8.count > SignInTickets.destinationBytes
        guard
            let (ticket, value) = provider.tickets.make(to: isLong ? "/" : destination, now: now()),
            let attempt = provider.tickets.attempt(
                of: ticket, redirectURL: provider.redirectURL(for: request))
        else { return failure(.busy, AccountFrame(request, title: title), query) }
        let url: String
        do throws(ProviderSignIns.Failure) {
            url = try await provider.signIns.url(for: attempt, request)
        } catch {
            return failure(.init(error), AccountFrame(request, title: title), query)
        }
        var response = HTTPResponse.redirect(to: url)
        response.fields.append(.cacheControl, "no-store")
        cookie.ofTickets.set(value, in: &response, for: request)
        return response
    }

    /// Evaluates the answer of the provider, and begins a session.
    private func complete(
        _ request: HTTPRequest, _ provider: ProviderAccess, _ authentication: Authentication,
        _ current: SessionTable.Entry?
    ) async -> HTTPResponse {
        guard mayUseCookie(request) else {
            return .error(.forbidden, "Cross-origin requests are not allowed.", for: request)
        }
        let answer = request.query
        guard let value = cookie.ofTickets.token(in: request),
            let ticket = provider.tickets.open(value, now: now()),
            let attempt = provider.tickets.attempt(
                of: ticket, redirectURL: provider.redirectURL(for: request)),
            case let states = answer.all("state"), states.count == 1,
            ConstantTime.areEqual(Array(states[0].utf8), Array(attempt.state.utf8))
        else { return failure(.provider(.expired), frame(request, returningTo: "/"), "") }
        var response = await complete(request, answer, ticket, attempt, provider, authentication, current)
        cookie.ofTickets.remove(in: &response, for: request)
        return response
    }

    private func complete(
        _ request: HTTPRequest, _ answer: FormFields, _ ticket: SignInTickets.Ticket,
        _ attempt: SignInAttempt,
        _ provider: ProviderAccess, _ authentication: Authentication, _ current: SessionTable.Entry?
    ) async -> HTTPResponse {
        let parts = ticket.destination.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count > 1 ? String(parts[1]) : ""
        let frame = frame(request, returningTo: String(parts[0]))
        if let seconds = authentication.wait(for: "", request) {
            return failure(.wait(seconds: seconds), frame, query)
        }
        let token: String
        do throws(ProviderSignIns.Failure) {
            let user = try await provider.signIns.user(of: answer, attempt, request)
            if let reason = Self.refusal(of: user.name, authentication) {
                provider.signIns.refuse(reason)
                throw .refused
            }
            do throws(SessionStoreError) {
                token = try sessions.begin(
                    Principal(.account, user.name, groups: user.groups), from: request.peerAddress,
                    agent: request.string(of: .userAgent) ?? "")
            } catch { throw .busy }
        } catch {
            if error == .wrong { authentication.recordFailure(for: "", request) }
            return failure(.init(error), frame, query)
        }
        await end(replaced: current, request)
        let location = String(decoding: frame.location, as: UTF8.self)
        var response = HTTPResponse.redirect(to: query.isEmpty ? location : "\(location)?\(query)")
        response.fields.append(.cacheControl, "no-store")
        cookie.set(token, in: &response, for: request)
        return response
    }

    /// Returns the reason why a user with this name cannot sign in; nil if it can. An account decides alone about its name,
    /// even if it is disabled.
    private static func refusal(of name: String, _ authentication: Authentication) -> String? {
        guard Accounts.problem(ofName: name) == nil else { return "the name of the user is not valid" }
        return authentication.canBeElsewhere(name)
            ? nil : "the name '\(name)' is that of an account of this server"
    }

    /// Returns the frame of a page at the URL to which the provider sends the browser, whose form and links lead to
    /// another path of this server.
    private func frame(_ request: HTTPRequest, returningTo path: String) -> AccountFrame {
        AccountFrame(
            request, title: title, location: AccountRoute.location(of: path, from: request),
            files: "./")
    }

    private func failure(
        _ failure: SignInView.Failure, _ frame: AccountFrame, _ query: String
    ) -> HTTPResponse {
        let view = SignInView(
            frame: frame, provider: provider?.name, asksForPassword: knowsPasswords,
            query: Array(query.utf8), failure: failure)
        var response = view.response()
        appendFields(for: failure, to: &response)
        return response
    }
}

extension SignInView.Failure {
    fileprivate init(_ failure: ProviderSignIns.Failure) {
        self =
            switch failure {
            case .denied, .wrong: .provider(.denied)
            case .refused: .provider(.refused)
            case .invalid: .provider(.invalid)
            case .unavailable(let seconds): .provider(.unavailable(seconds: seconds))
            case .busy: .busy
            }
    }
}
#endif
