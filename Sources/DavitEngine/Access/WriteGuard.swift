internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Checks preconditions, `If` and locks. Synchronous: runs on the event loop for an early response, and again
/// while the path locks of the change are held. Only the second result is authoritative.
struct WriteGuard: Sendable {
    let share: Share
    let context: RequestContext
    let wait: Wait
    /// The resources that have just been looked up, to avoid a second lookup for their locks.
    var change: ChangeTarget?

    /// Performs all checks that can refuse a change, in the order of RFC 9110 §13.2.1 and RFC 4918 §10.4.1:
    /// HTTP preconditions and `If` (412), then locks (423).
    ///
    /// - Parameter effects: the changes that the method is about to make.
    func check(_ change: ChangeTarget, effects: [WriteEffect]) throws(WebDAVError) {
        let (target, path) = (change.resolved.info, change.resolved.path)
        try checkPreconditions(target: target)
        try checkIf(target: target, path: path)
        guard share.state.hasLocks else { return }
        for effect in effects { try checkLocks(effect) }
        for effect in change.symlinkEffects { try checkLocks(effect) }
    }

    func checkPreconditions(target: ResourceInfo?) throws(WebDAVError) {
        let outcome = Preconditions.evaluate(
            context.request, current: RequestContext.validators(of: target), now: context.now)
        switch outcome {
        case .proceed: return
        case .notModified, .failed: throw WebDAVError(.preconditionFailed)
        }
    }

    /// RFC 4918 §10.4: throws 412 if `If` is present and none of its lists is true.
    func checkIf(target: ResourceInfo?, path: ResourcePath) throws(WebDAVError) {
        guard let header = context.ifHeader else { return }
        let holds = try header.evaluate { tag throws(WebDAVError) in
            try state(ofTag: tag, target: target, path: path)
        }
        guard holds else { throw WebDAVError(.preconditionFailed) }
    }

    private func state(
        ofTag tag: String?, target: ResourceInfo?, path: ResourcePath
    ) throws(WebDAVError) -> IfHeader.ResourceState {
        guard let tag else { return try state(at: path, info: target) }
        guard let tagged = share.urls.path(ofReference: tag, in: context) else { return .unmapped }
        let lookup = try storing { () throws(StoreError) in
            try share.lookup.taggedResource(at: tagged, wait: wait)
        }
        return try state(at: lookup.path, info: lookup.info)
    }

    private func state(at path: ResourcePath, info: ResourceInfo?) throws(WebDAVError)
        -> IfHeader.ResourceState
    {
        var tokens = Set(try locks(covering: path).map(\.token.uri))
        if info?.isCollection == true {
            tokens.formUnion(try share.journal?.currentSyncTokens(at: path, in: context, wait) ?? [])
        }
        let tag = info.flatMap { $0.isCollection ? nil : $0.entityTag }
        return IfHeader.ResourceState(tokens: tokens, entityTag: tag)
    }

    /// RFC 4918 §7: throws 423 with `lock-token-submitted` unless a token of each conflicting lock was
    /// submitted by the principal that owns the lock (§6.4).
    func checkLocks(_ effect: WriteEffect) throws(WebDAVError) {
        guard share.state.hasLocks else { return }
        switch effect {
        case .write(let path): try require(try locks(covering: path))
        case .member(let path):
            if let parent = path.parent { try require(try locks(covering: parent)) }
        case .tree(let path):
            try require(try locks(covering: path))
            let unheld = try unheldLocks(in: path)
            if !unheld.isEmpty { throw Self.refusal(unheld.map(\.lock), context) }
        }
    }

    private func require(_ locks: [Lock]) throws(WebDAVError) {
        // Several locks on one resource are shared locks, for which one token suffices (§6.2).
        guard !locks.isEmpty, !locks.contains(where: isHeld) else { return }
        throw Self.refusal(locks, context)
    }

    /// Returns 423 with the roots of the conflicting locks.
    static func refusal(_ locks: [Lock], _ context: RequestContext) -> WebDAVError {
        WebDAVError(.locked, .lockTokenSubmitted(context.hrefs(ofRootsOf: locks)))
    }

    /// Returns the locks that protect parts of a tree and for which no token was submitted: locks inside the
    /// tree, and shared locks of depth infinity above it, which cover it as well (§6.2, §7.5). The token of a
    /// lock of depth 0 does not apply to members that another lock covers.
    ///
    /// - Parameter path: the root of the tree. Whether the request may change the root itself has been
    ///   checked already.
    /// - Returns: the conflicting locks, each with the topmost resource in the tree that it protects.
    func unheldLocks(in path: ResourcePath) throws(WebDAVError) -> [(lock: Lock, root: ResourcePath)] {
        let below = try locks(under: path)
        let all = try locks(covering: path) + below
        var heldRoots: Set<ResourcePath> = []
        var heldTrees: [ResourcePath] = []
        var unheld: [Lock] = []
        for lock in all {
            if !isHeld(lock) {
                unheld.append(lock)
            } else if lock.depth == .infinity {
                heldTrees.append(lock.root)
            } else {
                heldRoots.insert(lock.root)
            }
        }
        var found: [(lock: Lock, root: ResourcePath)] = []
        for lock in unheld where !heldTrees.contains(where: { $0.contains(lock.root) || $0.contains(path) }) {
            let root = path.contains(lock.root) ? lock.root : path
            // The submitted token covers only `root` itself. Check whether this lock also covers members.
            let isHeldItself = root == path || heldRoots.contains(root)
            if isHeldItself {
                guard lock.depth == .infinity else { continue }
                let info = try storing { () throws(StoreError) in try self.info(at: root) }
                guard info?.isCollection == true else { continue }
            }
            found.append((lock, root))
        }
        return found
    }

    func isHeld(_ lock: Lock) -> Bool {
        context.submittedTokens.contains(lock.token.uri) && isOwner(of: lock)
    }

    /// Whether the client may use the token of a lock: only the principal that created the lock may (§6.4);
    /// any client, if the lock was created without authentication.
    func isOwner(of lock: Lock) -> Bool { lock.principal == nil || lock.principal == context.principal }

    // MARK: Active locks

    /// Returns the active locks that protect `path`, outermost first.
    func locks(covering path: ResourcePath) throws(WebDAVError) -> [Lock] {
        try standing(share.state.locks(covering: path, now: context.now))
    }

    /// Returns the active locks whose root is below `path`.
    func locks(under path: ResourcePath) throws(WebDAVError) -> [Lock] {
        try standing(share.state.locks(under: path, now: context.now))
    }

    /// Returns the locks without those whose resource another program has replaced or removed. The rows of
    /// these locks in the database are obsolete.
    private func standing(_ locks: [Lock]) throws(WebDAVError) -> [Lock] {
        try storing { () throws(StoreError) in
            var standing: [Lock] = []
            for lock in locks {
                let info = try info(at: lock.root)
                let binding = share.state.binding(ofLockRoot: lock.root)
                if let info, binding?.holds(for: info.identity) == true { standing.append(lock) }
            }
            return standing
        }
    }

    /// - Parameter path: a canonical path.
    private func info(at path: ResourcePath) throws(StoreError) -> ResourceInfo? {
        if let change {
            if change.target.path == path { return change.target.info }
            if change.resolved.path == path { return change.resolved.info }
        }
        return try share.resources.lookup(path, last: .notFollowed, wait: wait).info
    }
}
