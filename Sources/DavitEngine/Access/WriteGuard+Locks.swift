internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Locks as the client sees them.
extension WriteGuard {
    /// Returns the hrefs of the roots of several locks, each once. For roots that the client may not list, returns that of
    /// the resource that the locks protect.
    func hrefs(ofRootsOf locks: [Lock], at path: ResourcePath) -> [[UInt8]] {
        if share.access == nil { return context.hrefs(ofRootsOf: locks) }
        let shown = locks.filter { share.isVisible($0.root) }
        let hrefs = context.hrefs(ofRootsOf: shown)
        if shown.count == locks.count { return hrefs }
        let own = context.href(of: path)
        return hrefs.contains(own) ? hrefs : hrefs + [own]
    }

    /// Returns the locks without the owners of those whose root the client may not list.
    func withoutHiddenOwners(_ locks: [Lock]) -> [Lock] {
        if share.access == nil { return locks }
        return locks.map { lock in
            var lock = lock
            if !share.isVisible(lock.root) { (lock.owner, lock.principal) = (nil, nil) }
            return lock
        }
    }

    /// Describes the locks that protect a resource to the client. A root that the client may not list is shown as the
    /// resource itself, without anything about the lock's owner.
    func activeLocks(_ locks: [Lock], at path: ResourcePath) -> [ActiveLock] {
        withoutHiddenOwners(locks).map { lock in
            var active = ActiveLock(lock, in: context)
            if !share.isVisible(lock.root) { active.rootHref = context.href(of: path) }
            return active
        }
    }
}

extension ActiveLock {
    /// Describes a lock to the client of a request, with the remaining time at the start of the request.
    init(_ lock: Lock, in context: RequestContext) {
        // The expiry can have come from a clock that is a little ahead of that of the request.
        let left = min(lock.timeoutSeconds, lock.expiry.secondsRoundedUp(since: context.now))
        self.init(
            scope: lock.scope, depth: lock.depth, owner: lock.owner, remainingSeconds: left,
            token: lock.token, rootHref: context.href(ofRootOf: lock), principal: lock.principal,
            created: lock.created)
    }
}
