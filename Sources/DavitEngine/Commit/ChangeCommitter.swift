internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Runs one change in four steps: look up, prepare, commit under path locks, finish; see ``ChangeMethod``.
///
/// There are several ways to run the steps:
/// - ``reply()`` runs them in one synchronous call on the event loop, if nothing has to wait.
/// - ``run()`` runs them in a task, and blocking calls on other threads. A brief change is committed in one synchronous
///   call on the event loop, or in one job on another thread if the disk may have to wait.
/// - ``runBlocking()`` runs them on the current thread, for work outside of requests.
struct ChangeCommitter<Method: ChangeMethod>: Sendable {
    let method: Method
    /// The context of the request. The steps under path locks use a copy with the current time, except those that
    /// ``reply()`` runs without waiting.
    let context: RequestContext

    var share: Share { method.share }
    var hooks: ShareHooks { share.configuration.hooks }
    private var depthLimit: DepthLimit { DepthLimit(of: share) }

    /// The maximum number of attempts to commit. An attempt is repeated if, for example, other programs change
    /// symbolic links on the path or create the same name.
    private static var attemptLimit: Int { 8 }

    init(_ method: Method, _ context: RequestContext) {
        self.method = method
        self.context = context
    }

    /// Runs all steps.
    func run() async throws(WebDAVError) -> HTTPResponse {
        do throws(WebDAVError) { return try await runSteps() } catch {
            reportFailure(error)
            throw error
        }
    }

    /// Records a refusal in the audit log, and the reason of an internal error in the log.
    private func reportFailure(_ error: WebDAVError) {
        audit(error)
        if let failure = error.failure {
            share.report("\(context.request.method.rawValue) \(context.path) failed: \(failure)")
        }
    }

    private func runSteps() async throws(WebDAVError) -> HTTPResponse {
        // `WebDAVHandler` has checked this already, but other code also starts changes.
        if share.configuration.isReadOnly { throw WebDAVError(.forbidden) }
        // Before the content is received. The commit asks again.
        try admitAudit()
        let first = try await lookUp()
        let asked = share.hooksCanRefuse ? action(on: first) : nil
        let prepared = try await prepare(first, asked)
        let committed: Committed
        do throws(WebDAVError) {
            // Ask about an upload only now, because the hook may read the content.
            if let asked, asked.kind == .upload {
                try await ask(about: asked, method.content(of: prepared))
            }
            if canCommitInOneStep, method.canCommitInline(prepared) {
                let response = try respondWithoutWaiting(prepared, first, context.at(share.now()))
                if let response { return response }
                committed = try await commitInOneJob(prepared, from: first)
            } else {
                committed = try await commit(prepared, from: first)
            }
        } catch {
            await method.discard(prepared, for: first)
            throw error
        }
        return try await finish(committed)
    }

    typealias Committed = (outcome: Method.Outcome, change: ChangeTarget)
    /// The result of an attempt to commit. If there is no outcome, the attempt must be repeated for `change`.
    typealias Attempt = (outcome: Method.Outcome?, change: ChangeTarget)

    // MARK: 1. Look up

    /// Looks up the resources and checks the change. Skips both if the method permits it and no hook must allow the
    /// change.
    private func lookUp() async throws(WebDAVError) -> ChangeTarget {
        if method.skipsInitialLookup(context.request), !share.hooksCanRefuse { return expectedTarget() }
        return try await share.work.attempt { wait throws(WebDAVError) in
            try self.checkedTarget(context, .first(wait)).change
        }
    }

    // MARK: 2. Prepare

    /// Receives the content or builds a copy, without path locks.
    /// - Parameter asked: the action that a hook must allow; nil without hooks.
    private func prepare(
        _ first: ChangeTarget, _ asked: ShareAction?
    ) async throws(WebDAVError) -> Method.Prepared {
        // Ask before an expensive copy is built.
        if let asked, asked.kind != .upload { try await ask(about: asked) }
        return try await method.prepare(first)
    }

    // MARK: 3. Lock paths, check, commit

