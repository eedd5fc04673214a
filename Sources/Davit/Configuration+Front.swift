internal import DavitServer

extension Configuration {
    /// Wraps the application in the middleware that every request passes through before it reaches a
    /// route or a share.
    /// - Parameter authentication: nil without accounts.
    func front(
        of application: any Handler, behind authentication: Authentication?, _ limits: ClientLimits
    ) throws(ServerError) -> any Handler {
        let handlers = middleware.reversed().reduce(application) { $1.inFront(of: $0) }
        // After authentication, because requests are counted by account.
        let counted = limits.requests?.inFront(of: handlers) ?? handlers
        let inner = limits.transfers?.inFront(of: counted) ?? counted
        // The application's middleware sees response bodies before they are compressed.
        let coded = compresses ? Compression().inFront(of: inner) : inner
        var outer = outerMiddleware
        // CORS is handled before authentication, because preflight requests have no credentials.
        if let cors { outer.insert(cors, at: 0) }
        if !allowsCrossSiteForms {
            outer.append(
                CrossOriginGuard(
                    allowing: cors?.origins ?? [],
                    names: ServerNames(try publicAuthorities(), secure: try securePublicHosts())))
        }
        outer.insert(SchemeGuard(), at: 0)
        if let authentication {
            outer.append(authentication)
        } else if let hosts = try hostGuard() {
            outer.append(hosts)
        }
        let front = outer.reversed().reduce(coded) { $1.inFront(of: $0) }
        let placed = try publicPrefix()?.inFront(of: front) ?? front
        // Applied before everything that depends on the address of the client. Without proxies, the transport refuses banned
        // addresses.
        return try trustedProxies()?.inFront(of: BanGuard(limits.bans).inFront(of: placed)) ?? placed
    }

    /// Returns the check of Host that protects a server without accounts; nil if anyone may use it under any name.
    private func hostGuard() throws(ServerError) -> HostGuard? {
        let hosts = try publicHosts()
        return allowsAnonymousVisitors && hosts.isEmpty ? nil : HostGuard(names: hosts)
    }
}
