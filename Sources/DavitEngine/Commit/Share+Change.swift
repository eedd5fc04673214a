internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// A mode of looking up the resources of a change.
enum Look: Equatable {
    /// Before path locks are acquired.
    case first(Wait)
    /// While path locks are held, immediately before the change; may block.
    case mayWait
    /// As ``mayWait``, but on the event loop; must not block.
    case atOnce
    /// As ``atOnce``, but names that the method creates are assumed not to exist. If one does, the change
    /// fails.
    case atOnceOverFreeNames

    var wait: Wait {
        switch self {
        case .first(let wait): wait
        case .mayWait: .allowed
        case .atOnce, .atOnceOverFreeNames: .never
        }
    }

    /// Returns the mode for the lookup of a single name.
    /// - Parameter isExpected: whether the method creates this name.
    func expecting(free isExpected: Bool) -> Look {
        self == .atOnceOverFreeNames && !isExpected ? .atOnce : self
    }
}

extension Share {
    /// The maximum number of attempts if other programs change symbolic links on the path or create the same
    /// name.
    private static let attemptLimit = 8

    /// Runs a change; see ``ChangeMethod``.
    func change<Method: ChangeMethod>(
        _ method: Method, context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        // The dispatcher refuses changes already; this also covers other callers.
        if configuration.isReadOnly { throw WebDAVError(.forbidden) }
        let first =
            method.needsNoScene(context.request) && configuration.hooks.allows == nil
            ? expectedScene(for: method, context: context)
            : try await attempt { wait throws(WebDAVError) in
                try self.checkedScene(for: method, context: context, look: .first(wait)).0
            }
        let asked = configuration.hooks.allows == nil ? nil : action(of: method, on: first)
        // Ask before an expensive copy is built. For an upload, ask later, so that the hook can read the
        // content.
        if let asked, asked.kind != .upload { try await ask(about: asked) }
        let prepared = try await method.prepare(first)
        let outcome: (value: Method.Outcome, scene: Scene)
        do throws(WebDAVError) {
            if let asked, asked.kind == .upload {
                try await ask(about: asked, method.content(of: prepared))
            }
            outcome = try await commit(method, prepared, from: first)
        } catch {
            await method.discard(prepared, for: first)
            throw error
        }
        let response = try await method.finish(outcome.value, on: outcome.scene)
        tell(action(of: method, on: outcome.scene), response)
        return response
    }

    /// Commits a prepared change under its own path locks.
    func commit<Method: ChangeMethod>(
        _ method: Method, _ prepared: Method.Prepared, from first: Scene
    ) async throws(WebDAVError) -> (value: Method.Outcome, scene: Scene) {
        var scene = first
        for attempt in 1...Self.attemptLimit {
            let claimed = scene
            let section: Section
            do { section = try await sections.acquire(claims(of: method, on: claimed)) } catch { throw .busy }
            defer { section.release() }
            if let done = try await commitRows(method, prepared, from: first, claimed) {
                if let outcome = done.0 { return (outcome, done.1) }
                scene = done.1
                continue
            }
            let isLast = attempt == Self.attemptLimit
            let height = try await measureHeight(for: method, on: claimed)
            let run = { @Sendable (wait: Wait) throws(WebDAVError) in
                let context = claimed.context.at(self.now())
                if wait == .allowed { self.state.expireLocks(now: context.now) }
                return try self.commitNow(
                    method, prepared, from: first, claimed: claimed, context, height: height,
                    isLast: isLast, look: wait == .allowed ? .mayWait : .atOnce)
            }
            let change = { @Sendable () throws(WebDAVError) in try run(.allowed) }
            let result =
                if method.commitsLongWork(on: claimed, prepared) {
                    try await offloadLong(for: claimed.context.request.client, .begins, change)
                } else if resources.changesAtOnce, method.canBeBrief(prepared) {
                    try await self.attempt(run)
                } else {
                    try await offload(change)
                }
            if let outcome = result.outcome { return (outcome, result.scene) }
            scene = result.scene
        }
        throw .busy
    }

    /// Commits a change of rows on the event loop: the lookups are answered from memory, and no thread blocks
    /// on the commit.
    ///
    /// - Returns: nil, with nothing changed, if the change affects more than rows or the lookup would block;
    ///   no outcome if the change affects paths other than the locked ones.
    private func commitRows<Method: ChangeMethod>(
        _ method: Method, _ prepared: Method.Prepared, from first: Scene, _ claimed: Scene
    ) async throws(WebDAVError) -> (Method.Outcome?, Scene)? {
        guard method.mayChangeRowsOnly else { return nil }
        let context = claimed.context.at(now())
        if state.hasEndedLocks(now: context.now) { return nil }
        let current: Scene
        let change: RowChange<Method.Outcome>?
        do throws(WebDAVError) {
            let check: WriteGuard
            (current, check) = try checkedScene(for: method, context: context, look: .first(.never))
            guard current.restsOnPaths(of: claimed) else { return (nil, current) }
            try checkAllowed(method, from: first, on: current)
            change = try method.rowChange(current, prepared, guard: check)
        } catch {
            if error.wouldBlock { return nil }
            throw error
        }
        guard let change else { return nil }
        do throws(StateError) { try await state.commitWithoutBlocking(change.rows) } catch {
            if error == .propertiesTooLarge, let outcome = change.outcomeIfTooLarge {
                return (outcome, current)
            }
            throw WebDAVError(state: error)
        }
        return (change.outcome, current)
    }

