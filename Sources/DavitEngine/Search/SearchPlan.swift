internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A query, worked out once for all resources.
struct SearchPlan: Sendable {
    /// Where results are looked for: a scope that exists.
    struct Place: Sendable {
        let depth: Depth
        /// Canonical.
        let target: ResourcePath
        let info: ResourceInfo
        /// As the client spells it, safe to stand in an href; a collection's has a slash at its end.
        let href: [UInt8]
        /// The last segment as the client spells it; empty for the root.
        let name: [UInt8]

        /// True if walking this place comes to a path.
        func reaches(_ path: ResourcePath) -> Bool {
            switch depth {
            case .zero: path == target
            case .one: path == target || path.parent == target
            case .infinity: target.contains(path)
            }
        }
    }

    let places: [Place]
    let program: SearchProgram
    let order: [SearchOrder]
    /// The most results: those asked for, or, in an order, those that are kept.
    let limit: Int
    let properties: PropFindPlan

    /// - Parameter keptLimit: the most results that are put in an order.
    init(_ query: SearchQuery, in places: [Place], keptLimit: Int) {
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
