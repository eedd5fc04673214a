internal import DavitHTTP
internal import DavitStore

/// A resource that a change gives another place, with all that is below it.
struct MovedTree: Sendable {
    /// Where it is until then; may be in the trash.
    let path: ResourcePath
    let isCollection: Bool
    /// Levels below the root at which clients know it.
    let depth: Int
}

/// The height of a tree, measured while no other request could change it.
struct MeasuredHeight: Sendable {
    let path: ResourcePath
    let levels: Int
}

/// The limit ``ShareConfiguration/maximumDepth``: no change makes anything deeper than that, and nothing that was deeper
/// already gets deeper still.
///
/// A tree that moves to the same or a higher level is not measured. One that moves to a lower level is, while the paths of
/// its change are claimed, so that no other request can add to it.
extension Share {
    /// Refuses names that are too deep.
    /// - Throws: 403.
    func checkDepth<Method: ChangeMethod>(of method: Method, on scene: Scene) throws(WebDAVError) {
        let limit = configuration.maximumDepth
        if case .unmapped = scene.target.state, scene.target.path.isDeeper(than: limit) { throw .tooDeep }
        guard let destination = scene.destination, case .unmapped = destination.state,
            destination.path.isDeeper(than: limit)
        else { return }
        if let moved = method.movedTree(on: scene), destination.path.depth <= moved.depth { return }
        throw .tooDeep
    }

    /// The tree whose height decides whether a change is possible; nil for most changes.
    func treeToMeasure<Method: ChangeMethod>(of method: Method, on scene: Scene) -> MovedTree? {
        guard let destination = scene.destination?.path, let moved = method.movedTree(on: scene),
            moved.isCollection, destination.depth > moved.depth
        else { return nil }
        return moved
    }

    /// Levels that a tree may have below its top.
    /// - Parameter formerDepth: where it was until now; nil for a new one.
    func heightLimit(at destination: ResourcePath, formerDepth: Int? = nil) -> Int {
        let depth = destination.depth
        if let formerDepth, depth <= formerDepth { return .max }
        return max(0, configuration.maximumDepth - depth)
    }

    /// Measures what ``treeToMeasure(of:on:)`` names, in pieces, so that other requests get the threads in between.
    /// - Throws: 503 if the client has disconnected meanwhile, or too much work waits.
    func measureHeight<Method: ChangeMethod>(
        for method: Method, on scene: Scene
    ) async throws(WebDAVError) -> MeasuredHeight? {
        guard let tree = treeToMeasure(of: method, on: scene), let destination = scene.destination?.path
        else {
            return nil
        }
        let limit = heightLimit(at: destination)
        let measurement = try await offload { () throws(WebDAVError) in
            try storing { () throws(StoreError) in
                try self.stored.measureHeight(of: tree.path, limit: limit)
            }
        }
        while true {
            if Task.isCancelled { throw .busy }
            let levels = try await offload { () throws(WebDAVError) in
                try storing { () throws(StoreError) in try measurement.advance() }
            }
            if let levels { return MeasuredHeight(path: tree.path, levels: levels) }
        }
    }

    /// The same on a thread that may block.
    func measureHeightNow<Method: ChangeMethod>(
        for method: Method, on scene: Scene
    ) throws(WebDAVError) -> MeasuredHeight? {
        guard let tree = treeToMeasure(of: method, on: scene), let destination = scene.destination?.path
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

    /// Refuses a tree that would reach too deep.
    /// - Returns: false if its height has to be measured first.
    /// - Throws: 403.
    func checkHeight<Method: ChangeMethod>(
        of method: Method, on scene: Scene, measured: MeasuredHeight?
    ) throws(WebDAVError) -> Bool {
        guard let tree = treeToMeasure(of: method, on: scene), let destination = scene.destination?.path
        else {
            return true
        }
        guard let measured, measured.path == tree.path else { return false }
        if measured.levels > heightLimit(at: destination) { throw .tooDeep }
        return true
    }
}
