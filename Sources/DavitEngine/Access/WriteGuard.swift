internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The one check of preconditions, `If` and locks. Synchronous: it runs on the event loop for a first answer,
/// and again inside the section of the change, where its answer counts.
struct WriteGuard: Sendable {
    let share: Share
    let context: RequestContext
    let wait: Wait
    /// What has just been looked at: it need not be looked at again for its locks.
    var scene: Scene?

    /// Checks everything that can forbid a change, in the order of RFC 9110 §13.2.1 and RFC 4918 §10.4.1:
    /// HTTP preconditions and `If` (412), then locks (423).
    ///
    /// - Parameter effects: what the method is about to change on the scene.
    func check(_ scene: Scene, effects: [Effect]) throws(WebDAVError) {
        let (target, path) = (scene.subject.info, scene.subject.path)
        try checkPreconditions(target: target)
        try checkIf(target: target, path: path)
        guard share.state.hasLocks else { return }
        for effect in effects { try checkLocks(effect) }
        for effect in scene.linkEffects { try checkLocks(effect) }
    }

    func checkPreconditions(target: ResourceInfo?) throws(WebDAVError) {
        let outcome = Preconditions.evaluate(
            context.request, current: RequestContext.validators(of: target), now: context.now)
        switch outcome {
        case .proceed: return
        case .notModified, .failed: throw WebDAVError(.preconditionFailed)
        }
    }

    /// RFC 4918 §10.4: 412 if `If` is there and none of its lists holds.
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
        guard let tagged = share.path(ofReference: tag, in: context) else { return .unmapped }
        let lookup = try storing { () throws(StoreError) in
            try share.lookTagged(at: tagged, wait: wait)
        }
        return try state(at: lookup.path, info: lookup.info)
    }

    private func state(at path: ResourcePath, info: ResourceInfo?) throws(WebDAVError)
        -> IfHeader.ResourceState
    {
        var tokens = Set(try locks(covering: path).map(\.token.uri))
        if info?.isCollection == true {
            tokens.formUnion(try share.currentSyncTokens(at: path, in: context, wait))
        }
        let tag = info.flatMap { $0.isCollection ? nil : $0.entityTag }
        return IfHeader.ResourceState(tokens: tokens, entityTag: tag)
    }

    /// RFC 4918 §7: 423 with `lock-token-submitted` unless a token of each lock in the way was submitted by
    /// the principal who holds it (§6.4).
    func checkLocks(_ effect: Effect) throws(WebDAVError) {
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
        // Where several locks cover one resource they are shared, and one token is enough (§6.2).
        guard !locks.isEmpty, !locks.contains(where: isHeld) else { return }
        throw Self.refusal(locks, context)
    }

    /// 423 with the roots of the locks in the way.
    static func refusal(_ locks: [Lock], _ context: RequestContext) -> WebDAVError {
        WebDAVError(.locked, .lockTokenSubmitted(context.hrefs(ofRootsOf: locks)))
    }

    /// What of a tree cannot be changed, because no token for it was submitted: neither of a lock there, nor of a
    /// shared one of depth infinity above, which covers it as well (§6.2, §7.5). The token of a lock of depth 0 is
    /// none for members that another lock covers.
    ///
    /// - Parameter path: of what can be changed itself.
    /// - Returns: locks in the way, each with the outermost resource in the tree that it keeps.
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
            // A token is there, of a lock that ends here: does this one go on?
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

    /// Only who took a lock may use its token (§6.4); without authentication there is nobody to tell apart.
    func isOwner(of lock: Lock) -> Bool { lock.principal == nil || lock.principal == context.principal }

    // MARK: Locks that count

    /// The active locks that protect `path`, outermost first.
    func locks(covering path: ResourcePath) throws(WebDAVError) -> [Lock] {
        try standing(share.state.locks(covering: path, now: context.now))
    }

    /// The active locks whose root is below `path`.
    func locks(under path: ResourcePath) throws(WebDAVError) -> [Lock] {
        try standing(share.state.locks(under: path, now: context.now))
    }

    /// Leaves out the locks whose root is no longer the resource that was locked: it was replaced or removed
    /// behind the server's back, and the rows at its name are nobody's.
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

    /// - Parameter path: canonical.
    private func info(at path: ResourcePath) throws(StoreError) -> ResourceInfo? {
        if let scene {
            if scene.target.path == path { return scene.target.info }
            if scene.subject.path == path { return scene.subject.info }
        }
        return try share.resources.lookup(path, last: .itself, wait: wait).info
    }
}

extension Share {
    /// The path that an absolute URI or an absolute path names, as a Resource-Tag of `If` or an href does; nil if it is
    /// not in this share.
    func path(ofReference reference: String, in context: RequestContext) -> ResourcePath? {
        let bytes = Array(reference.utf8)
        guard let destination = try? DestinationHeader.parse(bytes.span) else { return nil }
        guard isOurs(destination, in: context) else { return nil }
        return try? self.path(at: destination.rawPath, in: context)
    }

    /// The resource of this share that a path of the server names.
    /// - Returns: nil for a path outside the share, also where that has another mount inside.
    /// - Throws: 400 for a path no resource can have.
    func path(at rawPath: [UInt8], in context: RequestContext) throws(HTTPError) -> ResourcePath? {
        guard let path = try context.path(at: rawPath) else { return nil }
        return hides(path) ? nil : path
    }

    /// True if something else answers for a path of this share.
    func hides(_ path: ResourcePath) -> Bool { rules?.hides(path) == true }

    /// True if the reference is a path, or an http or https URI of this server. Both schemes count, whichever the request
    /// came by: behind a proxy that ends TLS, clients name https in requests that arrive as http.
    func isOurs(_ reference: DestinationHeader, in context: RequestContext) -> Bool {
        reference.isHTTP && (reference.authority.map { isOurs($0, in: context) } ?? true)
    }

    /// True if `authority` is the host this request was sent to, the one that a trusted proxy was asked, or one of the
    /// configured public names; and if a proxy hides which host the client asked, and nobody has configured one.
    private func isOurs(_ authority: [UInt8], in context: RequestContext) -> Bool {
        guard let other = HostField(parsing: authority.span) else { return false }
        if configuration.publicHosts.contains(where: { Array($0.utf8) == other.host }) { return true }
        guard let own = context.request.target.authority ?? context.request.bytes(of: .host) else {
            return true
        }
        return Self.isSame(own, other)
            || context.request.forwardedOrigin?.host.map { Self.isSame($0, other) } == true
            || configuration.publicHosts.isEmpty && context.request.isHostUncertain
    }

    private static func isSame(_ authority: [UInt8], _ other: HostField) -> Bool {
        HostField(parsing: authority.span)?.isSameServer(as: other) ?? false
    }
}
