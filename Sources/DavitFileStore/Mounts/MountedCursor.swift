internal import DavitHTTP
internal import DavitStore

/// Iterates over the members of a collection: first those in its folder that no mounted folder hides, then the folders
/// that are mounted in it.
final class MountedCursor: MemberCursor {
    private let cursor: any MemberCursor
    private let part: MountedPart
    private let store: MountedStore
    /// The keys of the names at which folders are mounted.
    private let hidden: Set<[UInt8]>
    /// The mounted folders that have not been returned yet.
    private var mounted: [MountedPart]

    /// - Parameters:
    ///   - part: the folder that `cursor` reads.
    ///   - mounted: the folders that are mounted in the collection.
    init(
        _ cursor: any MemberCursor, of part: MountedPart, _ mounted: [MountedPart], in store: MountedStore
    ) {
        self.cursor = cursor
        self.part = part
        self.mounted = mounted
        self.store = store
        hidden = Set(mounted.map { Array($0.key.name) })
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        while try cursor.next(&member) {
            if isHidden(member.name) { continue }
            guard let target = member.canonicalPath else { return true }
            if try follow(part.outer(target), &member) { return true }
        }
        while let part = mounted.popLast() {
            if try read(part, &member) { return true }
        }
        return false
    }

    private func isHidden(_ name: [UInt8]) -> Bool {
        !hidden.isEmpty && hidden.contains(ResourcePath(unchecked: name).equivalenceKey.bytes)
    }

    /// Replaces the target of a link by its path in the tree, and by the mounted folder at that path, if there is one.
    /// - Returns: false if the target does not exist.
    private func follow(_ target: ResourcePath, _ member: inout Member) throws(StoreError) -> Bool {
        member.canonicalPath = target
        if store.part(of: target) === part { return true }
        guard
            let found = try leavingOut({ () throws(StoreError) in
                try store.lookup(target, last: .followed, wait: .allowed)
            }), let info = found.info
        else { return false }
        member.info = info
        member.canonicalPath = found.path
        return true
    }

    /// - Returns: false if the folder cannot be accessed.
    private func read(_ part: MountedPart, _ member: inout Member) throws(StoreError) -> Bool {
        guard
            let found = try leavingOut({ () throws(StoreError) in
                try part.store.lookup(.root, last: .followed, wait: .allowed)
            }), let info = found.info
        else { return false }
        member = Member(name: Array(part.path.name), info: info)
        return true
    }

    /// Returns nil if a member cannot be examined. If descriptors or memory have run out, throws the error instead,
    /// because the listing would be incomplete.
    private func leavingOut(_ lookup: () throws(StoreError) -> Lookup) throws(StoreError) -> Lookup? {
        do throws(StoreError) { return try lookup() } catch {
            if error == .busy { throw error }
            return nil
        }
    }

    var linksLeftOut: [[UInt8]] { cursor.linksLeftOut.filter { !isHidden($0) } }
}