    /// Acquires the path locks and commits a prepared change.
    func commit(_ prepared: Method.Prepared, from first: ChangeTarget) async throws(WebDAVError) -> Committed
    {
        var change = first
        for number in 1...Self.attemptLimit {
            let locked = change
            let pathLock: PathLock
            let requests =
                share.hasSessions && method.pathLocksDependOnState
                ? try await pathLockRequestsAfterQueries(on: locked) : pathLockRequests(on: locked)
            do { pathLock = try await share.pathLocks.acquire(requests) } catch { throw .busy }
            defer { pathLock.release() }
            var attempt = try await commitRows(prepared, from: first, locked)
            if attempt == nil {
                attempt = try await commitResources(
                    prepared, from: first, locked, requests, isLast: number == Self.attemptLimit)
            }
            guard let attempt else { throw .busy }
            if let outcome = attempt.outcome { return (outcome, attempt.change) }
            change = attempt.change
        }
        throw .busy
    }

    /// Commits a change of resources, on the event loop if it cannot block, otherwise on another thread.
    private func commitResources(
        _ prepared: Method.Prepared, from first: ChangeTarget, _ locked: ChangeTarget,
        _ requests: [PathLockRequest], isLast: Bool
    ) async throws(WebDAVError) -> Attempt {
        let height = try await depthLimit.measureHeight(for: method, on: locked)
        let commit = { @Sendable (wait: Wait) throws(WebDAVError) -> Attempt in
            if wait == .never {
                return try self.commitNow(
                    prepared, from: first, locked: locked, locked.context.at(self.share.now()),
                    height: height, isLast: isLast, .nonBlocking)
            }
            return try self.commitBlocking(
                prepared, from: first, locked: locked, requests, self.currentContext(of: locked),
                height: height, isLast: isLast)
        }
        if !share.hasSessions, method.commitsLongWork(on: locked, prepared) {
            return try await share.work.runLong(for: locked.context.client, .begins) {
                () throws(WebDAVError) in try commit(.allowed)
            }
        }
        if share.resources.commitsWithoutBlocking, method.canCommitInline(prepared) {
            return try await share.work.attempt(commit)
        }
        return try await share.work.run(inFolderOf: locked.target.path) { () throws(WebDAVError) in
            try commit(.allowed)
        }
    }

    /// Returns the context of a change with the current time, after the locks that have expired are removed.
    private func currentContext(of change: ChangeTarget) -> RequestContext {
        let context = change.context.at(share.now())
        share.state.expireLocks(now: context.now)
        return context
    }

    /// Commits a change of rows on the event loop, without blocking a thread.
    ///
    /// - Returns: nil, with nothing changed, if the change affects more than rows, the lookup would block, or
    ///   expired locks must be removed first; no outcome if the change affects paths other than the locked ones.
    private func commitRows(
        _ prepared: Method.Prepared, from first: ChangeTarget, _ locked: ChangeTarget
    ) async throws(WebDAVError) -> Attempt? {
        guard method.mayChangeRowsOnly, !hasEvent, !share.hasSessions else { return nil }
        let context = locked.context.at(share.now())
        if share.state.hasEndedLocks(now: context.now) { return nil }
        let current: ChangeTarget
        let update: RowChange<Method.Outcome>?
        do throws(WebDAVError) {
            let check: WriteGuard
            (current, check) = try checkedTarget(context, .first(.never))
            guard current.hasSamePaths(as: locked) else { return (nil, current) }
            try checkAllowed(from: first, on: current)
            update = try method.rowChange(current, prepared, guard: check)
        } catch {
            if error.wouldBlock { return nil }
            throw error
        }
        guard let update else { return nil }
        try admitAudit()
        do throws(StateError) { try await share.state.commitWithoutBlocking(update.rows) } catch {
            if error == .propertiesTooLarge, let outcome = update.outcomeIfTooLarge?() {
                return (outcome, current)
            }
            throw WebDAVError(state: error)
        }
        audit(update.outcome, on: current)
        return (update.outcome, current)
    }

