internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Checks preconditions, `If` and locks.
///
/// The checks are synchronous. For a change, the result is authoritative only while the path locks of the change are
/// held. Many changes are also checked before that, to refuse a request early.
struct WriteGuard: Sendable {
    let share: Share
    let context: RequestContext
    let wait: Wait
    /// The resources of the change, just looked up; nil outside of a change. Lock checks use them to avoid a
    /// second lookup.
    var change: ChangeTarget?

    /// Checks HTTP preconditions, then `If`, then locks (RFC 9110 §13.2.1, RFC 4918 §10.4.1).
    ///
    /// - Parameter effects: the changes that the method is about to make.
    /// - Throws: 412 if a precondition or `If` fails; 423 if a lock prevents the change.
    func check(
        _ change: ChangeTarget, effects: @autoclosure () -> [WriteEffect]
    ) throws(WebDAVError) {
        try checkPreconditions(target: change.resolvedInfo)
        try checkIf(target: change.resolvedInfo, path: change.resolvedPath)
        guard share.state.hasLocks else { return }
        for effect in effects() { try checkLocks(effect) }
        for effect in change.symlinkEffects { try checkLocks(effect) }
    }

    /// - Throws: 412 if a precondition is false.
    func checkPreconditions(target: ResourceInfo?) throws(WebDAVError) {
        guard Preconditions.arePresent(in: context.request) else { return }
        let outcome = Preconditions.evaluate(
            context.request, current: RequestContext.validators(of: target), now: context.now)
        switch outcome {
        case .proceed: return
        case .notModified, .failed: throw WebDAVError(.preconditionFailed)
        }
    }

    /// Evaluates the `If` header (RFC 4918 §10.4).
    /// - Throws: 412 if `If` is present and none of its lists is true.
    func checkIf(target: ResourceInfo?, path: ResourcePath) throws(WebDAVError) {
        guard let header = context.ifHeader else { return }
        if wait == .never, context.submittedTokens.count > Self.inlineTokenLimit {
            throw WebDAVError(store: .wouldBlock)
        }
        let submitted = try submittedLocks()
        let holds = try header.evaluate { tag throws(WebDAVError) in
            try state(ofTag: tag, target: target, path: path, submitted)
        }
        guard holds else { throw WebDAVError(.preconditionFailed) }
    }

    private func state(
        ofTag tag: String?, target: ResourceInfo?, path: ResourcePath, _ submitted: [Lock]
    ) throws(WebDAVError) -> IfHeader.ResourceState {
        guard let tag else { return try state(at: path, info: target, submitted) }
        guard let tagged = share.urls.path(ofReference: tag, in: context) else { return .unmapped }
        let lookup = try storing { () throws(StoreError) in
            try share.lookup.taggedResource(at: tagged, wait: wait)
        }
        return try state(at: lookup.path, info: lookup.info, submitted)
    }

    private func state(
        at path: ResourcePath, info: ResourceInfo?, _ submitted: [Lock]
    ) throws(WebDAVError) -> IfHeader.ResourceState {
        var tokens = Set(submitted.lazy.filter { $0.covers(path) }.map(\.token.uri))
        if info?.isCollection == true {
            tokens.formUnion(
                try share.journal?.currentSyncTokens(
                    at: path, view: share.tokenView, in: context, wait) ?? [])
        }
        let tag = info.flatMap { $0.isCollection ? nil : $0.entityTag }
        return IfHeader.ResourceState(tokens: tokens, entityTag: tag)
    }

    /// The maximum number of submitted tokens that are checked on the event loop.
    private static let inlineTokenLimit = 32

    /// Returns the locks in effect whose tokens occur in `If`. Other locks do not matter to its conditions, and there can
    /// be many on a path.
    private func submittedLocks() throws(WebDAVError) -> [Lock] {
        guard share.state.hasLocks else { return [] }
        return try inEffect(
            context.submittedTokens.compactMap {
                share.state.lock(for: LockToken(uri: $0), now: context.now)
            })
    }

    /// Checks that the lock owner has submitted the token of each conflicting lock (RFC 4918 §6.4, §7); of several
    /// shared locks that cover a resource, one suffices.
    /// - Throws: 423 with `lock-token-submitted`.
    func checkLocks(_ effect: WriteEffect) throws(WebDAVError) {
        guard share.state.hasLocks else { return }
        switch effect {
        case .write(let path): try require(try locks(covering: path), at: path)
        case .member(let path):
            if let parent = path.parent { try require(try locks(covering: parent), at: path) }
        case .tree(let path):
            try require(try locks(covering: path), at: path)
            let unheld = try unheldLocks(in: path)
            if !unheld.isEmpty { throw refusal(unheld.map(\.lock), at: path) }
        }
    }

    private func require(_ locks: [Lock], at path: ResourcePath) throws(WebDAVError) {
        // If several locks cover a resource, they are shared, and one token suffices (§6.2).
        guard !locks.isEmpty, !locks.contains(where: isHeld) else { return }
        throw refusal(locks, at: path)
    }

    /// Returns a 423 error with the hrefs of the roots of the conflicting locks.
    /// - Parameter path: the resource that the locks protect.
    func refusal(_ locks: [Lock], at path: ResourcePath) -> WebDAVError {
        WebDAVError(.locked, .lockTokenSubmitted(hrefs(ofRootsOf: locks, at: path)))
    }

    /// Returns the locks that protect parts of a tree and whose token the lock owner has not submitted: locks inside
    /// the tree, and shared locks of depth infinity that cover it (§6.2, §7.5). The token of a lock of depth 0 does
    /// not permit changes to members that another lock covers.
    ///
    /// - Parameter path: the root of the tree. The caller must have checked the locks that cover the root.
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
            // A submitted token permits changing `root`, but not its members. Check whether this lock covers members.
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

    /// Whether the lock owner has submitted the token of a lock.
    func isHeld(_ lock: Lock) -> Bool {
        context.submittedTokens.contains(lock.token.uri) && isOwner(of: lock)
    }

    /// Whether the client may use the token of a lock. Only the principal that created the lock may (§6.4); if the
    /// lock was created without authentication, any client may.
    func isOwner(of lock: Lock) -> Bool { lock.principal == nil || lock.principal == context.principal }

    // MARK: Active locks

    /// Returns the active locks that protect `path`, outermost first.
    func locks(covering path: ResourcePath) throws(WebDAVError) -> [Lock] {
        try inEffect(share.state.locks(covering: path, now: context.now))
    }

    /// Returns the active locks whose root is below `path`.
    func locks(under path: ResourcePath) throws(WebDAVError) -> [Lock] {
        try inEffect(share.state.locks(under: path, now: context.now))
    }

    private func inEffect(_ locks: [Lock]) throws(WebDAVError) -> [Lock] {
        try storing { () throws(StoreError) in
            var inEffect: [Lock] = []
            // Locks on one resource follow each other, and belong to the same resource.
            var last: (root: ResourcePath, isInEffect: Bool)?
            for lock in locks {
                if last?.root != lock.root {
                    last = (lock.root, share.state.isInEffect(lock, on: try info(at: lock.root)))
                }
                if last?.isInEffect == true { inEffect.append(lock) }
            }
            return inEffect
        }
    }

    /// - Parameter path: a canonical path.
    private func info(at path: ResourcePath) throws(StoreError) -> ResourceInfo? {
        if let change {
            if change.target.path == path { return change.target.info }
            if change.resolvedPath == path { return change.resolvedInfo }
        }
        return try share.served.lookup(path, last: .notFollowed, wait: wait).info
    }
}
