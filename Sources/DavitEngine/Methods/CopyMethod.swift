internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// COPY (RFC 4918 §9.8). The copy is built in a staging area and then swapped in, so that an earlier failure
/// leaves the destination unchanged. If the destination does not exist, a copy that is only partly successful
/// is kept (§9.8.3).
struct CopyMethod: ChangeMethod {
    struct Outcome: Sendable {
        let staged: any StagedTree
        /// The trash entry of the replaced resource, if any.
        var kept: TrashEntry?
    }

    let share: Share
    let transfer: Transfer
    var destination: (path: ResourcePath, last: LastSegment)? { (transfer.destination, .followed) }

    /// The copy is built before the path lock is acquired, so the request must be checked first.
    func needsNoScene(_ request: HTTPRequest) -> Bool { false }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        try transfer.check(scene)
        return scene.destination.map(Transfer.effects) ?? []
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .copy }

    func claims(on scene: Scene) -> [Claim] {
        [Claim(path: scene.target.path, mode: .shared)]
            + (scene.destination.map { [Claim(path: $0.path, mode: .exclusive)] } ?? [])
    }

    func serves(_ prepared: any StagedTree, from first: Scene, in scene: Scene) -> Bool {
        guard let old = first.destination, let new = scene.destination else { return false }
        return scene.target.path == first.target.path && new.path.isRespelling(of: old.path)
    }

    func prepare(_ scene: Scene) async throws(WebDAVError) -> any StagedTree {
        guard let destination = scene.destination else { throw WebDAVError(.conflict) }
        let (share, resources, source) = (share, share.resources, scene.target.path)
        let includesMembers = transfer.depth == .infinity
        let limit = share.heightLimit(at: destination.path)
        let stage = { @Sendable () throws(WebDAVError) -> any StagedTree in
            try storing { () throws(StoreError) in
                try share.stagingCopy(
                    of: source, for: destination.path, includesMembers: includesMembers
                ) { () throws(StoreError) in
                    try resources.stageCopy(
                        of: source, for: destination.path, includesMembers: includesMembers, rules: nil,
                        heightLimit: limit)
                }
            }
        }
        guard
            scene.target.info.map({ includesMembers && $0.isCollection || $0.length > Share.sliceBytes })
                == true
        else { return try await share.offload(stage) }
        return try await share.offloadLong(for: scene.context.request.client, .begins, stage)
    }

    func commit(
        _ scene: Scene, _ staged: any StagedTree, guard: WriteGuard
    ) throws(WebDAVError) -> Outcome {
        guard let destination = scene.destination else { throw WebDAVError(.conflict) }
        if !staged.failures.isEmpty && destination.info != nil { return Outcome(staged: staged) }
        staged.destination = destination.path
        let kept = try share.swapIn(staged, from: scene.target.path, to: destination, scene.context)
        return Outcome(staged: staged, kept: kept)
    }

    func discard(_ staged: any StagedTree, for scene: Scene) async {
        await remove(staged, scene, isTree: staged.info.isCollection)
    }

    private func remove(_ staged: any StagedTree, _ scene: Scene, isTree: Bool) async {
        if isTree {
            await share.tidyTree(for: scene.context) { staged.destroy() }
        } else {
            await share.tidy { staged.destroy() }
        }
    }

    func finish(_ outcome: Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        let replaced = scene.destination?.info
        await remove(
            outcome.staged, scene,
            isTree: replaced != nil && (replaced?.isCollection == true || outcome.staged.info.isCollection))
        let failures = outcome.staged.failures
        guard failures.isEmpty else {
            return MemberFailure.response(failures.map(MemberFailure.init), scene: scene)
        }
        var response = Transfer.response(scene)
        await share.settle(kept: outcome.kept, &response, for: scene.context)
        return response
    }
}
