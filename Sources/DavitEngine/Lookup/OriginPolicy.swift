internal import DavitHTTP
internal import DavitServer

/// Decides which web pages may send requests that depend on the user's credentials.
final class OriginPolicy: Sendable {
    /// The names of this server, in addition to the name in the Host field.
    let serverNames: ServerNames
    private let pageOrigins: [String]

    init(_ configuration: ShareConfiguration) {
        serverNames = ServerNames(
            configuration.publicAuthorities, secure: configuration.securePublicHosts)
        pageOrigins = configuration.pageOrigins
    }

    /// Whether the request was sent by a page that belongs neither to this server nor to an origin that may use the
    /// share.
    ///
    /// Call this for requests that have an effect even if the page cannot read the response: a page of any origin can
    /// make the browsers of its visitors send such requests.
    /// - Parameter acceptsLinks: whether a request is accepted if the user followed a link on a page of
    ///   another origin.
    func refusesPage(of request: HTTPRequest, acceptsLinks: Bool) -> Bool {
        guard request.site(names: serverNames) == .other else { return false }
        if acceptsLinks, request.isNavigation { return false }
        guard request.count(of: .origin) == 1, let origin = request.bytes(of: .origin) else { return true }
        return !pageOrigins.contains { $0.utf8.elementsEqual(origin) }
    }
}