    /// Repeats the lookup and the checks, commits the change, and records it.
    ///
    /// - Parameters:
    ///   - first: the lookup for which the change was prepared and allowed.
    ///   - locked: the lookup whose paths are locked.
    ///   - context: the context with the current time.
    ///   - height: the height of the moved tree, if it had to be measured.
    ///   - mode: in a non-blocking mode, this method throws `wouldBlock`, with nothing changed, unless the change is
    ///     brief.
    /// - Returns: no outcome if the change affects paths other than the locked ones, if another program
    ///   changed a name first, or if the height of the moved tree must be measured first.
    private func commitNow(
        _ prepared: Method.Prepared, from first: ChangeTarget, locked: ChangeTarget,
        _ context: RequestContext, height: MeasuredHeight? = nil, isLast: Bool, _ mode: LookupMode,
        in session: CommittingSession? = nil
    ) throws(WebDAVError) -> Attempt {
        let (current, check) = try checkedTarget(context, mode)
        if !method.canReuse(prepared, from: first, in: current) { throw .busy }
        // The paths differ if the expected paths contain a symbolic link, or if another program has changed one. The
        // new paths are not locked.
        guard current.hasSamePaths(as: locked) else { return (nil, current) }
        try checkAllowed(from: first, on: current)
        if mode != .mayWait, !method.commitsInline(on: current) { throw WebDAVError(store: .wouldBlock) }
        guard try depthLimit.checkHeight(of: method, on: current, measured: height) else {
            if mode != .mayWait { throw WebDAVError(store: .wouldBlock) }
            return (nil, current)
        }
        try admitAudit()
        let members = recordedMembers(on: current, mode)
        do throws(WebDAVError) {
            let outcome =
                hasEvent
                ? try commitWithEvent(current, prepared, guard: check, members, mode)
                : try method.commit(current, prepared, guard: check)
            // Otherwise, it is recorded when the transaction has been committed.
            if !share.hasSessions {
                audit(outcome, on: current, members)
            } else {
                session?.members = members
            }
            return (outcome, current)
        } catch {
            if error.lostRace, !isLast { return (nil, current) }
            throw error
        }
    }

    /// Commits the change like ``commitNow(_:from:locked:_:height:isLast:_:in:)``, on a thread that may block: as one
    /// transaction, if the stores are in a database that several servers use.
    private func commitBlocking(
        _ prepared: Method.Prepared, from first: ChangeTarget, locked: ChangeTarget,
        _ requests: [PathLockRequest], _ context: RequestContext, height: MeasuredHeight?, isLast: Bool
    ) throws(WebDAVError) -> Attempt {
        guard let sessions = share.work.sessions else {
            return try commitNow(
                prepared, from: first, locked: locked, context, height: height, isLast: isLast, .mayWait)
        }
        let session = CommittingSession()
        let uses = requests.map { PathUse($0.path, isExclusive: $0.mode == .exclusive) }
        let result: Result<Attempt, WebDAVError>
        do throws(StoreSessionError) {
            result = try sessions.change(uses) {
                do throws(WebDAVError) {
                    let attempt = try commitNow(
                        prepared, from: first, locked: locked, context, height: height, isLast: isLast,
                        .mayWait, in: session)
                    return (.success(attempt), attempt.outcome != nil)
                } catch {
                    return (.failure(error), false)
                }
            }
        } catch {
            if error == .conflict, !isLast { return (nil, locked) }
            throw WebDAVError(session: error)
        }
        let attempt = try result.get()
        if let outcome = attempt.outcome { audit(outcome, on: attempt.change, session.members) }
        return attempt
    }

    // MARK: 4. Finish

    /// Finishes the method, which removes replaced content, and notifies hooks.
    private func finish(_ committed: Committed) async throws(WebDAVError) -> HTTPResponse {
        let response = try await method.finish(committed.outcome, on: committed.change)
        auditPartial(response, on: committed.change)
        notify(of: committed.change, response)
        return response
    }

    // MARK: Paths and checks

    /// Returns ``pathLockRequests(on:)``, which queries the state.
    private func pathLockRequestsAfterQueries(on change: ChangeTarget) async throws(WebDAVError)
        -> [PathLockRequest]
    {
        try await share.work.run { () throws(WebDAVError) in pathLockRequests(on: change) }
    }

