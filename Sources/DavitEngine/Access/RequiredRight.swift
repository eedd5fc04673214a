internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A right that a client needs for a change.
struct RequiredRight: Sendable {
    /// One of these rights is sufficient.
    let rights: Rights
    let path: ResourcePath
    /// Whether the right is also needed for everything below the path.
    var isDeep = false
    /// If the right is also needed for everything below the path: what applies if rules refer to the path or to
    /// something below it.
    var places = Places.areRefused
    /// Whether the change creates a resource: it is then refused with 403 even if the path is hidden.
    var creates = false

    /// If the path is that of a resource in the trash, its entry.
    var trashed: TrashEntry?

    /// What a change does with rules.
    enum Places: Sendable {
        /// The change would separate rules from their folders.
        case areRefused
        /// The rules follow the resource. Requires the right to manage it.
        case areMoved
        /// The change does not move or remove the resource.
        case areKept
    }

    /// The privilege that grants the right, and its resource (RFC 3744 §3, appendix B).
    var missingPrivilege: (path: ResourcePath, privilege: String) {
        if rights.contains(.change) { return (path, "write") }
        if rights.contains(.create) { return (path.parent ?? path, "bind") }
        if rights.contains(.delete) { return (path.parent ?? path, "unbind") }
        return (path, rights.contains(.manage) ? "unlock" : "read")
    }

    /// The right to write content: to create it, or to change it. An empty file counts as not yet created, because nothing
    /// is lost when it is replaced: clients create a file with LOCK or an empty PUT before they send its content.
    static func writing(_ target: Lookup) -> RequiredRight {
        guard let info = target.info else { return creating(target.path) }
        let rights: Rights = !info.isCollection && info.length == 0 ? [.change, .create] : .change
        return RequiredRight(rights: rights, path: target.path, creates: true)
    }

    static func creating(_ path: ResourcePath) -> RequiredRight {
        RequiredRight(rights: .create, path: path, creates: true)
    }

    /// The rights to create a resource at a destination, or to replace the one that exists there.
    /// - Parameter isRename: whether the resource only gets another name in its collection.
    static func placing(at destination: Lookup, isRename: Bool = false) -> [RequiredRight] {
        guard let info = destination.info else {
            let rights: Rights = isRename ? [.create, .change] : .create
            return [RequiredRight(rights: rights, path: destination.path, creates: true)]
        }
        let change = RequiredRight(rights: .change, path: destination.path, creates: true)
        guard info.isCollection else { return [change] }
        return [
            change, RequiredRight(rights: .delete, path: destination.path, isDeep: true, creates: true),
        ]
    }
}

extension WriteGuard {
    /// Checks that the client has the rights that a change needs.
    /// - Throws: 403; 404 if the client may not know that the resource exists.
    func checkRights(_ required: [RequiredRight], for change: ChangeTarget) throws(WebDAVError) {
        // The rights at this moment: they may have changed while the body was received.
        guard let access = share.currentAccess else { return }
        for right in required {
            try check(right, right.trashed.flatMap(share.view(ofTrashed:)) ?? access)
            // The requested name counts, too: a link in a folder that is only for reading does not give access to what
            // it leads to.
            if right.path == change.target.path, context.path != right.path,
                context.path.equivalenceKey != right.path.equivalenceKey
            {
                try check(
                    RequiredRight(rights: right.rights, path: context.path, creates: right.creates), access)
            }
        }
    }

    /// Whether rules prevent a resource from being moved or removed.
    private func keepsInPlace(_ right: RequiredRight, _ access: any AccessView) -> Bool {
        switch right.places {
        case .areKept: false
        case .areRefused: share.configuration.access?.isPlace(right.path) == true
        case .areMoved: share.isFixed(right.path, for: access.rights(at: right.path))
        }
    }

    private func check(_ right: RequiredRight, _ access: any AccessView) throws(WebDAVError) {
        let granted = right.isDeep ? access.rightsThroughout(right.path) : access.rights(at: right.path)
        let isPlace = right.isDeep && keepsInPlace(right, access)
        if !isPlace, !granted.isDisjoint(with: right.rights) { return }
        let isListed = access.visibility(at: right.path) == .listed
        guard isListed || right.creates else { throw WebDAVError(.notFound) }
        let missing = right.missingPrivilege
        // The condition names only resources that the client may list.
        guard !isPlace, access.visibility(at: missing.path) == .listed else { throw WebDAVError(.forbidden) }
        let privilege = ErrorBody.MissingPrivilege(
            href: missing.path == right.path
                ? context.href(of: missing.path) : context.collectionHref(of: missing.path),
            privilege: missing.privilege)
        throw WebDAVError(.forbidden, .needPrivileges([privilege]))
    }
}
