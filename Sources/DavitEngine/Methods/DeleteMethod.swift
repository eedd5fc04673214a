internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// DELETE (RFC 4918 §9.6): removes the target and everything below it. Members that cannot be removed remain, together
/// with their ancestors, and are reported in a 207.
struct DeleteMethod: ChangeMethod {
    enum Outcome: Sendable {
        case removed
        /// Already hidden; removed from the disk after the path lock is released.
        case detached(any DetachedTree, SavedRows)
        /// Moved to the trash.
        case kept(TrashEntry)
        /// Removed member by member. Contains the failures, and the trash entries of the removed members.
        case partial([MemberFailure], kept: [TrashEntry])
    }

    let share: Share
    /// If the target is a symbolic link, the link itself is removed.
    var targetSegment: SymlinkMode { .notFollowed }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        guard change.target.info != nil else { return [] }
        return [
            RequiredRight(rights: .delete, path: change.target.path, isDeep: true, places: .areMoved)
        ]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        let path = change.target.path
        switch change.target.state {
        case .unmapped, .missingAncestor, .unservable: throw WebDAVError(.notFound)
        case .mapped:
            if path.isRoot { throw WebDAVError(.forbidden) }
            try share.checkMovable(path)
            let isCollection = change.resolvedInfo?.isCollection == true
            if !isCollection && change.context.endsInSlash { throw WebDAVError(.notFound) }
        }
        // §9.6.1: on a collection, Depth other than infinity is an error.
        if change.target.info?.isCollection == true {
            let depth = try change.context.request.value(of: .depth) { Depth.parse($0) }
            if depth ?? .infinity != .infinity { throw WebDAVError(.badRequest) }
        }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        // Locks below the target do not prevent the removal of other members, so `commit` checks them.
        [.write(change.target.path), .member(change.target.path)]
    }

    var auditedOperation: AuditEvent.Operation? { .delete }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        switch outcome {
        case .removed, .detached: break
        case .kept(let entry): event.trashID = entry.id
        case .partial(let failures, let kept):
            if !failures.isEmpty { event.result = .partial }
            if kept.count == 1 { event.trashID = kept[0].id }
        }
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .delete }

    func canCommitInline(_ prepared: Void) -> Bool { true }
    func commitsInline(on change: ChangeTarget) -> Bool {
        share.trash.commitsInline(replacing: change.target)
            && !share.ruleMoves.hasRules(atOrUnder: change.target.path)
    }

    /// True if there are locks below the target: members may then be removed one by one, so that locked ones remain.
    func commitsLongWork(on change: ChangeTarget, _ prepared: Void) -> Bool {
        !share.state.locks(under: change.target.path, now: change.context.now).isEmpty
    }

    func commit(_ change: ChangeTarget, _ prepared: Void, guard check: WriteGuard) throws(WebDAVError)
        -> Outcome
    {
        let path = change.target.path
        guard let info = change.target.info, info.isCollection else {
            if let kept = try moveToTrash(change) { return .kept(kept) }
            try removingRules(of: path) { () throws(StoreError) in
                try share.resources.removeContent(at: change.target.location)
            }
            share.rows.drop(under: path)
            return .removed
        }
        let unheld = try check.unheldLocks(in: path)
        let inTheWay = unheld.filter { $0.root == path }
        if !inTheWay.isEmpty { throw check.refusal(inTheWay.map(\.lock), at: path) }
        let locked = Set(unheld.map(\.root))
        guard locked.isEmpty else {
            // Some of the folders with rules would remain.
            if share.ruleMoves.hasRules(atOrUnder: path) {
                throw check.refusal(unheld.map(\.lock), at: path)
            }
            var removal = MemberRemoval(share: share, locked: locked, context: change.context)
            removal.remove(path, info)
            return .partial(removal.failures, kept: removal.kept)
        }
        if let kept = try moveToTrash(change) { return .kept(kept) }
        return try removingRules(of: path) { () throws(StoreError) in
            if try removeIfEmpty(path) {
                share.rows.drop(under: path)
                return .removed
            }
            let rows = try share.rows.saved(under: path)
            let tree = try share.resources.detach(path)
            share.rows.drop(under: path)
            return .detached(tree, rows)
        }
    }

    /// Removes a collection in one step if it is empty. Clients that delete a tree member by member end with the
    /// collections.
    private func removeIfEmpty(_ path: ResourcePath) throws(StoreError) -> Bool {
        // In a database, looking for members costs a statement.
        if share.hasSessions { return false }
        do throws(StoreError) {
            try share.resources.removeEmptyCollection(at: path)
            return true
        } catch {
            switch error {
            // There are members or temporary files. Not every file system has a code of its own for that, for example
            // sshfs. Hiding the collection shows whether it can be removed.
            case .alreadyExists, .forbidden, .wrongKind: return false
            default: throw error
            }
        }
    }

    /// Removes a resource permanently, and its access rules.
    private func removingRules<R>(
        of path: ResourcePath, _ removal: () throws(StoreError) -> R
    ) throws(WebDAVError) -> R {
        try storing { () throws(StoreError) in
            guard share.hasAccessPolicy else { return try removal() }
            return try share.ruleMoves.perform(from: .folder(path), to: nil, removal)
        }
    }

    /// Moves the target to the trash.
    /// - Returns: nil, with nothing changed, if the trash does not accept it.
    private func moveToTrash(_ change: ChangeTarget) throws(WebDAVError) -> TrashEntry? {
        guard let info = change.target.info else { return nil }
        return try storing { () throws(StoreError) in
            try share.trash.moveToTrash(info, at: change.target.location, change.context)
        }
    }

    func response(to outcome: Outcome, on change: ChangeTarget) -> HTTPResponse? {
        // A brief change removes everything, and keeps nothing in the trash; see ``commitsInline(on:)``.
        HTTPResponse(status: .noContent)
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        switch outcome {
        case .removed: return HTTPResponse(status: .noContent)
        case .kept(let entry):
            var response = HTTPResponse(status: .noContent)
            await share.trashMaintenance.finish(kept: entry, &response, for: change.context)
            return response
        case .partial(let failures, let kept):
            var response =
                failures.isEmpty
                ? HTTPResponse(status: .noContent) : MemberFailure.response(failures, change: change)
            await share.trashMaintenance.finish(kept: kept, &response, for: change.context)
            return response
        case .detached(let tree, let rows):
            let failures =
                await share.work.cleanUpTree(for: change.context.client) { tree.destroy() }
                ?? []
            if failures.isEmpty { return HTTPResponse(status: .noContent) }
            guard try await restoreDetached(tree, rows, to: change.target.path) else {
                return HTTPResponse(status: .noContent)
            }
            return MemberFailure.response(failures.map(MemberFailure.init), change: change)
        }
    }

    /// Restores the members that could not be removed, together with their ancestors (§9.6.1) and database rows.
    /// - Returns: false if another client has created a resource at `path`. The new resource is kept, and the rest of the
    ///   old one remains hidden.
    private func restoreDetached(
        _ tree: any DetachedTree, _ rows: SavedRows, to path: ResourcePath
    ) async throws(WebDAVError) -> Bool {
        let pathLock: PathLock
        do {
            pathLock = try await share.pathLocks.acquire([PathLockRequest(path: path, mode: .exclusive)])
        } catch {
            throw .busy
        }
        defer { pathLock.release() }
        return try await share.work.run { () throws(WebDAVError) in
            do throws(StoreError) {
                try tree.restore()
                try share.rows.putBack(rows)
                return true
            } catch .alreadyExists {
                return false
            } catch {
                throw WebDAVError(store: error)
            }
        }
    }
}
