internal import DavitHTTP
internal import DavitServer

extension Share {
    /// What this server is called besides what stands in Host.
    var serverNames: ServerNames {
        ServerNames(configuration.publicHosts, secure: configuration.securePublicHosts)
    }

    /// Whether a page has sent this that is neither of this server nor of a site that may use the share.
    ///
    /// For what another site could have any visitor's browser take up, without reading any of it.
    /// - Parameter acceptsLinks: a link that the browser has followed is nothing that a page has sent.
    func refusesPage(of request: HTTPRequest, acceptsLinks: Bool) -> Bool {
        guard request.site(names: serverNames) == .other else { return false }
        if acceptsLinks, request.isNavigation { return false }
        guard request.count(of: .origin) == 1, let origin = request.bytes(of: .origin) else { return true }
        return !configuration.pageOrigins.contains { $0.utf8.elementsEqual(origin) }
    }
}
