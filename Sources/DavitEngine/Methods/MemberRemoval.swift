internal import DavitHTTP
internal import DavitStore

/// Removes a tree member by member, except for locked members: the slow path of DELETE. Also removes members that are
/// hidden from clients, unless they are locked.
struct MemberRemoval {
    /// The number of members to list before removing them. Listing first matters for symbolic links: a link is no longer
    /// listed after its target was removed.
    private static let batchSize = 256

    let share: Share
    /// The topmost resources in the tree that are protected by locks whose token was not submitted.
    let locked: Set<ResourcePath>
    private let context: RequestContext
    private(set) var failures: [MemberFailure] = []
    /// The trash entries of the removed members; a single one for a collection without locked members.
    private(set) var kept: [TrashEntry] = []

    init(share: Share, locked: Set<ResourcePath>, context: RequestContext) {
        self.share = share
        self.locked = locked
        self.context = context
    }

    /// Removes as much of the tree at `path` as possible. Ancestors of remaining members remain too, and are not reported
    /// (RFC 4918 §9.6.1).
    /// - Parameter info: describes the collection at `path`, which must not be locked.
    mutating func remove(_ path: ResourcePath, _ info: ResourceInfo) {
        var traversal = TreeTraversal(of: share.stored)
        do throws(StoreError) { try traversal.begin(at: path, info) } catch {
            failures.append(MemberFailure((path: path, error: error)))
            return
        }
        var member = Member()
        var batch: [Member] = []
        // For each collection on the current path, whether everything in it has been removed so far.
        var areComplete = [true]
        while true {
            let current = traversal.path
            switch traversal.next(&member) {
            case .member:
                batch.append(member)
                if batch.count == Self.batchSize {
                    if !remove(&batch, in: current, &traversal) { areComplete[areComplete.count - 1] = false }
                }
            case .listed:
                if !remove(&batch, in: current, &traversal) { areComplete[areComplete.count - 1] = false }
            case .interrupted(let error):
                _ = remove(&batch, in: current, &traversal)
                failures.append(MemberFailure((path: current, error: error)))
                areComplete[areComplete.count - 1] = false
            case .passed:
                // Do not enter a locked collection, whose failure was recorded when it was listed.
                if let path = current.appending(member.name), locked.contains(path) {
                    traversal.skip(member.name)
                }
            case .entered: areComplete.append(true)
            case .inaccessible(let name, let error):
                failures.append(MemberFailure((path: current.appending(name) ?? current, error: error)))
                areComplete[areComplete.count - 1] = false
            case .left:
                let isGone = areComplete.removeLast() && tryRemove(collection: current)
                if !isGone, !areComplete.isEmpty { areComplete[areComplete.count - 1] = false }
            case .end: return
            }
        }
    }

    /// Removes members. Collections are only removed if they can be moved to the trash as a whole; the traversal enters
    /// the others.
    /// - Returns: false if a member could not be removed. Collections that the traversal enters do not count.
    private mutating func remove(
        _ batch: inout [Member], in collection: ResourcePath, _ traversal: inout TreeTraversal
    ) -> Bool {
        var isComplete = true
        for member in batch {
            guard let path = collection.appending(member.name) else { continue }
            if moveToTrash(member, at: path) {
                traversal.skip(member.name)
            } else if !member.info.isCollection || member.canonicalPath != nil {
                if !tryRemove(content: path) { isComplete = false }
            } else if locked.contains(path) {
                failures.append(MemberFailure(path: path, status: .locked))
                traversal.skip(member.name)
                isComplete = false
            }
        }
        batch.removeAll(keepingCapacity: true)
        return isComplete
    }

    /// Moves a member to the trash.
    /// - Returns: false if the trash does not accept the member, or if moving it fails.
    private mutating func moveToTrash(_ member: Member, at path: ResourcePath) -> Bool {
        guard share.configuration.trash != nil, !locked.contains(where: path.contains) else { return false }
        let info = member.canonicalPath == nil ? member.info : linkInfo(at: path)
        guard let info, let entry = try? share.trash.moveToTrash(info, at: ResourceLocation(path), context)
        else {
            return false
        }
        kept.append(entry)
        return true
    }

    /// Returns a description of a symbolic link itself, even if its target no longer exists.
    private func linkInfo(at path: ResourcePath) -> ResourceInfo? {
        guard let identity = try? share.stored.identity(at: path), let collection = path.parent,
            let volume = try? share.stored.lookup(collection, last: .followed, wait: .allowed).info?.volume
        else { return nil }
        return ResourceInfo(
            kind: .content, length: 0, modified: context.now, created: nil, identity: identity,
            volume: volume, isExecutable: false)
    }

    private mutating func tryRemove(content path: ResourcePath) -> Bool {
        guard !locked.contains(path) else {
            failures.append(MemberFailure(path: path, status: .locked))
            return false
        }
        return attempt(path) { resources throws(StoreError) in try resources.removeContent(at: path) }
    }

    private mutating func tryRemove(collection path: ResourcePath) -> Bool {
        attempt(path) { resources throws(StoreError) in
            do throws(StoreError) {
                try resources.removeEmptyCollection(at: path)
            } catch .alreadyExists {
                // The remaining entries are not listed: special files, links that lead outside the share, and
                // temporary files.
                let rest = try resources.detach(path)
                guard let failure = rest.destroy().first else { return }
                try rest.restore()
                throw failure.error
            }
        }
    }

    private mutating func attempt(
        _ path: ResourcePath, _ removal: (any ResourceStore) throws(StoreError) -> Void
    ) -> Bool {
        do throws(StoreError) {
            try removal(share.stored)
            share.rows.drop(under: path)
            return true
        } catch {
            failures.append(MemberFailure((path: path, error: error)))
            return false
        }
    }
}
