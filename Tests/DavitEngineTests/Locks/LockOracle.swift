/// A model of the write locks of RFC 4918: simple, slow code on plain values, independent of the engine. A
/// path is an array of names, a tree is two sets, and locks are found by linear search.
struct LockOracle: Sendable {
    typealias Path = [String]

    enum Scope: String, CaseIterable, Sendable { case exclusive, shared }

    struct Held: Sendable {
        var root: Path
        /// Whether the lock has Depth infinity.
        var isDeep: Bool
        var scope: Scope
        var owner: String
        var token: String
    }

    enum Request: Sendable {
        case put(Path)
        case delete(Path)
        case makeCollection(Path)
        case patch(Path)
        case copy(Path, to: Path)
        case move(Path, to: Path)
        case lock(Path, isDeep: Bool, Scope)
        case refresh(Path, token: String)
        case unlock(Path, token: String)
    }

    enum Answer: Equatable, Sendable {
        case done
        case refused(Int)
        /// Status 207: these descendants are locked, or are the roots of conflicting locks.
        case blocked([Path])
    }

    /// A client, and the tokens that it submits in `If`.
    struct ServerConnection: Sendable {
        var principal: String
        var tokens: Set<String>
    }

    var collections: Set<Path> = [[]]
    var contents: Set<Path> = []
    var locks: [Held] = []

    func exists(_ path: Path) -> Bool { collections.contains(path) || contents.contains(path) }

    func isInside(_ path: Path, _ other: Path) -> Bool { path.starts(with: other) }

    func members(below path: Path) -> [Path] {
        (Array(collections) + Array(contents)).filter { $0 != path && isInside($0, path) }
    }

    // MARK: §6 and §7

    /// Whether the lock is on the path itself, or is of depth infinity on one of its ancestors (§6.1).
    func protects(_ lock: Held, _ path: Path) -> Bool {
        lock.root == path || (lock.isDeep && isInside(path, lock.root))
    }

    /// Whether the client submits the token and owns the lock; other clients may not use the token (§6.4).
    func holds(_ asker: ServerConnection, _ lock: Held) -> Bool {
        asker.tokens.contains(lock.token) && lock.owner == asker.principal
    }

    /// §7.5: a request must submit a token for each locked resource that it changes. Several locks on one
    /// resource are shared locks, for which one token suffices (§6.2).
    func mayWrite(_ path: Path, _ asker: ServerConnection) -> Bool {
        let protecting = locks.filter { protects($0, path) }
        return protecting.isEmpty || protecting.contains { holds(asker, $0) }
    }

    /// §7.4: a lock on a collection protects the list of its members.
    func mayAddOrRemove(_ path: Path, _ asker: ServerConnection) -> Bool {
        mayWrite(Array(path.dropLast()), asker)
    }

    /// Whether everything inside a collection may be changed; the token of a lock of depth 0 does not
    /// suffice.
    func mayWriteInside(_ path: Path, _ asker: ServerConnection) -> Bool {
        let protecting = locks.filter { $0.isDeep && protects($0, path) }
        return !collections.contains(path) || protecting.isEmpty || protecting.contains { holds(asker, $0) }
    }

    func mayWriteTree(_ path: Path, _ asker: ServerConnection) -> Bool {
        ([path] + members(below: path)).allSatisfy { mayWrite($0, asker) && mayWriteInside($0, asker) }
    }

    /// §9.6.1: the members that must be kept, without their descendants.
    func lockedMembers(of path: Path, _ asker: ServerConnection) -> [Path] {
        let locked = members(below: path).filter { !mayWrite($0, asker) || !mayWriteInside($0, asker) }
        return locked.filter { one in !locked.contains { $0 != one && isInside(one, $0) } }.sorted(by: before)
    }

    private func before(_ a: Path, _ b: Path) -> Bool { a.lexicographicallyPrecedes(b) }

    // MARK: §9

    func answer(to request: Request, from asker: ServerConnection) -> Answer {
        switch request {
        case .put(let path): put(path, asker)
        case .delete(let path): delete(path, asker)
        case .makeCollection(let path): makeCollection(path, asker)
        case .patch(let path): exists(path) ? (mayWrite(path, asker) ? .done : .refused(423)) : .refused(404)
        case .copy(let source, let destination): copy(source, destination, asker)
        case .move(let source, let destination): move(source, destination, asker)
        case .lock(let path, let isDeep, let scope): lock(path, isDeep, scope, asker)
        case .refresh(let path, let token): refresh(path, token, asker)
        case .unlock(let path, let token): unlock(path, token, asker)
        }
    }

    private func put(_ path: Path, _ asker: ServerConnection) -> Answer {
        if collections.contains(path) { return .refused(405) }
        return create(path, asker, isNew: !contents.contains(path))
    }

    private func makeCollection(_ path: Path, _ asker: ServerConnection) -> Answer {
        if exists(path) { return .refused(405) }
        return create(path, asker, isNew: true)
    }

