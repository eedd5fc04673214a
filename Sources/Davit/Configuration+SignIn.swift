#if TLS
internal import DavitAccounts
internal import DavitPage
internal import DavitServer
internal import DavitSystem

extension Configuration {
    /// Creates the form and the account page for browsers; nil without accounts, or if no share has a browser
    /// page.
    /// - Parameter directory: the database of accounts, which then also contains the sessions. Without one, they
    ///   are kept in memory and end with the server.
    func makeAccountEndpoint(
        with directory: AccountDirectory?, in environment: ServerEnvironment
    ) throws(ServerError) -> AccountEndpoint? {
        guard directory != nil || !accounts.isEmpty || signInProvider != nil else { return nil }
        var titles: [String] = []
        environment.forEachLifecycleObserver {
            if let title = ($0 as? any AccountShare)?.pageTitle { titles.append(title) }
        }
        guard let title = titles.first else {
            if signInProvider != nil { throw .signInProviderNotUsable(reason: "no share has a browser page") }
            return nil
        }
        // The environment retains the table, so the table must not retain the environment.
        let log = environment.log
        let sessions = SessionTable(
            store: directory.map { DirectorySessions(directory: $0) }, work: environment.work,
            report: { log(.error, "session storage failed", ["reason": $0.reason]) },
            now: { Clock.wallNow() / 1_000_000_000 })
        environment.addLifecycleObserver(sessions)
        let cookie = SessionCookie(
            secureHosts: environment.securePublicHosts, prefix: try pathPrefix().bytes)
        return AccountEndpoint(
            sessions: sessions, factors: directory.map { DirectorySecondFactors(directory: $0) },
            links: directory.map {
                DirectoryPasswordLinks(directory: $0, audit: environment.audit, log: log)
            },
            work: environment.work, now: { Clock.wallNow() / 1_000_000_000 }, cookie: cookie,
            names: ServerNames(environment.publicAuthorities, secure: environment.securePublicHosts),
            title: titles.count == 1 ? title : authentication.realm,
            provider: try signInProvider.map { provider throws(ServerError) in
                try access(to: provider, environment.log)
            },
            knowsPasswords: directory != nil || !accounts.isEmpty || !passwordVerifiers.isEmpty)
    }

    private func access(
        to provider: any SignInProvider, _ log: @escaping ServerEnvironment.LogLine
    ) throws(ServerError) -> ProviderAccess {
        let urls = try parsedPublicURLs()
        if urls.isEmpty { throw .signInProviderNotUsable(reason: "there is no public URL") }
        // Without TLS, others in the network could set the cookie of a sign-in.
        if let plain = urls.first(where: { !$0.isSecure && !Self.isLoopback(Self.unbracketed($0.host)) }) {
            throw .signInProviderNotUsable(reason: "the public URL \(plain.text) is not an https URL")
        }
        let signIns = ProviderSignIns(
            provider,
            report: { report in
                switch report {
                case .unavailable(let service, let reason):
                    log(.error, "users cannot sign in", ["service": service, "reason": reason])
                case .availableAgain(let service):
                    log(.info, "users can sign in again", ["service": service])
                case .invalid(let service, let reason):
                    log(
                        .error, "the response to a sign-in is invalid",
                        ["service": service, "reason": reason])
                case .refused(let service, let reason):
                    log(.warning, "sign-in refused", ["service": service, "reason": reason])
                }
            },
            now: { Clock.coarseNow() })
        return ProviderAccess(
            signIns, urls: urls.map { .init(host: $0.host, port: $0.port, text: $0.text) })
    }
}

extension AccountEndpoint {
    /// Reads the sessions of accounts that can still sign in. Blocks.
    func loadSessions(for authentication: Authentication) throws(ServerError) {
        do throws(SessionStoreError) {
            // The table belongs to this object.
            try sessions.load { [weak self, weak authentication] account in
                guard let self, let authentication else { return nil }
                return credential(of: account, authentication)
            }
        } catch {
            throw .accountDatabaseNotUsable(reason: error.reason)
        }
    }
}
#endif
