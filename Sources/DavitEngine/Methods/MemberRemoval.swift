internal import DavitHTTP
internal import DavitStore

/// Removes a tree member by member, except for locked members: the slow path of DELETE. Unlisted files are
/// removed with their collection, and locks on them are respected.
struct MemberRemoval {
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

    /// Removes as much of the tree at `path` as possible.
    /// - Returns: Whether the whole tree was removed. Ancestors of remaining members remain too, and are not
    ///   reported (§9.6.1).
    @discardableResult
    mutating func remove(_ path: ResourcePath) -> Bool {
        // Use an explicit stack: a tree may be deeper than the thread's stack allows.
        var stack: [(path: ResourcePath, isEntered: Bool, isComplete: Bool)] = [(path, false, true)]
        var isGone = true
        while let top = stack.popLast() {
            if top.isEntered {
                isGone = top.isComplete && tryRemove(collection: top.path)
                if !isGone, !stack.isEmpty { markParentIncomplete(of: top.path, in: &stack) }
                continue
            }
            if locked.contains(top.path) {
                failures.append(MemberFailure(path: top.path, status: .locked))
                isGone = false
                markParentIncomplete(of: top.path, in: &stack)
                continue
            }
            stack.append((top.path, true, true))
            descend(into: top.path, &stack)
        }
        return isGone
    }

    private mutating func descend(
        into path: ResourcePath, _ stack: inout [(path: ResourcePath, isEntered: Bool, isComplete: Bool)]
    ) {
        let own = stack.count - 1
        do throws(StoreError) {
            let cursor = try share.stored.members(of: path)
            while true {
                let members = try cursor.next()
                if members.isEmpty { return }
                for member in members {
                    guard let memberPath = path.appending(member.name) else { continue }
                    if moveToTrash(member, at: memberPath) { continue }
                    if member.info.isCollection && member.canonicalPath == nil {
                        stack.append((memberPath, false, true))
                    } else if !tryRemove(content: memberPath) {
                        stack[own].isComplete = false
                    }
                }
            }
        } catch {
            failures.append(MemberFailure((path: path, error: error)))
            stack[own].isComplete = false
        }
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

    private func markParentIncomplete(
        of path: ResourcePath, in stack: inout [(path: ResourcePath, isEntered: Bool, isComplete: Bool)]
    ) {
        guard let parent = path.parent else { return }
        if let index = stack.lastIndex(where: { $0.isEntered && $0.path == parent }) {
            stack[index].isComplete = false
        }
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
