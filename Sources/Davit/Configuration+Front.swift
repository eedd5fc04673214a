internal import DavitHTTP
internal import DavitServer

extension Configuration {
    /// What every request passes before it comes to a route or a share.
    /// - Parameter fields: what ``Mountable/announcedFields`` says of everything behind.
    func front(of application: any Handler, announcing fields: HTTPFields) throws(ServerError) -> any Handler
    {
        let inner = middleware.reversed().reduce(application) { $1.inFront(of: $0) }
        var outer = outerMiddleware
        // Before authentication: preflights have no credentials.
        if let cors { outer.insert(cors, at: 0) }
        if !allowsCrossSiteForms {
            outer.append(CrossSiteGuard(allowing: cors?.origins ?? [], names: try publicHosts()))
        }
        return outer.reversed().reduce(try guarded(inner, fields)) { $1.inFront(of: $0) }
    }

    private func guarded(
        _ handler: any Handler, _ fields: HTTPFields
    ) throws(ServerError) -> any Handler {
        if !accounts.isEmpty {
            let accounts = try checkedAccounts()
            func authenticated(_ next: some Handler) -> any Handler {
                BasicAuthentication(accounts: accounts, optionsFields: fields, next: next)
            }
            return authenticated(handler)
        }
        let hosts = try publicHosts()
        if allowsAnonymousVisitors, hosts.isEmpty { return handler }
        func guarded(_ next: some Handler) -> any Handler { HostGuard(names: hosts, next: next) }
        return guarded(handler)
    }
}
