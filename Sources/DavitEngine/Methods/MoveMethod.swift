internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// MOVE (RFC 4918 §9.9): renames within a volume; across volumes, publishes a copy and removes the source.
struct MoveMethod: ChangeMethod {
    enum Outcome: Sendable {
        case moved
        /// The replaced destination was hidden and must be removed.
        case replaced(any DetachedTree)
        /// The replaced destination was moved to the trash.
        case kept(TrashEntry)
        /// A copy was published. Contains the hidden source, and the trash entry of the replaced destination, if any.
        case copied(any StagedTree, source: (any DetachedTree)?, kept: TrashEntry?)
        /// A rename is not possible; a copy must be built first.
        case crossesVolumes
        /// The copy is incomplete; nothing was changed.
        case incomplete(any StagedTree)
    }

    let share: Share
    let transfer: Transfer
    /// Whether to build a copy, because the move crosses volumes. The path lock is held meanwhile; without it, changes
    /// made to the source after it was copied would be lost.
    var buildsCopy = false
    /// A symbolic link is itself moved, not followed.
    var targetSegment: SymlinkMode { .notFollowed }
    var expectsFreeNames: Bool { true }
    var respellsTarget: Bool { true }
    var destination: (path: ResourcePath, last: SymlinkMode)? { (transfer.destination, .notFollowed) }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        guard change.target.info != nil, let destination = change.destination else { return [] }
        let path = change.target.path
        let isRename = path.parent == destination.path.parent
        // What is moved elsewhere may become readable there.
        let needed: [Rights] = isRename ? [.change] : [.delete, .read]
        var rights = needed.map {
            RequiredRight(rights: $0, path: path, isDeep: true, places: .areMoved)
        }
        // The rules of the folder become rules in another folder.
        if !isRename, let parent = destination.path.parent, share.configuration.access?.isPlace(path) == true
        {
            rights.append(RequiredRight(rights: .manage, path: parent, creates: true))
        }
        return rights + RequiredRight.placing(at: destination, isRename: isRename)
    }

    /// Checks that rules which follow the resource would neither apply to another one nor be mixed with others.
    /// - Throws: 403.
    private func checkRules(_ change: ChangeTarget, _ destination: Lookup) throws(WebDAVError) {
        let (source, target) = (change.target.path, destination.path)
        guard share.ruleMoves.hasRules(atOrUnder: source), source.equivalenceKey != target.equivalenceKey
        else { return }
        if destination.info != nil || share.ruleMoves.hasRules(atOrUnder: target) {
            throw WebDAVError(.forbidden)
        }
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        let destination = try transfer.check(change)
        if change.resolvedInfo?.isCollection == true && transfer.depth != .infinity {
            throw WebDAVError(.badRequest)
        }
        let path = change.target.path
        if path.isRoot { throw WebDAVError(.forbidden) }
        try share.checkMovable(path)
        try share.checkMovable(destination.path)
        if share.hasAccessPolicy { try checkRules(change, destination) }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        [.tree(change.target.path), .member(change.target.path)]
            + (change.destination.map(Transfer.effects) ?? [])
    }

    var auditedOperation: AuditEvent.Operation? { .move }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        switch outcome {
        case .moved, .replaced: break
        case .kept(let entry): event.trashID = entry.id
        case .copied(_, _, let kept): event.trashID = kept?.id
        case .crossesVolumes, .incomplete: return false
        }
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .move }

    /// Returns the moved tree. If a copy is built, ``MovedTree/isCollection`` is always false, so that the tree is not
    /// measured: building the copy enforces the maximum depth.
    func movedTree(on change: ChangeTarget) -> MovedTree? {
        let path = change.target.path
        return MovedTree(
            path: path, isCollection: !buildsCopy && change.target.info?.isCollection == true,
            depth: path.depth)
    }

    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        let source = PathLockRequest(path: change.target.path, mode: .exclusive)
        guard let destination = change.destination?.path else { return [source] }
        return [source, PathLockRequest(path: destination, mode: .exclusive)]
    }

    func canCommitInline(_ prepared: Void) -> Bool { !buildsCopy }
    func commitsLongWork(on change: ChangeTarget, _ prepared: Void) -> Bool { buildsCopy }

    func commitsInline(on change: ChangeTarget) -> Bool {
        guard let destination = change.destination, share.trash.commitsInline(replacing: destination) else {
            return false
        }
        // Replacing a resource with a collection takes several steps, recorded in an intent.
        if destination.info != nil, change.target.info?.isCollection == true { return false }
        let path = change.target.path
        return !share.state.hasRows(atOrUnder: path) && !share.ruleMoves.hasRules(atOrUnder: path)
    }

    func commit(_ change: ChangeTarget, _ prepared: Void, guard: WriteGuard) throws(WebDAVError) -> Outcome {
        guard let source = change.target.info, let destination = change.destination else {
            throw WebDAVError(.notFound)
        }
        if buildsCopy { return try moveByCopy(change, source, to: destination) }
        do throws(StoreError) {
            let location = change.target.location
            let rename = { () throws(StoreError) -> Outcome in
                switch try share.mover.rename(source, from: location, to: destination, change.context) {
                case .nothing: .moved
                case .hidden(let tree): .replaced(tree)
                case .kept(let entry): .kept(entry)
                }
            }
            guard share.hasAccessPolicy else { return try rename() }
            return try share.ruleMoves.perform(
                from: .folder(location.path), to: .folder(destination.path), rename)
        } catch .crossVolume {
            return .crossesVolumes
        } catch {
            throw WebDAVError(store: error)
        }
    }

    private func moveByCopy(
        _ change: ChangeTarget, _ source: ResourceInfo, to destination: Lookup
    ) throws(WebDAVError) -> Outcome {
        // A symbolic link cannot be moved across volumes: the resource to which it leads is copied, and the link is
        // removed. Members that are hidden from clients are copied too, because a rename would also move them.
        let seen = change.resolvedPath
        let isLink = seen != change.target.path
        if isLink, let access = share.access, !access.rightsThroughout(seen).contains(.read) {
            throw WebDAVError(.forbidden)
        }
        let limit = DepthLimit(of: share).heightLimit(
            at: destination.path, formerDepth: isLink ? nil : change.target.path.depth)
        let staged = try storing { () throws(StoreError) in
            try share.space.stagingCopy(of: seen, for: destination.path) { () throws(StoreError) in
                try share.stored.stageCopy(
                    of: seen, for: destination.path, includesMembers: true,
                    filter: MoveFilter(access: share.access), heightLimit: limit)
            }
        }
        guard staged.failures.isEmpty else { return .incomplete(staged) }
        let origin = RenameIntent.Origin(path: change.target.path, identity: source.identity)
        let (hidden, kept) = try storing { () throws(StoreError) in
            try share.ruleMoves.perform(
                from: .folder(origin.path), to: .folder(destination.path)
            ) { () throws(StoreError) in
                try share.mover.swapIn(
                    staged, of: seen, moving: origin, to: destination, change.context)
            }
        }
        return .copied(staged, source: hidden, kept: kept)
    }

    func response(to outcome: Outcome, on change: ChangeTarget) -> HTTPResponse? {
        if case .crossesVolumes = outcome { return nil }
        return Transfer.response(change)
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        var response = Transfer.response(change)
        switch outcome {
        case .moved: break
        case .replaced(let tree):
            if change.destination?.info?.isCollection == true {
                await share.work.cleanUpTree(for: change.context.client) { _ = tree.destroy() }
            } else {
                await share.work.cleanUp { _ = tree.destroy() }
            }
        case .kept(let entry):
            await share.trashMaintenance.finish(kept: entry, &response, for: change.context)
        case .copied(let staged, let source, let kept):
            await share.work.cleanUpTree(for: change.context.client) {
                staged.destroy()
                _ = source?.destroy()
            }
            await share.trashMaintenance.finish(kept: kept, &response, for: change.context)
        case .crossesVolumes:
            var method = self
            method.buildsCopy = true
            let committed = try await ChangeCommitter(method, change.context).commit((), from: change)
            return try await method.finish(committed.outcome, on: committed.change)
        case .incomplete(let staged):
            await share.work.cleanUpTree(for: change.context.client) { staged.destroy() }
            return MemberFailure.response(staged.failures.map(MemberFailure.init), change: change)
        }
        return response
    }
}

/// What a move by copying leaves out: what links lead to, if the client may not read it. A rename would move only the link.
/// As the source is removed, the move fails if anything is left out.
private struct MoveFilter: CopyFilter {
    let access: (any AccessView)?

    var replacesSource: Bool { true }

    func omits(_ name: [UInt8], at path: @autoclosure () -> ResourcePath?) -> Bool { false }
    func omits(target: ResourcePath) -> Bool {
        access.map { !$0.rightsThroughout(target).contains(.read) } ?? false
    }
    func omits(content name: [UInt8]) -> Bool { false }
    func admission(at path: @autoclosure () -> ResourcePath?) -> CopyAdmission { .copy }
}