    /// Repeats the lookup and the checks, and commits the change.
    ///
    /// - Parameters:
    ///   - claimed: the lookup whose paths are locked.
    ///   - context: the context with the current time.
    ///   - height: the height of the moved tree, if it had to be measured.
    ///   - look: the lookup mode. If it must not block, throws `wouldBlock`, with nothing changed, unless the
    ///     change is brief.
    /// - Returns: no outcome if the change affects paths other than the locked ones, if another program
    ///   changed a name first, or if the height of the moved tree must be measured first.
    func commitNow<Method: ChangeMethod>(
        _ method: Method, _ prepared: Method.Prepared, from first: Scene, claimed: Scene,
        _ context: RequestContext, height: MeasuredHeight? = nil, isLast: Bool, look: Look
    ) throws(WebDAVError) -> (outcome: Method.Outcome?, scene: Scene) {
        let (current, check) = try checkedScene(for: method, context: context, look: look)
        if !method.serves(prepared, from: first, in: current) { throw .busy }
        // A link was changed after the lookup, so the change affects paths that are not locked.
        guard current.restsOnPaths(of: claimed) else { return (nil, current) }
        try checkAllowed(method, from: first, on: current)
        if look != .mayWait, !method.isBrief(on: current) { throw WebDAVError(store: .wouldBlock) }
        guard try checkHeight(of: method, on: current, measured: height) else {
            if look != .mayWait { throw WebDAVError(store: .wouldBlock) }
            return (nil, current)
        }
        do throws(WebDAVError) {
            return (try method.commit(current, prepared, guard: check), current)
        } catch {
            if error.isOvertaken, !isLast { return (nil, current) }
            throw error
        }
    }

    /// Returns the path locks of the method, plus a shared lock on every other path that the checks depend
    /// on, so that nothing changes before the commit. An exclusive lock of the method already protects the
    /// paths above and below it.
    func claims<Method: ChangeMethod>(of method: Method, on scene: Scene) -> [Claim] {
        var claims = method.claims(on: scene)
        func share(_ path: ResourcePath) {
            let claim = Claim(path: path, mode: .shared)
            if !claims.contains(where: claim.overlaps) { claims.append(claim) }
        }
        share(scene.target.path)
        if let destination = scene.destination { share(destination.path) }
        for path in scene.pathsBeside { share(path) }
        return claims
    }

    /// Returns the expected result of a lookup if there are no symbolic links; used only for the paths of the
    /// first path locks.
    func expectedScene<Method: ChangeMethod>(for method: Method, context: RequestContext) -> Scene {
        let target = Lookup(path: context.path, state: .unmapped)
        let destination = method.destination.map { Lookup(path: $0.path, state: .unmapped) }
        return Scene(
            context: context, target: target, subject: target, destination: destination,
            destinationSubject: destination,
            tagged: tags(in: context).compactMap { path(ofReference: $0, in: context) })
    }

    /// Returns the distinct Resource-Tags of `If`.
    private func tags(in context: RequestContext) -> [String] {
        guard let header = context.ifHeader else { return [] }
        return Set(header.lists.compactMap(\.resourceTag)).sorted()
    }

    private func checkedScene<Method: ChangeMethod>(
        for method: Method, context: RequestContext, look: Look
    ) throws(WebDAVError) -> (Scene, WriteGuard) {
        let scene = try scene(for: method, context: context, look: look)
        let effects = try method.effects(on: scene)
        if rules != nil { try checkName(of: method, on: scene) }
        try checkDepth(of: method, on: scene)
        let check = WriteGuard(share: self, context: context, wait: look.wait, scene: scene)
        try check.check(scene, effects: effects)
        return (scene, check)
    }

    private func scene<Method: ChangeMethod>(
        for method: Method, context: RequestContext, look: Look
    ) throws(WebDAVError) -> Scene {
        try storing { () throws(StoreError) in
            let (target, subject) = try self.look(
                at: context.path, last: method.targetSegment, beside: nil,
                look.expecting(free: method.makesTarget))
            var destination: (itself: Lookup, seen: Lookup)?
            if let (path, last) = method.destination {
                destination = try self.look(at: path, last: last, beside: target, look.expecting(free: true))
                if let own = try ownName(destination?.itself, of: target, as: path, look.wait) {
                    let itself = method.respellsTarget ? own : target
                    destination = (itself, itself)
                }
            }
            var tagged: [ResourcePath] = []
            for tag in tags(in: context) {
                if let path = path(ofReference: tag, in: context) {
                    tagged.append(try lookTagged(at: path, wait: look.wait).path)
                }
            }
            return Scene(
                context: context, target: target, subject: subject, destination: destination?.itself,
                destinationSubject: destination?.seen, tagged: tagged)
        }
    }
}
