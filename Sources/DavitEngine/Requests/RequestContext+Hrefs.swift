internal import DavitHTTP

extension RequestContext {
    /// The query of the add-member URI of a collection (RFC 5995 §3.1).
    static let addMemberQuery: StaticString = "add-member"

    /// Returns the href of a resource of the share for this client.
    /// - Parameter path: Path in the share, canonical or as spelled by the client.
    func href(of path: ResourcePath) -> [UInt8] {
        var href = mountHref
        PercentCoding.append(path, to: &href)
        return href
    }

    /// Returns the href of a collection, which ends in a slash.
    func collectionHref(of path: ResourcePath) -> [UInt8] {
        var href = href(of: path)
        if href.last != UInt8(ascii: "/") { href.append(UInt8(ascii: "/")) }
        return href
    }

    /// Returns the URI that adds members to a collection (RFC 5995 §3.1).
    /// - Parameter path: Canonical path.
    func addMemberHref(of path: ResourcePath) -> [UInt8] {
        var href = collectionHref(of: path)
        href.append(UInt8(ascii: "?"))
        href.append(contentsOf: Self.addMemberQuery.description.utf8)
        return href
    }
}
