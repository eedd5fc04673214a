internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// An existing resource at which PROPFIND or SEARCH starts.
struct TraversalStart: Sendable {
    let depth: Depth
    /// Canonical path.
    let target: ResourcePath
    let info: ResourceInfo
    /// As spelled by the client, escaped for an href; ends in a slash for a collection.
    let href: [UInt8]
    /// The last segment as spelled by the client, which for an alias differs from the canonical name; empty
    /// for the root.
    let name: [UInt8]

    /// - Parameter href: with or without a trailing slash.
    init(depth: Depth, target: ResourcePath, info: ResourceInfo, href: [UInt8], name: [UInt8]) {
        self.depth = depth
        self.target = target
        self.info = info
        let slash = UInt8(ascii: "/")
        self.href = info.isCollection && href.last != slash ? href + [slash] : href
        self.name = name
    }

    /// The starting point as a member of its parent collection.
    var member: Member { Member(name: name, info: info) }

    /// Whether a traversal visits more than the starting point.
    var hasMembers: Bool { info.isCollection && depth != .zero }

    /// Whether a traversal visits `path`.
    func reaches(_ path: ResourcePath) -> Bool {
        switch depth {
        case .zero: path == target
        case .one: path == target || path.parent == target
        case .infinity: target.contains(path)
        }
    }
}
