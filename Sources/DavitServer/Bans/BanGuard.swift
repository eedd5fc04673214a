package import DavitHTTP

/// Refuses the requests of banned addresses that arrive through a trusted proxy. The transport refuses direct connections.
package struct BanGuard: Middleware {
    private let bans: BanList

    package init(_ bans: BanList) { self.bans = bans }

    package func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        guard !bans.isBanned(peer: request.peerAddress) else {
            throw HTTPError(.forbidden, "Your address is banned for some time.")
        }
        return try next.respond(to: request)
    }
}
