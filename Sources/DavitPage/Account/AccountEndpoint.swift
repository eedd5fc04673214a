#if TLS
internal import DavitAccess
package import DavitHTTP
package import DavitServer

/// Signs browsers in with a form and a cookie, and serves the account page at `?account` (``AccountRoute``),
/// where users see and end their sessions.
///
/// Authentication asks it about requests without credentials (``RequestAuthenticator``). The account page is a
/// middleware after authentication, so that users who have signed in with Basic or Digest have one too.
package final class AccountEndpoint: Sendable {
    package let sessions: SessionTable
    /// Nil if the server cannot store second factors.
    let factors: (any SecondFactorStore)?
    /// Nil if the server cannot store passwords.
    let links: (any PasswordLinkStore)?
    let pending: PendingSignIns
    let work: any BlockingWorkRunner
    /// Returns the time in seconds since 1970.
    let now: @Sendable () -> Int64
    let cookie: SessionCookie
    let names: ServerNames
    let title: String
    /// Nil if users cannot sign in at a provider.
    let provider: ProviderAccess?
    /// Whether any password can be right.
    let knowsPasswords: Bool

    /// - Parameters:
    ///   - factors: nil if the server cannot store second factors.
    ///   - links: nil if the server cannot store passwords.
    ///   - names: the names of this server in addition to the one in Host.
    ///   - title: the name of the server on the pages.
    ///   - provider: nil if users cannot sign in at a provider.
    ///   - knowsPasswords: whether any password can be right, so that the form asks for one.
    package init(
        sessions: SessionTable, factors: (any SecondFactorStore)?, links: (any PasswordLinkStore)? = nil,
        work: any BlockingWorkRunner,
        now: @escaping @Sendable () -> Int64, cookie: SessionCookie, names: ServerNames, title: String,
        provider: ProviderAccess? = nil, knowsPasswords: Bool = true
    ) {
        self.sessions = sessions
        self.factors = factors
        self.links = links
        pending = PendingSignIns(now: now)
        self.work = work
        self.now = now
        self.cookie = cookie
        self.names = names
        self.title = title
        self.provider = provider
        self.knowsPasswords = knowsPasswords
    }

    /// Whether a request can be authenticated by a cookie. The browser sends it with requests of other pages
    /// too, at least with those of other ports of the same host, so what the browser reports about the page
    /// decides: without a report, only reading is allowed, and for other sites only following a link.
    func mayUseCookie(_ request: HTTPRequest) -> Bool {
        let isReading = request.method == .get || request.method == .head
        return switch request.site(names: names) {
        case .own: true
        case .unknown: isReading
        case .other: isReading && request.isNavigation
        }
    }

    /// Returns what the sessions of an account are bound to; nil if the account cannot be used.
    package func credential(of account: String, _ authentication: Authentication) -> SessionCredential? {
        authentication.number(of: account).map {
            SessionCredential(number: $0, secondFactor: factors?.factor(of: account)?.secret)
        }
    }
}

// MARK: Requests without credentials

extension AccountEndpoint: RequestAuthenticator {
    package func claims(_ request: HTTPRequest) -> Bool {
        cookie.isSent(by: request) || AccountRoute.matches(request) || AccountRoute.file(for: request) != nil
            || provider != nil && AccountRoute.isReturn(request)
    }

    package func authenticate(
        _ request: HTTPRequest, for authentication: Authentication
    ) throws(HTTPError) -> AuthenticatorDecision? {
        if let file = AccountRoute.file(for: request) { return .response(.ready(file)) }
        if let page = choosePage(for: request) { return .response(.ready(page)) }
        if let token = cookie.token(in: request) {
            guard mayUseCookie(request) else {
                return .response(
                    .ready(.error(.forbidden, "Cross-origin requests are not allowed.", for: request)))
            }
            if let entry = sessions.use(token, from: request.peerAddress) {
                if let principal = entry.principal {
                    // An account with this name may have been added in the meantime.
                    guard authentication.canBeElsewhere(entry.session.account) else { return nil }
                    return .admittedElsewhere(principal, number: entry.number)
                }
                return .admitted(name: entry.session.account, number: entry.number)
            }
            if sessions.mayBeElsewhere(token) { return .later { [sessions] in await sessions.find(token) } }
        }
        if let provider, ProviderAccess.concerns(request) {
            return .response(reply(to: request, provider, authentication) { nil })
        }
        let acceptsPasswords = authentication.acceptsPasswords
        guard acceptsPasswords || provider != nil else { return nil }
        if let provider, isRequestForState(request) {
            return .response(
                .ready(
                    json(.ok) {
                        $0.member("provider", provider.name)
                        $0.member("acceptsPasswords", knowsPasswords && acceptsPasswords)
                    }))
        }
        if acceptsPasswords, request.method == .post, AccountRoute.matches(request) {
            return .response(
                .pending { () async throws(HTTPError) in
                    try await self.answer(request, account: nil, current: nil, authentication)
                })
        }
        if opensPage(request) { return .response(.ready(form(for: request, authentication))) }
        guard isSentByPage(request) else { return nil }
        var response = HTTPResponse.text("Sign in again.\n", status: .unauthorized)
        response.fields.append(.cacheControl, "no-store")
        appendChallenge(to: &response)
        return .response(.ready(response))
    }

