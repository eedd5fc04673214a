internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// LOCK (RFC 4918 §9.10): creates a write lock, or refreshes the locks whose tokens `If` submits.
struct LockMethod: ChangeMethod {
    enum Prepared: Sendable {
        case new(LockInfo)
        case refresh
    }

    struct Outcome: Sendable {
        /// The locks for `lockdiscovery`, with the new lock or the refreshed locks last.
        var locks: [Lock]
        var newToken: LockToken?
        var isNewResource = false
        /// The tokens of the refreshed locks.
        var refreshed: [LockToken] = []
        /// Conflicting locks on members; if there are any, no lock was created.
        var conflicts: [Lock] = []
    }

    let share: Share
    let depth: Depth
    let seconds: Int64

    init(share: Share, request: HTTPRequest) throws(WebDAVError) {
        self.share = share
        // §9.10.3: the default is infinity, and 1 is not allowed.
        depth = try Depth.requested(in: request, fallback: .infinity)
        if depth == .one { throw WebDAVError(.badRequest) }
        let timeout = request.combinedBytes(of: .timeout).map { TimeoutHeader.parse($0.span) }
        seconds = (timeout ?? TimeoutHeader(requestedTimeouts: [])).granted(
            default: share.configuration.defaultLockSeconds, maximum: share.configuration.maximumLockSeconds)
    }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        let right = RequiredRight.writing(change.target)
        guard depth == .infinity, change.target.info?.isCollection == true else { return [right] }
        return [
            right, RequiredRight(rights: right.rights, path: right.path, isDeep: true, places: .areKept),
        ]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        try change.target.checkCreatable()
        if change.target.info != nil {
            _ = try change.target.mapped(for: change.context)
        } else if change.context.endsInSlash {
            // §7.3: LOCK creates a resource that is not a collection.
            throw WebDAVError(.conflict)
        }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        // None on a resource that exists: submitting a token does not resolve a conflict with another lock. `create`
        // checks conflicts.
        let creates = change.target.info == nil && change.context.request.body.isPresent
        return creates ? [.member(change.target.path)] : []
    }

    var auditedOperation: AuditEvent.Operation? { .lock }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        // A refreshed lock is no change of who may write.
        guard let token = outcome.newToken else { return false }
        event.detail = token.uri
        return true
    }

    /// A lock on an unmapped URL creates an empty resource (§7.3), which is an upload.
    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? {
        change.target.info == nil && change.context.request.body.isPresent ? .upload : nil
    }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> Prepared {
        let body = try await share.xmlBodies.read(change.context)
        if body.isEmpty { return .refresh }
        let info = try parsing { () throws(BodyError) in
            try LockInfo.parse(body.bytes, charset: body.charset, limits: body.limits)
        }
        // The request is valid, but `owner` is too large to store (RFC 4918 §11.5).
        if info.owner?.element.count ?? 0 > share.configuration.lockOwnerLimitBytes {
            share.limitLog.refused("size of a lock's owner", change.context)
            throw WebDAVError(.insufficientStorage)
        }
        return .new(info)
    }

    var mayChangeRowsOnly: Bool { true }

    /// The maximum number of locks at or below the target that are checked on the event loop.
    private static let lockLimit = 64

    func rowChange(
        _ change: ChangeTarget, _ prepared: Prepared, guard check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>? {
        if change.target.info == nil { return nil }
        if check.wait == .never, depth == .infinity,
            share.state.lockCount(atOrUnder: change.target.path) > Self.lockLimit
        {
            return nil
        }
        return switch prepared {
        case .refresh: try refresh(change, check)
        case .new(let info): try create(info, change, check)
        }
    }

    func commit(
        _ change: ChangeTarget, _ prepared: Prepared, guard check: WriteGuard
    ) throws(WebDAVError) -> Outcome {
        let update =
            switch prepared {
            case .refresh: try refresh(change, check)
            case .new(let info): try create(info, change, check)
            }
        try storing { () throws(StoreError) in
            if update.outcome.isNewResource, let lock = update.outcome.locks.last {
                try createResource(lock)
            } else {
                try share.rows.commit(update.rows)
            }
        }
        return update.outcome
    }

    // MARK: New locks

    /// Returns the change that creates a lock. For a new resource it contains no rows, because ``createResource(_:)``
    /// commits them.
    private func create(
        _ info: LockInfo, _ change: ChangeTarget, _ check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome> {
        let path = change.target.path
        let covering = try check.locks(covering: path)
        let conflicts = covering.filter { !$0.scope.isCompatible(with: info.scope) }
        guard conflicts.isEmpty else {
            throw WebDAVError(.locked, .noConflictingLock(check.hrefs(ofRootsOf: conflicts, at: path)))
        }
        let below = depth == .infinity ? try check.locks(under: path) : []
        let inside = below.filter { !$0.scope.isCompatible(with: info.scope) }
        guard inside.isEmpty else {
            return RowChange(rows: [], outcome: Outcome(locks: [], conflicts: inside))
        }
        let lock = makeLock(info, change)
        try checkLimits(lock, beside: covering, change)
        let outcome = Outcome(
            locks: covering + [lock], newToken: lock.token, isNewResource: change.target.info == nil)
        return RowChange(
            rows: change.target.info.map { Self.rows(lock, on: $0) } ?? [], outcome: outcome)
    }

    /// Checks the limits on the number and size of locks.
    /// - Throws: 507 if the resource, the client or the share would exceed a limit.
    private func checkLimits(
        _ lock: Lock, beside covering: [Lock], _ change: ChangeTarget
    ) throws(WebDAVError) {
        let (configuration, state) = (share.configuration, share.state)
        guard covering.count(where: { $0.root == lock.root }) < configuration.lockLimitPerResource else {
            share.limitLog.refused("number of locks on a resource", change.context)
            throw WebDAVError(.insufficientStorage)
        }
        guard state.admits(lock, configuration.lockLimits) else {
            share.limitLog.refused("number or size of locks", change.context)
            throw WebDAVError(.insufficientStorage)
        }
    }

    private static func rows(_ lock: Lock, on info: ResourceInfo) -> [StateChange] {
        [.bind(lock.root, current: info.identity, pending: nil), .addLock(lock)]
    }

    /// Creates a locked empty resource (§7.3). The rows are committed first, bound to the identity of the new file, and
    /// have no effect until it exists.
    private func createResource(_ lock: Lock) throws(StoreError) {
        let staged = try share.resources.stageContent(for: lock.root, expectedLength: 0)
        let info = try staged.seal(replacing: nil, modified: nil)
        try share.rows.commit(Self.rows(lock, on: info))
        do throws(StoreError) {
            try staged.publish(isReplacing: false)
        } catch {
            try? share.rows.commit([.removeLock(lock.token, root: lock.root)])
            throw error
        }
    }

    private func makeLock(_ info: LockInfo, _ change: ChangeTarget) -> Lock {
        var generator = SystemRandomNumberGenerator()
        // Each call of the generator is a system call, so generate two large numbers rather than 16 bytes.
        let random = [generator.next(), generator.next()].flatMap { (number: UInt64) in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let isCollection = change.target.info?.isCollection == true
        let slash = isCollection && !change.context.endsInSlash
        return Lock(
            token: LockToken.make(from: random), root: change.target.path, depth: depth, scope: info.scope,
            owner: info.owner, principal: change.context.principal, timeoutSeconds: seconds,
            expiry: change.context.now.adding(seconds: seconds),
            rootHref: change.context.localHref + (slash ? [UInt8(ascii: "/")] : []),
            created: change.context.now, network: change.context.network)
    }

    // MARK: Refresh

    /// Returns the change that refreshes the locks whose tokens `If` submits (§9.10.2).
    /// - Throws: 400 without `If`; 412 if the target does not exist or no lock on it has a submitted token; 403 for
    ///   the lock of another principal.
    private func refresh(
        _ change: ChangeTarget, _ check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome> {
        guard change.context.ifHeader != nil else { throw WebDAVError(.badRequest) }
        let covering = try check.locks(covering: change.target.path)
        var refreshed = covering.filter { change.context.submittedTokens.contains($0.token.uri) }
        // A lock on a collection covers its members, but not unmapped URLs.
        guard change.target.info != nil, !refreshed.isEmpty else {
            throw WebDAVError(.preconditionFailed, .lockTokenMatchesRequestURI)
        }
        guard refreshed.allSatisfy(check.isOwner) else { throw WebDAVError(.forbidden) }
        let expiry = change.context.now.adding(seconds: seconds)
        for index in refreshed.indices {
            refreshed[index].timeoutSeconds = seconds
            refreshed[index].expiry = expiry
        }
        let changes = refreshed.map {
            StateChange.refreshLock($0.token, root: $0.root, timeoutSeconds: seconds, expiry: expiry)
        }
        // Return all of DAV:lockdiscovery, with the refreshed locks last, where clients look for them.
        let others = covering.filter { !change.context.submittedTokens.contains($0.token.uri) }
        let outcome = Outcome(
            locks: others + refreshed, newToken: nil, refreshed: refreshed.map(\.token))
        return RowChange(rows: changes, outcome: outcome)
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        guard outcome.conflicts.isEmpty else { return refusal(outcome.conflicts, change) }
        // A refreshed lock is missing if it expired and another request removed it before the refresh was committed.
        if !outcome.refreshed.isEmpty {
            let state = share.state
            let isRefreshed = try await share.work.attempt { _ throws(WebDAVError) in
                outcome.refreshed.allSatisfy { state.lock(for: $0, now: change.context.now) != nil }
            }
            if !isRefreshed { throw WebDAVError(.preconditionFailed, .lockTokenMatchesRequestURI) }
        }
        var response = HTTPResponse(status: outcome.isNewResource ? .created : .ok)
        if let token = outcome.newToken {
            response.fields.append(.lockToken, token.codedURL)
        }
        response.fields.append(.contentType, "application/xml; charset=utf-8")
        let check = WriteGuard(share: share, context: change.context, wait: .allowed)
        let active = check.activeLocks(outcome.locks, at: change.target.path)
        response.body = .bytes(LockDiscoveryWriter.lockResponse(active))
        return response
    }

    /// Returns a 207 with the members that prevent the lock; the target itself has the status 424 (§9.10.3).
    private func refusal(_ conflicts: [Lock], _ change: ChangeTarget) -> HTTPResponse {
        let writer = MultistatusWriter()
        writer.begin()
        // §14.24: write each href once, even if a member has several shared locks.
        let check = WriteGuard(share: share, context: change.context, wait: .allowed)
        for href in check.hrefs(ofRootsOf: conflicts, at: change.target.path) {
            writer.beginResponse(href: Href.sanitize(href))
            writer.responseStatus(.locked)
            writer.endResponse(condition: .noConflictingLock([]))
        }
        writer.beginResponse(href: change.context.href, isCollection: true)
        writer.responseStatus(.failedDependency)
        writer.endResponse()
        writer.end()
        return .multistatus(body: .bytes(writer.drain()))
    }
}
