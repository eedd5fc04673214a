internal import DavitServer

extension Configuration {
    /// What every request passes before it comes to a route or a share.
    /// - Parameter authentication: nil without accounts.
    func front(
        of application: any Handler, behind authentication: Authentication?
    ) throws(ServerError) -> any Handler {
        let inner = middleware.reversed().reduce(application) { $1.inFront(of: $0) }
        return outerMiddleware.reversed().reduce(try guarded(inner, authentication)) { $1.inFront(of: $0) }
    }

    private func guarded(
        _ handler: any Handler, _ authentication: Authentication?
    ) throws(ServerError) -> any Handler {
        if let authentication { return authentication.inFront(of: handler) }
        let hosts = try publicHosts()
        if allowsAnonymousVisitors, hosts.isEmpty { return handler }
        func guarded(_ next: some Handler) -> any Handler { HostGuard(names: hosts, next: next) }
        return guarded(handler)
    }
}
