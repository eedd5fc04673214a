internal import DavitHTTP
internal import DavitStore

/// A resource that a change moves together with everything below it.
struct MovedTree: Sendable {
    /// The current path; may be in the trash.
    let path: ResourcePath
    let isCollection: Bool
    /// The number of levels below the root of the share at which clients see, or saw, the resource.
    let depth: Int
}

/// The height of a tree, measured while path locks keep other requests from changing it.
struct MeasuredHeight: Sendable {
    let path: ResourcePath
    let levels: Int
}

/// Enforces ``ShareConfiguration/maximumDepth``: no change creates a resource beyond that depth, and no change moves
/// a tree that is already too deep to a deeper level.
///
/// A tree is measured only if it moves to a deeper level. This happens while the path locks of the change are held,
/// so that no other request can add to the tree.
///
/// The store measures the tree, rather than a ``TreeTraversal``, for three reasons: members that are hidden from
/// clients count too; the tree can be in the trash, whose collections cannot be listed; and the store needs no system
/// call per member.
struct DepthLimit: Sendable {
    private let maximumDepth: Int
    /// All stored resources, including those that rules hide.
    private let stored: any ResourceStore
    private let work: BlockingWork

    init(of share: Share) {
        maximumDepth = share.configuration.maximumDepth
        stored = share.stored
        work = share.work
    }

    /// Checks that the target and the destination are not too deep.
    /// - Throws: 403.
    func check<Method: ChangeMethod>(of method: Method, on change: ChangeTarget) throws(WebDAVError) {
        let limit = maximumDepth
        if case .unmapped = change.target.state, change.target.path.isDeeper(than: limit) { throw .tooDeep }
        guard let destination = change.destination?.path, destination.isDeeper(than: limit),
            case .unmapped? = change.destination?.state
        else { return }
        if let moved = method.movedTree(on: change), destination.depth <= moved.depth { return }
        throw .tooDeep
    }

    /// Returns the tree whose height decides whether the change is allowed; nil for most changes.
    private func treeToMeasure<Method: ChangeMethod>(of method: Method, on change: ChangeTarget) -> MovedTree?
    {
        guard let destination = change.destination?.path, let moved = method.movedTree(on: change),
            moved.isCollection, destination.depth > moved.depth
        else { return nil }
        return moved
    }

    /// Returns the maximum height of a tree at `destination`, in levels below its top.
    /// - Parameter formerDepth: the depth from which the tree moves; nil for a new tree.
    func heightLimit(at destination: ResourcePath, formerDepth: Int? = nil) -> Int {
        let depth = destination.depth
        if let formerDepth, depth <= formerDepth { return .max }
        return max(0, maximumDepth - depth)
    }

    /// Measures the height of the moved tree, if necessary, in steps between which other requests can use the threads.
    /// - Returns: nil if the tree need not be measured.
    /// - Throws: 503 if the client disconnects, or if too much work is queued.
    func measureHeight<Method: ChangeMethod>(
        for method: Method, on change: ChangeTarget
    ) async throws(WebDAVError) -> MeasuredHeight? {
        guard let tree = treeToMeasure(of: method, on: change), let destination = change.destination?.path
        else {
            return nil
        }
        let limit = heightLimit(at: destination)
        let stored = stored
        let measurement = try await work.run { () throws(WebDAVError) in
            try storing { () throws(StoreError) in
                try stored.measureHeight(of: tree.path, limit: limit)
            }
        }
        while true {
            if Task.isCancelled { throw .busy }
            let levels = try await work.run { () throws(WebDAVError) in
                try storing { () throws(StoreError) in try measurement.advance() }
            }
            if let levels { return MeasuredHeight(path: tree.path, levels: levels) }
        }
    }

    /// Same as ``measureHeight(for:on:)``, but on the current thread, which may block.
    func measureHeightNow<Method: ChangeMethod>(
        for method: Method, on change: ChangeTarget
    ) throws(WebDAVError) -> MeasuredHeight? {
        guard let tree = treeToMeasure(of: method, on: change), let destination = change.destination?.path
        else {
            return nil
        }
        let limit = heightLimit(at: destination)
        return try storing { () throws(StoreError) in
            let measurement = try stored.measureHeight(of: tree.path, limit: limit)
            while true {
                if let levels = try measurement.advance() {
                    return MeasuredHeight(path: tree.path, levels: levels)
                }
            }
        }
    }

    /// Checks that the moved tree does not become too deep.
    /// - Returns: false if its height must be measured first.
    /// - Throws: 403.
    func checkHeight<Method: ChangeMethod>(
        of method: Method, on change: ChangeTarget, measured: MeasuredHeight?
    ) throws(WebDAVError) -> Bool {
        guard let tree = treeToMeasure(of: method, on: change), let destination = change.destination?.path
        else {
            return true
        }
        guard let measured, measured.path == tree.path else { return false }
        if measured.levels > heightLimit(at: destination) { throw .tooDeep }
        return true
    }
}