    /// Whether a browser opens a page. WebDAV clients also read folders and files with GET, and some of them
    /// accept HTML, but only browsers mark a navigation: with Sec-Fetch-Mode (Fetch Metadata §2.3), or without
    /// TLS, where they do not send it, with Upgrade-Insecure-Requests.
    private func opensPage(_ request: HTTPRequest) -> Bool {
        guard request.method == .get || request.method == .head, request.wantsHTML else { return false }
        guard let mode = request.string(named: "Sec-Fetch-Mode") else {
            return request.string(named: "Upgrade-Insecure-Requests") == "1"
        }
        return mode == "navigate"
    }

    /// Whether a script of the page asks how its user can sign in, or has signed in.
    fileprivate func isRequestForState(_ request: HTTPRequest) -> Bool {
        request.method == .get && AccountRoute.matches(request) && request.wantsJSON
    }

    /// Whether a page of this server has sent a request, whose user can sign in with the form. A challenge
    /// would make the browser ask for the password in a window of its own.
    private func isSentByPage(_ request: HTTPRequest) -> Bool {
        if cookie.isSent(by: request) { return true }
        switch request.site(names: names) {
        case .own: return true
        case .other: return false
        // Without TLS, GET has neither Sec-Fetch-Site nor Origin.
        case .unknown:
            return (request.method == .get || request.method == .head) && request.contains(.referer)
        }
    }

    func form(for request: HTTPRequest, _ authentication: Authentication) -> HTTPResponse {
        let query =
            if !AccountRoute.matches(request) {
                request.target.rawQuery
            } else if request.query[AccountRoute.signIn] != nil {
                [UInt8]()
            } else {
                Array(AccountRoute.query.utf8)
            }
        let view = SignInView(
            frame: AccountFrame(request, title: title), provider: provider?.name,
            asksForPassword: knowsPasswords && authentication.acceptsPasswords, query: query ?? [])
        var response = view.response()
        appendChallenge(to: &response)
        return response
    }
}

// MARK: Authenticated requests

extension AccountEndpoint {
    /// The middleware with the account page, for requests that have been authenticated.
    package func pages(for authentication: Authentication) -> AccountPages {
        AccountPages(endpoint: self, authentication: authentication)
    }

    /// - Parameter failure: the reason why the form of the request failed.
    func page(
        for request: HTTPRequest, of account: String, failure: SignInView.Failure? = nil
    ) -> HTTPResponse {
        let frame = AccountFrame(request, title: title)
        let view = AccountView(
            frame: frame, account: account, sessions: sessions.sessions(of: account),
            current: current(request)?.session,
            factor: factors.map { FactorSection(frame: frame, factor: $0.factor(of: account)) },
            failure: failure)
        return view.response()
    }

    /// Returns the session of a request that has been authenticated.
    fileprivate func current(_ request: HTTPRequest) -> SessionTable.Entry? {
        guard !request.contains(.authorization), let token = cookie.token(in: request) else { return nil }
        return sessions.use(token, from: request.peerAddress)
    }
}

/// Serves the account page to authenticated requests.
package struct AccountPages: Middleware {
    fileprivate let endpoint: AccountEndpoint
    fileprivate let authentication: Authentication

    package func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        request.hasAccountPage = true
        if let provider = endpoint.provider, ProviderAccess.concerns(request) {
            return endpoint.reply(to: request, provider, authentication) { endpoint.current(request) }
        }
        // An app password is for one device, and must not open the account.
        guard AccountRoute.matches(request), let account = request.principal,
            request.identity.kind == .account
        else { return try next.respond(to: request) }
        if endpoint.provider != nil, endpoint.isRequestForState(request) {
            return .ready(endpoint.json(.ok) { $0.member("user", account) })
        }
        if let page = endpoint.choosePage(for: request) { return .ready(page) }
        switch request.method {
        case .get, .head: return .ready(endpoint.page(for: request, of: account))
        case .post:
            return .pending { () async throws(HTTPError) in
                try await endpoint.answer(
                    request, account: account, current: endpoint.current(request), authentication)
            }
        default: return try next.respond(to: request)
        }
    }
}

#endif
