internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// COPY (RFC 4918 §9.8).
///
/// The copy is built in a staging area and then swapped in. A partial copy is discarded if it would replace an
/// existing destination, and published otherwise (§9.8.3).
struct CopyMethod: ChangeMethod {
    struct Prepared: Sendable {
        let staged: any StagedTree
        /// Has watched the records of the source since before it was copied.
        let watch: RecordWatch?
    }

    struct Outcome: Sendable {
        let staged: any StagedTree
        /// The trash entry of the replaced resource, if any.
        var kept: TrashEntry?
    }

    let share: Share
    let transfer: Transfer
    var destination: (path: ResourcePath, last: SymlinkMode)? { (transfer.destination, .followed) }

    /// False, because the request must be checked before the copy is built, which can be expensive.
    func skipsInitialLookup(_ request: HTTPRequest) -> Bool { false }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        let path = change.target.path
        guard let info = change.target.info else { return [] }
        // The copy of a collection contains only what the client may read.
        let reading = info.isCollection ? [] : [RequiredRight(rights: .read, path: path)]
        return reading + (change.destination.map { RequiredRight.placing(at: $0) } ?? [])
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        let destination = try transfer.check(change)
        try share.checkMovable(destination.path)
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        change.destination.map(Transfer.effects) ?? []
    }

    var auditedOperation: AuditEvent.Operation? { .copy }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        if !outcome.staged.failures.isEmpty {
            // An incomplete copy does not replace anything.
            if change.destination?.info != nil { return false }
            event.result = .partial
        }
        event.trashID = outcome.kept?.id
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .copy }

    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        [PathLockRequest(path: change.target.path, mode: .shared)]
            + (change.destination.map { [PathLockRequest(path: $0.path, mode: .exclusive)] } ?? [])
    }

    func canReuse(_ prepared: Prepared, from first: ChangeTarget, in change: ChangeTarget) -> Bool {
        guard let old = first.destination, let new = change.destination else { return false }
        // Another resource has taken the place of the one that was copied, or that one had other properties.
        if prepared.watch?.isReplaced == true { return false }
        return change.target.path == first.target.path && new.path.isRespelling(of: old.path)
    }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> Prepared {
        guard let destination = change.destination else { throw WebDAVError(.conflict) }
        let (share, resources, source) = (share, share.resources, change.target.path)
        let includesMembers = transfer.depth == .infinity
        let limit = DepthLimit(of: share).heightLimit(at: destination.path)
        let stage = { @Sendable () throws(WebDAVError) -> Prepared in
            let watch = share.state.watchRecords(under: source)
            let staged = try storing { () throws(StoreError) in
                try share.space.stagingCopy(
                    of: source, for: destination.path, includesMembers: includesMembers
                ) { () throws(StoreError) in
                    try resources.stageCopy(
                        of: source, for: destination.path, includesMembers: includesMembers, filter: nil,
                        heightLimit: limit)
                }
            }
            return Prepared(staged: staged, watch: watch)
        }
        guard
            change.target.info.map({
                includesMembers && $0.isCollection || $0.length > BlockingWork.sliceBytes
            })
                == true
        else { return try await share.work.run(stage) }
        return try await share.work.runLong(for: change.context.client, .begins, stage)
    }

    func commit(
        _ change: ChangeTarget, _ prepared: Prepared, guard: WriteGuard
    ) throws(WebDAVError) -> Outcome {
        let staged = prepared.staged
        guard let destination = change.destination else { throw WebDAVError(.conflict) }
        if !staged.failures.isEmpty && destination.info != nil { return Outcome(staged: staged) }
        staged.destination = destination.path
        let kept = try share.mover.swapIn(
            staged, from: change.target.path, prepared.watch, to: destination, change.context)
        return Outcome(staged: staged, kept: kept)
    }

    func discard(_ prepared: Prepared, for change: ChangeTarget) async {
        await remove(prepared.staged, change, isTree: prepared.staged.info.isCollection)
    }

    private func remove(_ staged: any StagedTree, _ change: ChangeTarget, isTree: Bool) async {
        if isTree {
            await share.work.cleanUpTree(for: change.context.client) { staged.destroy() }
        } else {
            await share.work.cleanUp { staged.destroy() }
        }
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        let replaced = change.destination?.info
        await remove(
            outcome.staged, change,
            isTree: replaced != nil && (replaced?.isCollection == true || outcome.staged.info.isCollection))
        let failures = outcome.staged.failures
        guard failures.isEmpty else {
            return MemberFailure.response(failures.map(MemberFailure.init), change: change)
        }
        var response = Transfer.response(change)
        await share.trashMaintenance.finish(kept: outcome.kept, &response, for: change.context)
        return response
    }
}
