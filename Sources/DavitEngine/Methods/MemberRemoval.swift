internal import DavitHTTP
internal import DavitStore

/// Removes a tree member by member, except for locked members: the slow path of DELETE. Unlisted files are
/// removed with their collection, and locks on them are respected.
struct MemberRemoval {
    /// The number of members that are read before they are removed: a link is no longer a member once its
    /// target is removed.
    private static let batchSize = 256

    let share: Share
    /// Roots of locks whose token was not submitted.
    let locked: Set<ResourcePath>
    private let context: RequestContext
    private(set) var failures: [MemberFailure] = []
    /// Trash entries of the removed members. A collection without locked members has a single entry.
    private(set) var kept: [TrashEntry] = []

    init(share: Share, locked: Set<ResourcePath>, context: RequestContext) {
        self.share = share
        self.locked = locked
        self.context = context
    }

    /// Removes as much of the tree at `path` as possible. Ancestors of remaining members remain too, and are
    /// not reported (§9.6.1).
    /// - Parameter info: describes the collection at `path`, which is not locked.
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
                // Do not enter a collection that was kept when it was returned first.
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

    /// Removes members. Of collections, removes only those that can be moved to the trash as a whole, and
    /// leaves the others to the traversal.
    /// - Returns: false if a member is kept.
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

    /// - Returns: false if the trash does not keep the member, or if the member cannot be moved there.
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

    /// Describes a symbolic link itself, even if its target no longer exists.
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
                // Only entries that are never listed remain: special files, links that lead outside the
                // share, leftovers.
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
