internal import DavitAccess
internal import DavitHTTP
internal import DavitStore

/// The rights of a client to a resource, for user interfaces that show only permitted actions.
///
/// As a number, it is the sum of the values of the rights, from 1 for `list` to 64 for `manage` in the order of
/// ``DavitAccess/Right``, 128 if the resource is fixed, and 256 if it contains a mount point.
public struct ClientRights: Hashable, Sendable {
    let rights: Rights
    /// Whether the resource is a collection that cannot be renamed, moved or removed, because rules refer to it or to
    /// something below it and the client may not manage it, because a folder is mounted there, or because the client has
    /// fewer rights to something below it.
    let isFixed: Bool
    /// Whether a folder is mounted below the collection, so that it cannot be copied.
    var containsMountPoint = false

    /// Without an access policy, a client has all rights.
    static let unrestricted = ClientRights(rights: .all, isFixed: false)

    /// Whether the client may know that a collection with these rights exists: it may list it, or a rule for it, or for
    /// something below it, grants rights.
    public var isKnown: Bool { mayList || (isFixed && !rights.isEmpty) }
    public var mayList: Bool { rights.contains(.list) }
    public var mayRead: Bool { rights.contains(.read) }
    /// Whether the client may add members to the collection.
    public var mayCreate: Bool { rights.contains(.create) }
    public var mayRename: Bool { rights.contains(.change) && !isFixed }
    public var mayDelete: Bool { rights.contains(.delete) && !isFixed }
    public var mayMove: Bool { mayDelete && mayRead }
    /// Whether the client may decide who has which rights.
    public var mayManage: Bool { rights.contains(.manage) }
    /// Whether the client may add members to the collection, but see none.
    public var isDropBox: Bool { mayCreate && !mayList }

    /// Whether an archive of the collection contains anything. Below a collection without rights, there is something
    /// that the client has rights to.
    public var mayDownloadAll: Bool { mayRead || rights.isEmpty }

    public var number: Int64 { Int64(rights.rawValue) + (isFixed ? 128 : 0) + (containsMountPoint ? 256 : 0) }

    /// The rights that the members of a collection have, unless they have rights of their own.
    public var inherited: ClientRights { ClientRights(rights: rights, isFixed: false) }

    func intersection(_ other: ClientRights) -> ClientRights {
        ClientRights(
            rights: rights.intersection(other.rights), isFixed: isFixed || other.isFixed,
            containsMountPoint: containsMountPoint || other.containsMountPoint)
    }
}

extension Share {
    /// Returns what the client may do with a resource.
    /// - Parameter path: a canonical path.
    func clientRights(at path: ResourcePath, isCollection: Bool) -> ClientRights {
        let mounts = isCollection ? mountPoints(in: path) : .none
        guard let access else {
            return ClientRights(rights: .all, isFixed: mounts != .none, containsMountPoint: mounts == .below)
        }
        let rights = access.rights(at: path)
        guard isCollection else { return ClientRights(rights: rights, isFixed: false) }
        let needed = rights.intersection([.read, .change, .delete])
        let isFixed =
            mounts != .none || self.isFixed(path, for: rights)
            || !access.rightsThroughout(path).isSuperset(of: needed)
        return ClientRights(rights: rights, isFixed: isFixed, containsMountPoint: mounts == .below)
    }

    /// Returns what the client may do with a trash entry.
    func clientRights(ofTrashed entry: TrashEntry) -> ClientRights {
        guard let access else { return .unrestricted }
        guard let trashed = view(ofTrashed: entry) else {
            return ClientRights(rights: access.rights(at: entry.path), isFixed: false)
        }
        var rights = trashed.rights(at: entry.path)
        // The entry is restored into its former folder, with its rules, and purged with everything in it.
        let parent = entry.path.parent ?? .root
        let setsRules = ruleMoves.hasRules(entry)
        if !rights.contains(.manage) || !access.rights(at: entry.path).contains(.create)
            || (setsRules && !access.rights(at: parent).contains(.manage))
        {
            rights.remove(.create)
        }
        if !trashed.rightsThroughout(entry.path).contains(.delete) { rights.remove(.delete) }
        return ClientRights(rights: rights, isFixed: false)
    }

    /// Whether rules prevent a client from moving or removing a folder: the rules cannot follow it, or the client may not
    /// decide who has which rights in it.
    /// - Parameter rights: those of the client to the folder.
    func isFixed(_ path: ResourcePath, for rights: Rights) -> Bool {
        guard let policy = configuration.access, policy.isPlace(path) else { return false }
        return !rights.contains(.manage) || policy.isFixed(path)
    }

    /// Whether the client may break a lock: its own, or with the right to manage its root.
    func mayBreak(_ lock: Lock, as principal: String?) -> Bool {
        guard let access, lock.principal == nil || lock.principal != principal else { return true }
        return access.rights(at: lock.root).contains(.manage)
    }
}
