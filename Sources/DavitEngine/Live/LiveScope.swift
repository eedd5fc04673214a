internal import DavitHTTP
internal import DavitStore

/// A collection that somebody watches.
struct LiveScope: Hashable, Sendable {
    /// Canonical.
    let path: ResourcePath
    /// With all that is below it; else its members.
    let isDeep: Bool
    /// As the client spells it, percent-encoded, with a slash at its end.
    let href: [UInt8]

    /// The href of something in it, without a slash at the end; of the collection itself with one.
    /// - Parameter path: canonical, in this scope.
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
