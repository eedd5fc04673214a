internal import DavitHTTP
internal import DavitServer

extension Configuration {
    /// ``prefix``, parsed.
    func pathPrefix() throws(ServerError) -> PathPrefix {
        if prefix.isEmpty { return .empty }
        guard let parsed = PathPrefix(prefix) else { throw .prefixMalformed(prefix) }
        return parsed
    }

    /// What is served, below ``prefix``.
    func placed(_ root: some Mountable) throws(ServerError) -> any Mountable {
        let prefix = try pathPrefix()
        if prefix == .empty { return root }
        return Router { routes in
            // As routes are written: decoded.
            routes.mount("/" + String(decoding: prefix.path.bytes, as: UTF8.self), root)
        }
    }

    /// What a proxy takes away from paths; nil where that is never anything.
    ///
    /// The path of a public URL is what clients see, and ``prefix`` what arrives here: a proxy takes the rest away.
    /// - Throws: for a public URL whose path does not end in the prefix. One without a path says nothing about it.
    func publicPrefix() throws(ServerError) -> PublicPrefix? {
        let arriving = try pathPrefix()
        var hosts: [PublicPrefix.Host] = []
        for text in publicURLs {
            guard let url = PublicURL(parsing: text) else { throw .publicURLMalformed(text) }
            let taken = url.prefix == .empty ? .empty : url.prefix.removing(suffix: arriving)
            guard let taken else { throw .publicURLOutsidePrefix(text) }
            hosts.append(PublicPrefix.Host(name: Array(url.host.utf8), prefix: taken))
        }
        let isSaidByProxies = !proxies.trusted.isEmpty && proxies.fields != .forwarded
        guard isSaidByProxies || hosts.contains(where: { $0.prefix != .empty }) else { return nil }
        return PublicPrefix(hosts: hosts)
    }
}
