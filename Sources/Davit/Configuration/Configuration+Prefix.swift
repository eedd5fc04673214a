internal import DavitHTTP
internal import DavitServer

extension Configuration {
    /// Parses ``prefix``.
    func pathPrefix() throws(ServerError) -> PathPrefix {
        if prefix.isEmpty { return .empty }
        guard let parsed = PathPrefix(prefix) else { throw .prefixMalformed(prefix) }
        return parsed
    }

    /// Mounts `root` below ``prefix``.
    func placed(_ root: some Mountable) throws(ServerError) -> any Mountable {
        let prefix = try pathPrefix()
        if prefix == .empty { return root }
        return Router { routes in
            // Routes are written decoded.
            routes.mount("/" + String(decoding: prefix.path.bytes, as: UTF8.self), root)
        }
    }

    /// Returns the prefixes that proxies remove from paths, according to the public URLs and the fields of
    /// trusted proxies; nil if there cannot be any.
    ///
    /// Clients request paths below the path of a public URL, and the server receives paths below ``prefix``:
    /// the proxy removes the difference.
    /// - Throws: ``ServerError/publicURLOutsidePrefix(_:)`` if the path of a public URL does not end with the
    ///   prefix. A URL without a path implies nothing about the prefix.
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
