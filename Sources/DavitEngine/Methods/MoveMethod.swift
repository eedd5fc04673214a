internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// MOVE (RFC 4918 §9.9): a single rename within a volume; across volumes a copy, a swap and a removal.
struct MoveMethod: BriefMethod {
    enum Outcome: Sendable {
        case moved
        /// The replaced destination, or the source of a move across volumes: already hidden, to be removed.
        case replaced(any DetachedTree)
        /// The replaced destination was moved to the trash.
        case kept(TrashEntry)
        /// A copy replaced the destination; the hidden source of the move and the trash entry, if any.
        case copied(any StagedTree, source: (any DetachedTree)?, kept: TrashEntry?)
        /// A rename is not possible; a copy must be built first.
        case crossesVolumes
        /// The copy is incomplete; nothing was changed.
        case incomplete(any StagedTree)
    }

    let share: Share
    let transfer: Transfer
    /// Whether the move crosses volumes. The copy is then built while the path lock is held; otherwise, changes
    /// made to the source after it was copied would be lost.
    var buildsCopy = false
    /// A symbolic link is moved or replaced itself; it is not followed.
    var targetSegment: LastSegment { .itself }
    var expectsFreeNames: Bool { true }
    var respellsTarget: Bool { true }
    var destination: (path: ResourcePath, last: LastSegment)? { (transfer.destination, .itself) }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        try transfer.check(scene)
        if scene.subject.info?.isCollection == true && transfer.depth != .infinity {
            throw WebDAVError(.badRequest)
        }
        if scene.target.path.isRoot { throw WebDAVError(.forbidden) }
        return [.tree(scene.target.path), .member(scene.target.path)]
            + (scene.destination.map(Transfer.effects) ?? [])
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .move }

    /// Across volumes, the copy itself stops where it would exceed the maximum depth.
    func movedTree(on scene: Scene) -> MovedTree? {
        let path = scene.target.path
        return MovedTree(
            path: path, isCollection: !buildsCopy && scene.target.info?.isCollection == true,
            depth: path.depth)
    }

    func claims(on scene: Scene) -> [Claim] {
        let source = Claim(path: scene.target.path, mode: .exclusive)
        guard let destination = scene.destination else { return [source] }
        return [source, Claim(path: destination.path, mode: .exclusive)]
    }

    func canBeBrief(_ prepared: Void) -> Bool { !buildsCopy }
    func commitsLongWork(on scene: Scene, _ prepared: Void) -> Bool { buildsCopy }

    func isBrief(on scene: Scene) -> Bool {
        guard let destination = scene.destination, share.isBrief(replacing: destination) else { return false }
        // Content replaced by a collection is first hidden, under an intent.
        if destination.info != nil, scene.target.info?.isCollection == true { return false }
        return !share.state.hasRows(atOrUnder: scene.target.path)
    }

    func commit(_ scene: Scene, _ prepared: Void, guard: WriteGuard) throws(WebDAVError) -> Outcome {
        guard let source = scene.target.info, let destination = scene.destination else {
            throw WebDAVError(.notFound)
        }
        if buildsCopy { return try moveByCopy(scene, source, to: destination) }
        do throws(StoreError) {
            let place = scene.target.place
            return switch try share.rename(source, from: place, to: destination, scene.context) {
            case .nothing: .moved
            case .hidden(let tree): .replaced(tree)
            case .kept(let entry): .kept(entry)
            }
        } catch .crossVolume {
            return .crossesVolumes
        } catch {
            throw WebDAVError(store: error)
        }
    }

    private func moveByCopy(
        _ scene: Scene, _ source: ResourceInfo, to destination: Lookup
    ) throws(WebDAVError) -> Outcome {
        // A symbolic link cannot be moved across volumes: its target is copied and the link is removed. Files
        // that are not served are copied too, as with a rename.
        let seen = scene.subject.path
        let isLink = seen != scene.target.path
        let limit = share.heightLimit(
            at: destination.path, formerDepth: isLink ? nil : scene.target.path.depth)
        let staged = try storing { () throws(StoreError) in
            try share.stagingCopy(of: seen, for: destination.path) { () throws(StoreError) in
                try share.stored.stageCopy(
                    of: seen, for: destination.path, includesMembers: true, rules: nil, heightLimit: limit)
            }
        }
        guard staged.failures.isEmpty else { return .incomplete(staged) }
        let origin = Intent.Origin(path: scene.target.path, identity: source.identity)
        let (hidden, kept) = try share.swapIn(
            staged, of: seen, moving: origin, to: destination, scene.context)
        return .copied(staged, source: hidden, kept: kept)
    }

    func response(to outcome: Outcome, on scene: Scene) -> HTTPResponse? {
        if case .crossesVolumes = outcome { return nil }
        return Transfer.response(scene)
    }

    func finish(_ outcome: Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        var response = Transfer.response(scene)
        switch outcome {
        case .moved: break
        case .replaced(let tree):
            if scene.destination?.info?.isCollection == true {
                await share.tidyTree(for: scene.context) { _ = tree.destroy() }
            } else {
                await share.tidy { _ = tree.destroy() }
            }
        case .kept(let entry): await share.settle(kept: entry, &response, for: scene.context)
        case .copied(let staged, let source, let kept):
            await share.tidyTree(for: scene.context) {
                staged.destroy()
                _ = source?.destroy()
            }
            await share.settle(kept: kept, &response, for: scene.context)
        case .crossesVolumes:
            var method = self
            method.buildsCopy = true
            let outcome = try await share.commit(method, (), from: scene)
            return try await method.finish(outcome.value, on: outcome.scene)
        case .incomplete(let staged):
            await share.tidyTree(for: scene.context) { staged.destroy() }
            return MemberFailure.response(staged.failures.map(MemberFailure.init), scene: scene)
        }
        return response
    }
}