    private func create(_ path: Path, _ asker: ServerConnection, isNew: Bool) -> Answer {
        if !collections.contains(Array(path.dropLast())) { return .refused(409) }
        let may = mayWrite(path, asker) && (!isNew || mayAddOrRemove(path, asker))
        return may ? .done : .refused(423)
    }

    private func delete(_ path: Path, _ asker: ServerConnection) -> Answer {
        if path.isEmpty { return .refused(403) }
        if !exists(path) { return .refused(404) }
        if !mayWrite(path, asker) || !mayAddOrRemove(path, asker) || !mayWriteInside(path, asker) {
            return .refused(423)
        }
        let locked = lockedMembers(of: path, asker)
        return locked.isEmpty ? .done : .blocked(locked)
    }

    private func copy(_ source: Path, _ destination: Path, _ asker: ServerConnection) -> Answer {
        if !exists(source) { return .refused(404) }
        if !exists(destination), !collections.contains(Array(destination.dropLast())) { return .refused(409) }
        if isInside(source, destination) || isInside(destination, source) { return .refused(403) }
        return mayWriteTree(destination, asker) && mayAddOrRemove(destination, asker) ? .done : .refused(423)
    }

    private func move(_ source: Path, _ destination: Path, _ asker: ServerConnection) -> Answer {
        let copied = copy(source, destination, asker)
        if copied != .done { return copied }
        return mayWriteTree(source, asker) && mayAddOrRemove(source, asker) ? .done : .refused(423)
    }

    /// §9.10.5: an exclusive lock conflicts with every other lock.
    private func lock(_ path: Path, _ isDeep: Bool, _ scope: Scope, _ asker: ServerConnection) -> Answer {
        if !exists(path) {
            if !collections.contains(Array(path.dropLast())) { return .refused(409) }
            if !mayAddOrRemove(path, asker) { return .refused(423) }
        }
        let conflicting = locks.filter { $0.scope == .exclusive || scope == .exclusive }
        if conflicting.contains(where: { protects($0, path) }) { return .refused(423) }
        let below = Set(conflicting.map(\.root).filter { isDeep && $0 != path && isInside($0, path) })
        return below.isEmpty ? .done : .blocked(below.sorted(by: before))
    }

    private func refresh(_ path: Path, _ token: String, _ asker: ServerConnection) -> Answer {
        if !exists(path), !collections.contains(Array(path.dropLast())) { return .refused(409) }
        guard exists(path), let lock = locks.first(where: { $0.token == token && protects($0, path) }) else {
            return .refused(412)
        }
        return lock.owner == asker.principal ? .done : .refused(403)
    }

    private func unlock(_ path: Path, _ token: String, _ asker: ServerConnection) -> Answer {
        guard exists(path), let lock = locks.first(where: { $0.token == token && protects($0, path) }) else {
            return .refused(409)
        }
        return lock.owner == asker.principal ? .done : .refused(403)
    }
}

// MARK: Effects of successful requests

extension LockOracle {
    /// Applies the effects of a request that succeeded, or of a DELETE that kept locked members.
    ///
    /// - Parameter token: the token of the new lock, if any.
    mutating func apply(_ request: Request, from asker: ServerConnection, token: String?) {
        switch request {
        case .put(let path): contents.insert(path)
        case .makeCollection(let path): collections.insert(path)
        case .patch, .refresh: break
        case .delete(let path):
            let kept = lockedMembers(of: path, asker)
            // Members that are kept also keep their descendants and ancestors.
            let gone = ([path] + members(below: path)).filter { member in
                !kept.contains { isInside(member, $0) || isInside($0, member) }
            }
            remove(gone)
        case .copy(let source, let destination): replace(destination, by: source)
        case .move(let source, let destination):
            replace(destination, by: source)
            remove([source] + members(below: source))
        case .lock(let path, let isDeep, let scope):
            if !exists(path) { contents.insert(path) }
            locks.append(
                Held(root: path, isDeep: isDeep, scope: scope, owner: asker.principal, token: token ?? ""))
        case .unlock(_, let token): locks.removeAll { $0.token == token }
        }
    }

    /// Removes resources with their locks (§6.1, §9.6). Locks are not moved, and replacing a resource removes
    /// its locks, because the resource is deleted first (§7.6, §9.8.4).
    private mutating func remove(_ paths: [Path]) {
        for path in paths {
            collections.remove(path)
            contents.remove(path)
            locks.removeAll { $0.root == path }
        }
    }

    private mutating func replace(_ destination: Path, by source: Path) {
        let copied = [source] + members(below: source)
        let new = copied.map {
            (path: destination + $0.dropFirst(source.count), isCollection: collections.contains($0))
        }
        remove([destination] + members(below: destination))
        for (path, isCollection) in new {
            if isCollection { collections.insert(path) } else { contents.insert(path) }
        }
    }
}
