internal import DavitHTTP
internal import DavitStore

/// A resource that a change moves, with everything below it.
struct MovedTree: Sendable {
    /// The current path; may be in the trash.
    let path: ResourcePath
    let isCollection: Bool
    /// The depth of the resource as clients see it, in levels below the root of the share.
    let depth: Int
}

/// The height of a tree, measured while path locks keep other requests from changing it.
struct MeasuredHeight: Sendable {
    let path: ResourcePath
    let levels: Int
}

/// Enforces the limit ``ShareConfiguration/maximumDepth``: no change creates anything below that depth, and
/// no change moves a tree that is already too deep to a lower level.
///
/// A tree that moves to the same or a higher level is not measured. A tree that moves to a lower level is
/// measured while the path locks of the change are held, so that no other request can add to it.
///
/// The store measures, not a ``TreeTraversal``: members that are hidden from clients count too, the tree can
/// be in the trash, whose collections cannot be listed, and the names in a directory suffice, without the
/// system call per member that a listing needs.
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
        guard let destination = change.destination, case .unmapped = destination.state,
            destination.path.isDeeper(than: limit)
        else { return }
        if let moved = method.movedTree(on: change), destination.path.depth <= moved.depth { return }
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

    /// Measures the height of ``treeToMeasure(of:on:)`` in steps, so that other requests can use the threads
    /// in between.
    /// - Throws: 503 if the client has disconnected in the meantime, or if too much work is waiting.
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

    /// Measures the height on the current thread, which may block.
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