    /// Returns the requests for the path locks of the method, plus a shared lock on every other path on which the
    /// checks depend, so that it does not change before the commit. Paths above or below a lock of the method need no
    /// further lock.
    private func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        var requests = method.pathLockRequests(on: change)
        func share(_ path: ResourcePath) {
            // The usual case. Comparing a path with itself takes no time.
            if requests.contains(where: { $0.path == path }) { return }
            let request = PathLockRequest(path: path, mode: .shared)
            if !requests.contains(where: request.overlaps) { requests.append(request) }
        }
        share(change.target.path)
        if let destination = change.destination?.path { share(destination) }
        for path in change.additionalPaths { share(path) }
        return requests
    }

    /// Returns the expected paths of a lookup, assuming that there are no symbolic links. The states of the resources
    /// are placeholders.
    private func expectedTarget() -> ChangeTarget {
        let target = Lookup(path: context.path, state: .unmapped)
        let destination = method.destination.map { Lookup(path: $0.path, state: .unmapped) }
        return ChangeTarget(
            context: context, target: target, destination: destination,
            tagged: tags(in: context).compactMap { share.urls.path(ofReference: $0, in: context) })
    }

    /// Returns the distinct Resource-Tags of `If`.
    private func tags(in context: RequestContext) -> [String] {
        guard let header = context.ifHeader else { return [] }
        return Set(header.lists.compactMap(\.resourceTag)).sorted()
    }

    /// Looks up the resources of the change, and checks it.
    private func checkedTarget(
        _ context: RequestContext, _ mode: LookupMode
    ) throws(WebDAVError) -> (change: ChangeTarget, check: WriteGuard) {
        let change = try resolve(context, mode)
        let check = WriteGuard(share: share, context: context, wait: mode.wait, change: change)
        if share.hasAccessPolicy { try check.checkRights(method.requiredRights(on: change), for: change) }
        try method.check(change)
        if share.rules != nil { try checkName(on: change) }
        try depthLimit.check(of: method, on: change)
        try check.check(change, effects: method.effects(on: change))
        return (change, check)
    }

    private func resolve(_ context: RequestContext, _ mode: LookupMode) throws(WebDAVError) -> ChangeTarget {
        try storing { () throws(StoreError) in
            let (target, linked) = try share.lookup.resources(
                at: context.path, last: method.targetSegment, reusing: nil,
                mode.expecting(free: method.createsTarget))
            // Without these, nothing else is looked up, and the lookup need not be copied.
            guard method.destination != nil || context.ifHeader != nil else {
                return ChangeTarget(context: context, target: target, linked: linked)
            }
            var destination: (named: Lookup, linked: Lookup?)?
            if let (path, last) = method.destination {
                destination = try share.lookup.resources(
                    at: path, last: last, reusing: target, mode.expecting(free: true))
                if let own = try share.lookup.ownName(
                    destination?.named, of: target, as: path, mode.wait)
                {
                    destination = (method.respellsTarget ? own : target, nil)
                }
            }
            var tagged: [ResourcePath] = []
            for tag in tags(in: context) {
                if let path = share.urls.path(ofReference: tag, in: context) {
                    tagged.append(try share.lookup.taggedResource(at: path, wait: mode.wait).path)
                }
            }
            return ChangeTarget(
                context: context, target: target, linked: linked, destination: destination?.named,
                linkedDestination: destination?.linked, tagged: tagged)
        }
    }
}

/// What a transaction leaves to be done after its commit. Used by one task at a time.
private final class CommittingSession {
    /// The members that the change deletes, for the audit log.
    var members: AuditEvent.Members?
}

// MARK: Brief changes

extension ChangeCommitter {
    /// Runs all steps in one synchronous call if that requires no waiting for content, path locks or the disk.
    /// Otherwise changes nothing and returns a pending reply that runs them.
    func reply() throws(WebDAVError) -> Reply {
        guard canCommitInOneStep, method.skipsInitialLookup(context.request) else { return pendingReply() }
        let prepared: Method.Prepared
        do throws(WebDAVError) {
            guard let arrived = try method.prepareWithoutWaiting(context.request) else {
                return pendingReply()
            }
            let response = try respondWithoutWaiting(arrived, expectedTarget(), context)
            if let response { return .ready(response) }
            prepared = arrived
        } catch {
            reportFailure(error)
            throw error
        }
        return .pending { () async throws(HTTPError) in
            try await WebDAVError.converted { () async throws(WebDAVError) in try await run(prepared) }
        }
    }

    private func pendingReply() -> Reply {
        .pending { () async throws(HTTPError) in
            try await WebDAVError.converted { () async throws(WebDAVError) in try await run() }
        }
    }

    /// Runs the steps after the preparation, for a change that skips the initial lookup.
    private func run(_ prepared: Method.Prepared) async throws(WebDAVError) -> HTTPResponse {
        do throws(WebDAVError) {
            return try await finish(try await commitInOneJob(prepared, from: expectedTarget()))
        } catch {
            reportFailure(error)
            throw error
        }
    }

    /// Whether the share lets a brief change be committed in one step: no hook can refuse it, and no database has to be
    /// asked.
    private var canCommitInOneStep: Bool { !share.hooksCanRefuse && !share.hasSessions }

