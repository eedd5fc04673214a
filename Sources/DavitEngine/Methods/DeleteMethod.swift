internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// DELETE (RFC 4918 §9.6): removes the target and everything below it. Members that cannot be removed are
/// kept together with their ancestors and are reported in a 207.
struct DeleteMethod: BriefMethod {
    enum Outcome: Sendable {
        case removed
        /// Already hidden; its members are removed after the path lock is released.
        case detached(any DetachedTree, SavedRows)
        /// Moved to the trash.
        case kept(TrashEntry)
        /// Removed member by member: the failures, and the trash entries of the removed members.
        case partial([MemberFailure], kept: [TrashEntry])
    }

    let share: Share
    /// If the target is a symbolic link, the link itself is removed.
    var targetSegment: LastSegment { .itself }
    var expectsFreeNames: Bool { false }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        let path = scene.target.path
        switch scene.target.state {
        case .unmapped, .missingAncestor, .unservable: throw WebDAVError(.notFound)
        case .mapped:
            if path.isRoot { throw WebDAVError(.forbidden) }
            let isCollection = scene.subject.info?.isCollection == true
            if !isCollection && scene.context.endsInSlash { throw WebDAVError(.notFound) }
        }
        // §9.6.1: on a collection, Depth other than infinity is an error.
        if scene.target.info?.isCollection == true {
            let depth = try scene.context.request.value(of: .depth) { Depth.parse($0) }
            if depth ?? .infinity != .infinity { throw WebDAVError(.badRequest) }
        }
        // Locks below the target do not prevent the removal of other members: `commit` checks them one by
        // one.
        return [.write(path), .member(path)]
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .delete }

    func canBeBrief(_ prepared: Void) -> Bool { true }
    func isBrief(on scene: Scene) -> Bool { share.isBrief(replacing: scene.target) }

    /// If locks exist below the target, members are removed one by one.
    func commitsLongWork(on scene: Scene, _ prepared: Void) -> Bool {
        !share.state.locks(under: scene.target.path, now: scene.context.now).isEmpty
    }

    func commit(_ scene: Scene, _ prepared: Void, guard check: WriteGuard) throws(WebDAVError) -> Outcome {
        let path = scene.target.path
        guard scene.target.info?.isCollection == true else {
            if let kept = try throwAway(scene) { return .kept(kept) }
            try storing { () throws(StoreError) in try share.resources.removeContent(at: scene.target.place) }
            share.dropRows(under: path)
            return .removed
        }
        let unheld = try check.unheldLocks(in: path)
        let inTheWay = unheld.filter { $0.root == path }
        if !inTheWay.isEmpty { throw WriteGuard.refusal(inTheWay.map(\.lock), scene.context) }
        let locked = Set(unheld.map(\.root))
        guard locked.isEmpty else {
            var removal = MemberRemoval(share: share, locked: locked, context: scene.context)
            removal.remove(path)
            return .partial(removal.failures, kept: removal.kept)
        }
        if let kept = try throwAway(scene) { return .kept(kept) }
        return try storing { () throws(StoreError) in
            let rows = try share.savedRows(under: path)
            let tree = try share.resources.detach(path)
            share.dropRows(under: path)
            return .detached(tree, rows)
        }
    }

    /// - Returns: nil if the trash does not keep the resource.
    private func throwAway(_ scene: Scene) throws(WebDAVError) -> TrashEntry? {
        guard let info = scene.target.info else { return nil }
        return try storing { () throws(StoreError) in
            try share.throwAway(info, at: scene.target.place, scene.context)
        }
    }

    func response(to outcome: Outcome, on scene: Scene) -> HTTPResponse? { HTTPResponse(.noContent) }

    func finish(_ outcome: Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        switch outcome {
        case .removed: return HTTPResponse(.noContent)
        case .kept(let entry):
            var response = HTTPResponse(.noContent)
            await share.settle(kept: entry, &response, for: scene.context)
            return response
        case .partial(let failures, let kept):
            var response =
                failures.isEmpty
                ? HTTPResponse(.noContent) : MemberFailure.response(failures, scene: scene)
            await share.settle(kept: kept, &response, for: scene.context)
            return response
        case .detached(let tree, let rows):
            let failures =
                await share.work.runLong(for: scene.context.request.client, .cleansUp) { tree.destroy() }
                ?? []
            if failures.isEmpty { return HTTPResponse(.noContent) }
            guard try await bringBack(tree, rows, to: scene.target.path) else {
                return HTTPResponse(.noContent)
            }
            return MemberFailure.response(failures.map(MemberFailure.init), scene: scene)
        }
    }

    /// Restores what could not be removed, together with its ancestors (§9.6.1) and their database rows.
    /// - Returns: false if another client has created a resource at `path`. The new resource is
    ///   kept, and the rest of the old one remains hidden.
    private func bringBack(
        _ tree: any DetachedTree, _ rows: SavedRows, to path: ResourcePath
    ) async throws(WebDAVError) -> Bool {
        let section: Section
        do { section = try await share.sections.acquire([Claim(path: path, mode: .exclusive)]) } catch {
            throw .busy
        }
        defer { section.release() }
        return try await share.offload { () throws(WebDAVError) in
            do throws(StoreError) {
                try tree.restore()
                try share.putBack(rows)
                return true
            } catch .alreadyExists {
                return false
            } catch {
                throw WebDAVError(store: error)
            }
        }
    }
}
