internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A query, prepared once for all resources.
struct SearchPlan: Sendable {
    /// An existing scope of the search.
    struct SearchRoot: Sendable {
        let depth: Depth
        /// Canonical path.
        let target: ResourcePath
        let info: ResourceInfo
        /// As spelled by the client, escaped for an href; ends in a slash for a collection.
        let href: [UInt8]
        /// The last segment as spelled by the client; empty for the root.
        let name: [UInt8]

        /// Whether a traversal of this scope visits `path`.
        func reaches(_ path: ResourcePath) -> Bool {
            switch depth {
            case .zero: path == target
            case .one: path == target || path.parent == target
            case .infinity: target.contains(path)
            }
        }
    }

    let places: [SearchRoot]
    let program: SearchProgram
    let order: [SearchOrder]
    /// Maximum number of results: the number requested or, for sorted results, the number that is kept.
    let limit: Int
    let properties: PropFindPlan

    /// - Parameter keptLimit: Maximum number of results to sort.
    init(_ query: SearchQuery, in places: [SearchRoot], keptLimit: Int) {
        self.places = places
        program = SearchProgram(query)
        order = query.order
        let asked = query.limit ?? .max
        limit = order.isEmpty ? asked : min(asked, keptLimit)
        let operands = program.operands
        let readsDead = operands.contains(where: \.mayHaveRow)
        let readsQuota =
            operands.contains(.live(.quotaAvailableBytes)) || operands.contains(.live(.quotaUsedBytes))
        properties = PropFindPlan(query.select, readsDead: readsDead, needsPath: readsQuota)
    }
}
