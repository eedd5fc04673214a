internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

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
            method.skipsInitialLookup(context.request) && configuration.hooks.allows == nil
            ? expectedTarget(for: method, context: context)
            : try await attempt { wait throws(WebDAVError) in
                try self.checkedTarget(for: method, context: context, mode: .first(wait)).0
            }
        let asked = configuration.hooks.allows == nil ? nil : action(of: method, on: first)
        // Ask before an expensive copy is built. For an upload, ask later, so that the hook can read the
        // content.
        if let asked, asked.kind != .upload { try await ask(about: asked) }
        let prepared = try await method.prepare(first)
        let outcome: (value: Method.Outcome, change: ChangeTarget)
        do throws(WebDAVError) {
            if let asked, asked.kind == .upload {
                try await ask(about: asked, method.content(of: prepared))
            }
            outcome = try await commit(method, prepared, from: first)
        } catch {
            await method.discard(prepared, for: first)
            throw error
        }
        let response = try await method.finish(outcome.value, on: outcome.change)
        notify(action(of: method, on: outcome.change), response)
        return response
    }

    /// Commits a prepared change under its own path locks.
    func commit<Method: ChangeMethod>(
        _ method: Method, _ prepared: Method.Prepared, from first: ChangeTarget
    ) async throws(WebDAVError) -> (value: Method.Outcome, change: ChangeTarget) {
        var change = first
        for attempt in 1...Self.attemptLimit {
            let claimed = change
            let pathLock: PathLock
            do { pathLock = try await pathLocks.acquire(claims(of: method, on: claimed)) } catch {
                throw .busy
            }
            defer { pathLock.release() }
            if let done = try await commitRows(method, prepared, from: first, claimed) {
                if let outcome = done.0 { return (outcome, done.1) }
                change = done.1
                continue
            }
            let isLast = attempt == Self.attemptLimit
            let height = try await measureHeight(for: method, on: claimed)
            let run = { @Sendable (wait: Wait) throws(WebDAVError) in
                let context = claimed.context.at(self.now())
                if wait == .allowed { self.state.expireLocks(now: context.now) }
                return try self.commitNow(
                    method, prepared, from: first, claimed: claimed, context, height: height,
                    isLast: isLast, mode: wait == .allowed ? .mayWait : .atOnce)
            }
            let update = { @Sendable () throws(WebDAVError) in try run(.allowed) }
            let result =
                if method.commitsLongWork(on: claimed, prepared) {
                    try await offloadLong(for: claimed.context.request.client, .begins, update)
                } else if resources.changesAtOnce, method.canCommitInline(prepared) {
                    try await self.attempt(run)
                } else {
                    try await offload(update)
                }
            if let outcome = result.outcome { return (outcome, result.change) }
            change = result.change
        }
        throw .busy
    }

    /// Commits a change of rows on the event loop: the lookups only read memory, and no thread blocks on the
    /// commit.
    ///
    /// - Returns: nil, with nothing changed, if the change affects more than rows or the lookup would block;
    ///   no outcome if the change affects paths other than the locked ones.
    private func commitRows<Method: ChangeMethod>(
        _ method: Method, _ prepared: Method.Prepared, from first: ChangeTarget, _ claimed: ChangeTarget
    ) async throws(WebDAVError) -> (Method.Outcome?, ChangeTarget)? {
        guard method.mayChangeRowsOnly else { return nil }
        let context = claimed.context.at(now())
        if state.hasEndedLocks(now: context.now) { return nil }
        let current: ChangeTarget
        let update: RowChange<Method.Outcome>?
        do throws(WebDAVError) {
            let check: WriteGuard
            (current, check) = try checkedTarget(for: method, context: context, mode: .first(.never))
            guard current.hasSamePaths(as: claimed) else { return (nil, current) }
            try checkAllowed(method, from: first, on: current)
            update = try method.rowChange(current, prepared, guard: check)
        } catch {
            if error.wouldBlock { return nil }
            throw error
        }
        guard let update else { return nil }
        do throws(StateError) { try await state.commitWithoutBlocking(update.rows) } catch {
            if error == .propertiesTooLarge, let outcome = update.outcomeIfTooLarge {
                return (outcome, current)
            }
            throw WebDAVError(state: error)
        }
        return (update.outcome, current)
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
        _ method: Method, _ prepared: Method.Prepared, from first: ChangeTarget, claimed: ChangeTarget,
        _ context: RequestContext, height: MeasuredHeight? = nil, isLast: Bool, mode: LookupMode
    ) throws(WebDAVError) -> (outcome: Method.Outcome?, change: ChangeTarget) {
        let (current, check) = try checkedTarget(for: method, context: context, mode: mode)
        if !method.canReuse(prepared, from: first, in: current) { throw .busy }
        // A link was changed after the lookup, so the change affects paths that are not locked.
        guard current.hasSamePaths(as: claimed) else { return (nil, current) }
        try checkAllowed(method, from: first, on: current)
        if mode != .mayWait, !method.commitsInline(on: current) { throw WebDAVError(store: .wouldBlock) }
        guard try checkHeight(of: method, on: current, measured: height) else {
            if mode != .mayWait { throw WebDAVError(store: .wouldBlock) }
            return (nil, current)
        }
        do throws(WebDAVError) {
            return (try method.commit(current, prepared, guard: check), current)
        } catch {
            if error.lostRace, !isLast { return (nil, current) }
            throw error
        }
    }

    /// Returns the path locks of the method, plus a shared lock on every other path that the checks depend
    /// on, so that nothing changes before the commit. An exclusive lock of the method already protects the
    /// paths above and below it.
    func claims<Method: ChangeMethod>(of method: Method, on change: ChangeTarget) -> [PathLockRequest] {
        var claims = method.claims(on: change)
        func share(_ path: ResourcePath) {
            let claim = PathLockRequest(path: path, mode: .shared)
            if !claims.contains(where: claim.overlaps) { claims.append(claim) }
        }
        share(change.target.path)
        if let destination = change.destination { share(destination.path) }
        for path in change.additionalPaths { share(path) }
        return claims
    }

    /// Returns the expected result of a lookup if there are no symbolic links; used only for the paths of the
    /// first path locks.
    func expectedTarget<Method: ChangeMethod>(for method: Method, context: RequestContext) -> ChangeTarget {
        let target = Lookup(path: context.path, state: .unmapped)
        let destination = method.destination.map { Lookup(path: $0.path, state: .unmapped) }
        return ChangeTarget(
            context: context, target: target, resolved: target, destination: destination,
            resolvedDestination: destination,
            tagged: tags(in: context).compactMap { path(ofReference: $0, in: context) })
    }

    /// Returns the distinct Resource-Tags of `If`.
    private func tags(in context: RequestContext) -> [String] {
        guard let header = context.ifHeader else { return [] }
        return Set(header.lists.compactMap(\.resourceTag)).sorted()
    }

    private func checkedTarget<Method: ChangeMethod>(
        for method: Method, context: RequestContext, mode: LookupMode
    ) throws(WebDAVError) -> (ChangeTarget, WriteGuard) {
        let change = try resolve(for: method, context: context, mode: mode)
        let effects = try method.effects(on: change)
        if rules != nil { try checkName(of: method, on: change) }
        try checkDepth(of: method, on: change)
        let check = WriteGuard(share: self, context: context, wait: mode.wait, change: change)
        try check.check(change, effects: effects)
        return (change, check)
    }

    private func resolve<Method: ChangeMethod>(
        for method: Method, context: RequestContext, mode: LookupMode
    ) throws(WebDAVError) -> ChangeTarget {
        try storing { () throws(StoreError) in
            let (target, resolved) = try self.lookUp(
                at: context.path, last: method.targetSegment, beside: nil,
                mode.expecting(free: method.makesTarget))
            var destination: (unresolved: Lookup, resolved: Lookup)?
            if let (path, last) = method.destination {
                destination = try self.lookUp(
                    at: path, last: last, beside: target, mode.expecting(free: true))
                if let own = try ownName(destination?.unresolved, of: target, as: path, mode.wait) {
                    let unresolved = method.respellsTarget ? own : target
                    destination = (unresolved, unresolved)
                }
            }
            var tagged: [ResourcePath] = []
            for tag in tags(in: context) {
                if let path = path(ofReference: tag, in: context) {
                    tagged.append(try lookUpTagged(at: path, wait: mode.wait).path)
                }
            }
            return ChangeTarget(
                context: context, target: target, resolved: resolved, destination: destination?.unresolved,
                resolvedDestination: destination?.resolved, tagged: tagged)
        }
    }
}