    /// Commits a brief change on the event loop.
    /// - Parameter locked: a lookup, whose paths are locked.
    /// - Returns: nil, with nothing changed, if something has to wait.
    private func respondWithoutWaiting(
        _ prepared: Method.Prepared, _ locked: @autoclosure () -> ChangeTarget, _ context: RequestContext
    ) throws(WebDAVError) -> HTTPResponse? {
        // `If` can refer to other resources, which requires more than one lookup.
        guard share.resources.commitsWithoutBlocking, context.ifHeader == nil, !share.hasHooks else {
            return nil
        }
        let locked = locked()
        return try share.pathLocks.withPathLockIfFree(pathLockRequests(on: locked)) {
            () throws(WebDAVError) in
            // With preconditions, the names must not be assumed free: the existing resource determines the result.
            if method.expectsFreeNames, !Preconditions.arePresent(in: context.request),
                let response = try respond(prepared, locked, context, .nonBlockingAssumingFreeNames)
            {
                return response
            }
            return try respond(prepared, locked, context, .nonBlocking)
        }
    }

    private func respond(
        _ prepared: Method.Prepared, _ locked: ChangeTarget, _ context: RequestContext, _ mode: LookupMode
    ) throws(WebDAVError) -> HTTPResponse? {
        do throws(WebDAVError) {
            let (outcome, change) = try commitNow(
                prepared, from: locked, locked: locked, context, isLast: false, mode)
            return outcome.flatMap { method.response(to: $0, on: change) }
        } catch {
            if error.wouldBlock { return nil }
            // A lock covers the parent collection, which matters only if the name is free. Retry with a full lookup.
            if mode == .nonBlockingAssumingFreeNames, error.status == .locked { return nil }
            // The right to replace a resource is another one than that to create it.
            if mode == .nonBlockingAssumingFreeNames, share.access != nil { return nil }
            throw error
        }
    }

    /// Commits a brief change in one job on another thread, together with the lookup and the checks, which takes less time
    /// than several. If the job would have to wait for a path lock, or cannot commit in its first attempt, it changes
    /// nothing, and ``commit(_:from:)`` follows.
    private func commitInOneJob(
        _ prepared: Method.Prepared, from first: ChangeTarget
    ) async throws(WebDAVError) -> Committed {
        let committed = try await share.work.run(inFolderOf: first.target.path) { () throws(WebDAVError) in
            try commitIfFree(prepared, first)
        }
        if let committed { return committed }
        return try await commit(prepared, from: first)
    }

    /// Commits the change on the current thread, which may block.
    /// - Parameter locked: a lookup, whose paths are locked.
    /// - Returns: nil, with nothing changed, if a path lock is in use, or another attempt is necessary.
    private func commitIfFree(
        _ prepared: Method.Prepared, _ locked: ChangeTarget
    ) throws(WebDAVError) -> Committed? {
        if method.commitsLongWork(on: locked, prepared) { return nil }
        return try share.pathLocks.withPathLockIfFree(pathLockRequests(on: locked)) {
            () throws(WebDAVError) in
            let (outcome, change) = try commitNow(
                prepared, from: locked, locked: locked, currentContext(of: locked), isLast: false,
                .mayWait)
            return outcome.map { ($0, change) }
        }
    }
}

// MARK: On a thread that may block

extension ChangeCommitter where Method.Prepared == Void {
    /// Runs the steps up to the commit on the current thread. Hooks are notified but cannot refuse.
    /// - Throws: 503 if a path lock is in use, instead of waiting for it.
    func runBlocking() throws(WebDAVError) -> Committed {
        var change = expectedTarget()
        for _ in 0..<Self.attemptLimit {
            let locked = change
            let requests = pathLockRequests(on: locked)
            let attempt = try share.pathLocks.withPathLockIfFree(requests) {
                () throws(WebDAVError) -> Attempt? in
                let height = try depthLimit.measureHeightNow(for: method, on: locked)
                // No hook has allowed an earlier action, so pass `locked` as the lookup to compare with.
                return try commitBlocking(
                    (), from: locked, locked: locked, requests, currentContext(of: locked), height: height,
                    isLast: true)
            }
            guard let attempt else { throw .busy }
            if let outcome = attempt.outcome {
                notify(of: attempt.change, HTTPResponse(status: .created))
                return (outcome, attempt.change)
            }
            change = attempt.change
        }
        throw .busy
    }
}
