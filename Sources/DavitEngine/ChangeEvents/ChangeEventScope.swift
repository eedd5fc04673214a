internal import DavitHTTP
internal import DavitStore

/// A collection that a client watches.
struct ChangeEventScope: Hashable, Sendable {
    /// The canonical path.
    let path: ResourcePath
    /// Whether everything below the collection is watched, or only its members.
    let isDeep: Bool
    /// The href as the client spelled it, percent-encoded, with a trailing slash.
    let href: [UInt8]

    /// Whether every change in `other` is also one in this scope.
    func covers(_ other: ChangeEventScope) -> Bool {
        path == other.path || isDeep && path.contains(other.path)
    }

    /// Whether every change in `other` is also one in this scope, with the same href.
    func includes(_ other: ChangeEventScope) -> Bool {
        path != other.path && covers(other) && href(of: other.path) + [UInt8(ascii: "/")] == other.href
    }

    /// Returns the href of a resource in this scope: with a trailing slash for the watched collection itself,
    /// otherwise without one.
    /// - Parameter path: the canonical path of the resource.
    func href(of path: ResourcePath) -> [UInt8] {
        var href = href
        var isFirst = true
        for segment in path.segments.dropFirst(self.path.segments.count) {
            if !isFirst { href.append(UInt8(ascii: "/")) }
            isFirst = false
            PercentCoding.append(segment, to: &href)
        }
        return href
    }
}
