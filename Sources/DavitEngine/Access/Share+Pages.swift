internal import DavitHTTP
internal import DavitServer

extension Share {
    /// The names of this server in addition to the one in Host.
    var serverNames: ServerNames {
        ServerNames(configuration.publicHosts, secure: configuration.securePublicHosts)
    }

    /// Whether the request was sent by a page that belongs neither to this server nor to a site that may use
    /// the share.
    ///
    /// For requests that another site could make any visitor's browser send, even though the site cannot read
    /// the response.
    /// - Parameter acceptsLinks: whether following a link on another site is accepted.
    func refusesPage(of request: HTTPRequest, acceptsLinks: Bool) -> Bool {
        guard request.site(names: serverNames) == .other else { return false }
        if acceptsLinks, request.isNavigation { return false }
        guard request.count(of: .origin) == 1, let origin = request.bytes(of: .origin) else { return true }
        return !configuration.pageOrigins.contains { $0.utf8.elementsEqual(origin) }
    }
}
