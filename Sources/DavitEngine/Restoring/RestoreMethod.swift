internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Restores a trash entry with its properties and times: a MOVE whose source has no URL.
struct RestoreMethod: ChangeMethod {
    struct Outcome: Sendable {
        let replaced: ResourceMover.Replaced
    }

    let share: Share
    let entry: TrashEntry
    let path: ResourcePath
    /// Whether an existing resource at `path` is replaced.
    let replaces: Bool

    var destination: (path: ResourcePath, last: SymlinkMode)? { (path, .notFollowed) }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        let placing = change.destination.map { RequiredRight.placing(at: $0) } ?? []
        guard share.view(ofTrashed: entry) != nil else { return placing }
        // The rules of the folder apply again, as after a MOVE, or those of the folder that it came from no longer do.
        var rights = placing + [RequiredRight(rights: .manage, path: entry.path, trashed: entry)]
        // Rules that return are set there: an administrator may have revoked what they grant in the meantime.
        if share.ruleMoves.hasRules(entry), let parent = change.destination?.path.parent {
            rights.append(RequiredRight(rights: .manage, path: parent, creates: true))
        }
        return rights
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        guard let destination = change.destination else { throw WebDAVError(.notFound) }
        try destination.checkCreatable()
        if destination.info != nil, !replaces || destination.path.isRoot {
            throw WebDAVError(store: .alreadyExists)
        }
        try share.checkMovable(destination.path)
        if share.ruleMoves.hasRules(entry),
            destination.info != nil || share.ruleMoves.hasRules(atOrUnder: destination.path)
        {
            throw WebDAVError(.forbidden)
        }
        if !entry.isCollection, share.rules?.refuses(content: destination.path.name) == true {
            throw WebDAVError(.forbidden)
        }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        change.destination.map(Transfer.effects) ?? []
    }

    var trashEntry: TrashEntry? { entry }
    var auditedOperation: AuditEvent.Operation? { .restore }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        event.path = entry.path
        event.trashID = entry.id
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .restore }

    func movedTree(on change: ChangeTarget) -> MovedTree? {
        MovedTree(path: entry.location, isCollection: entry.isCollection, depth: entry.path.depth)
    }

    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        TrashCan.pathLockRequests(on: entry)
            + (change.destination.map { [PathLockRequest(path: $0.path, mode: .exclusive)] } ?? [])
    }

    func commit(_ change: ChangeTarget, _ prepared: Void, guard: WriteGuard) throws(WebDAVError) -> Outcome {
        guard let destination = change.destination, let entry = try current() else {
            throw WebDAVError(.notFound)
        }
        return try storing { () throws(StoreError) in
            guard try share.resources.identity(at: entry.location) == entry.identity else {
                // The folder or volume of the entry may be mounted again later.
                if share.resources.ownsTrash(of: entry) { share.rows.forget(entry) }
                throw .notFound
            }
            let moved = ResourceInfo(
                kind: entry.isCollection ? .collection : .content, length: entry.length ?? 0,
                modified: entry.deleted, created: nil, identity: entry.identity, volume: 0,
                isExecutable: false)
            return try share.ruleMoves.perform(
                from: .trash(id: entry.id), to: .folder(destination.path)
            ) { () throws(StoreError) in
                let replaced = try share.mover.rename(
                    moved, from: ResourceLocation(entry.location), to: destination, isRequested: true,
                    change.context)
                share.trash.versions.forget(entry.path)
                // If the commit fails, a later commit or the next start drops the entry, because its file is no
                // longer in the trash.
                share.rows.forget(entry)
                return Outcome(replaced: replaced)
            }
        }
    }

    /// Returns the current entry; nil if a concurrent request has removed it.
    private func current() throws(WebDAVError) -> TrashEntry? {
        do throws(StateError) { return try share.state.trashEntry(entry.id) } catch {
            throw WebDAVError(state: error)
        }
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        var response = Transfer.response(change)
        switch outcome.replaced {
        case .nothing: break
        case .hidden(let tree):
            await share.work.cleanUpTree(for: change.context.client) { _ = tree.destroy() }
        case .kept(let kept): await share.trashMaintenance.finish(kept: kept, &response, for: change.context)
        }
        response.fields.append(.location, change.context.href(of: change.destination?.path ?? path))
        return response
    }
}
