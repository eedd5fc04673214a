internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A query, prepared once for all resources.
struct SearchPlan: Sendable {
    /// The scopes of the search, all of which exist; at least one.
    let places: [TraversalStart]
    let program: SearchProgram
    let order: [SearchOrder]
    /// Maximum number of results: the number requested or, for sorted results, the number that is kept.
    let limit: Int
    let properties: PropFindPlan
    /// Size in bytes of the literals and patterns of a large condition, which are in memory until the response has been sent.
    let conditionBytes: Int

    /// - Parameters:
    ///   - keptLimit: Maximum number of results to sort.
    ///   - bodyBytes: Size of the query as it was sent.
    init(_ query: SearchQuery, in places: [TraversalStart], keptLimit: Int, bodyBytes: Int) {
        self.places = places
        program = SearchProgram(query)
        order = query.order
        let asked = query.limit ?? .max
        limit = order.isEmpty ? asked : min(asked, keptLimit)
        let operands = program.operands
        let readsDead = operands.contains(where: \.mayHaveRow)
        let readByPath: [LiveProperty] = [.quotaAvailableBytes, .quotaUsedBytes, .checksums]
        let needsPath = readByPath.contains { operands.contains(.live($0)) }
        properties = PropFindPlan(query.select, readsDead: readsDead, needsPath: needsPath)
        conditionBytes = bodyBytes > PropertyResponses.unreservedBytes ? bodyBytes : 0
    }
}
