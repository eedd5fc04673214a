package import DavitHTTP
package import DavitStore

/// Traverses a collection, or some of its members, with everything below, as seen by clients: each collection
/// before its members, and the members in directory order (unsorted). The collection itself comes first, with
/// an empty path, unless only some members are visited. All members of a collection are returned before those
/// of its subcollections, so that only one collection is open at a time, regardless of depth, and only the
/// collections still to be entered are stored.
///
/// Rules and mounts apply. Links that lead outside the share are not members. Each collection is visited
/// once: links to collections are followed after everything else, and a link to a visited collection is
/// reported as an obstacle and not followed. The size of the result is therefore bounded by the number of
/// existing resources, however links refer to each other.
///
/// Its methods block. It belongs to one task, which passes it to one job of the thread pool at a time and
/// waits for that job.
package final class TreeTraversal: Sendable {
    /// A resource found by the traversal.
    package struct Found: Sendable {
        /// Path relative to the starting point: segments separated by slashes, without a leading or trailing
        /// slash.
        package var path: [UInt8]
        package var info: ResourceInfo
        /// Canonical path.
        package var target: ResourcePath
    }

    package enum Step: Sendable {
        case found(Found)
        /// This resource, or its members, cannot be read.
        case obstacle(path: [UInt8], Obstacle)
        case end
    }

    /// The reason why a resource is left out.
    package enum Obstacle: Sendable {
        /// The resource does not exist, or no longer exists.
        case missing
        /// A link to a collection that contains the link.
        case circle
        /// A link to a collection that was visited under another name.
        case repeated
        case unreadable
    }

    private let share: Share
    private let state: Exclusive<TraversalState>

    /// - Parameter names: The members to visit; nil for all of them.
    init(_ share: Share, _ root: ResourcePath, names: [[UInt8]]?) throws(StoreError) {
        self.share = share
        state = Exclusive(try TraversalState(share, root, names: names))
    }

    /// Returns the next step. May block.
    package func next() -> Step { state.withValue { $0.next() } }

    /// Opens content found by the traversal. May block.
    package func open(_ found: Found) -> Result<TraversedContent, Obstacle> {
        do throws(StoreError) {
            let resource = try share.resources.openMember(found.target)
            guard let content = resource.content else { return .failure(.missing) }
            return .success(TraversedContent(file: content.file, info: resource.info, share: share))
        } catch {
            return .failure(Obstacle(error))
        }
    }
}

private struct TraversalState {
    typealias Found = TreeTraversal.Found
    typealias Step = TreeTraversal.Step
    typealias Obstacle = TreeTraversal.Obstacle

    private struct Key: Hashable {
        let identity: ResourceIdentity
        let volume: UInt64

        init(_ info: ResourceInfo) {
            identity = info.identity
            volume = info.volume
        }
    }

    private final class Level {
        /// Nil after all members have been returned.
        var cursor: (any MemberCursor)?
        /// The subcollections still to be entered; after all members have been returned, in reverse order.
        var collections: [Member] = []
        /// As in ``Found/path``.
        let path: [UInt8]
        /// Canonical path.
        let target: ResourcePath
        let info: ResourceInfo

        init(_ cursor: any MemberCursor, _ found: Found) {
            self.cursor = cursor
            path = found.path
            target = found.target
            info = found.info
        }

        func end() {
            cursor = nil
            collections.reverse()
        }

        func found(_ member: Member) -> Found? {
            guard let target = member.canonicalPath ?? target.appending(member.name) else { return nil }
            let path = path.isEmpty ? member.name : path + [UInt8(ascii: "/")] + member.name
            return Found(path: path, info: member.info, target: target)
        }
    }

    private let share: Share
    /// The collections on the current path.
    private var levels: [Level] = []
    /// The visited collection and the names of its members still to be visited, in reverse order.
    private let root: Found
    private var names: [[UInt8]]
    /// Links to collections; the first ``linkCount`` have been followed.
    private var links: [Found] = []
    private var linkCount = 0
    /// All collections found so far.
    private var visited: Set<Key> = []
    /// The first result, until it has been returned.
    private var begun: Found?
    /// A collection to enter before anything else.
    private var entered: Found?

    init(_ share: Share, _ root: ResourcePath, names: [[UInt8]]?) throws(StoreError) {
        self.share = share
        guard let info = try share.lookup.resource(at: root, wait: .allowed).info else { throw .notFound }
        self.root = Found(path: [], info: info, target: root)
        self.names = names.map { $0.reversed() } ?? []
        guard names == nil else { return }
        // If the collection itself cannot be read, this throws an error instead of reporting an obstacle.
        levels.append(Level(try share.resources.members(of: root), self.root))
        begun = self.root
        visited.insert(Key(info))
    }

    mutating func next() -> Step {
        if let begun {
            self.begun = nil
            return .found(begun)
        }
        if let entered {
            self.entered = nil
            if let obstacle = enter(entered) { return .obstacle(path: entered.path, obstacle) }
        }
        while true {
            while let level = levels.last {
                switch advance(level) {
                case .step(let step): return step
                case .down: continue
                case .up: levels.removeLast()
                }
            }
            if let name = names.popLast() {
                if let step = step(to: name) { return step }
            } else if linkCount < links.count {
                linkCount += 1
                return follow(links[linkCount - 1])
            } else {
                return .end
            }
        }
    }

    private mutating func follow(_ link: Found) -> Step {
        guard visited.insert(Key(link.info)).inserted else { return .obstacle(path: link.path, .repeated) }
        entered = link
        return .found(link)
    }

    /// - Returns: nil for a link that is followed later.
    private mutating func step(to name: [UInt8]) -> Step? {
        guard let path = root.target.appending(name) else {
            return .obstacle(path: name, .missing)
        }
        do throws(StoreError) {
            let lookup = try share.lookup.resource(at: path, wait: .allowed)
            guard let info = lookup.info else { return .obstacle(path: name, .missing) }
            let found = Found(path: name, info: info, target: lookup.path)
            if isAncestor(info) { return .obstacle(path: name, .circle) }
            guard info.isCollection else { return .found(found) }
            if lookup.path == path { return follow(found) }
            links.append(found)
            return nil
        } catch {
            return .obstacle(path: name, Obstacle(error))
        }
    }

    private enum Turn {
        case step(Step)
        /// Entered a collection, or left a completed one.
        case down, up
    }

    private mutating func advance(_ level: Level) -> Turn {
        var member = Member()
        while let cursor = level.cursor {
            do throws(StoreError) {
                guard try cursor.next(&member) else {
                    level.end()
                    break
                }
            } catch {
                // Continue with the members returned before.
                level.end()
                return .step(.obstacle(path: level.path, Obstacle(error)))
            }
            guard let found = level.found(member) else { continue }
            if isAncestor(member.info) { return .step(.obstacle(path: found.path, .circle)) }
            guard member.info.isCollection else { return .step(.found(found)) }
            if member.canonicalPath != nil, !visited.contains(Key(member.info)) {
                links.append(found)
                continue
            }
            guard visited.insert(Key(member.info)).inserted else {
                return .step(.obstacle(path: found.path, .repeated))
            }
            level.collections.append(member)
            return .step(.found(found))
        }
        while let member = level.collections.popLast() {
            guard let found = level.found(member) else { continue }
            if let obstacle = enter(found) { return .step(.obstacle(path: found.path, obstacle)) }
            return .down
        }
        return .up
    }

    private func isAncestor(_ info: ResourceInfo) -> Bool {
        guard info.isCollection else { return false }
        let key = Key(info)
        return Key(root.info) == key || levels.contains { Key($0.info) == key }
    }

    private mutating func enter(_ found: Found) -> Obstacle? {
        do throws(StoreError) {
            levels.append(Level(try share.resources.members(of: found.target), found))
            return nil
        } catch {
            return Obstacle(error)
        }
    }
}

/// Opened content of a traversal.
package struct TraversedContent: Sendable {
    private let file: any FileContent
    package let info: ResourceInfo
    private let share: Share

    init(file: any FileContent, info: ResourceInfo, share: Share) {
        self.file = file
        self.info = info
        self.share = share
    }

    /// Length in bytes when the content was opened.
    package var length: Int64 { file.length }

    /// Reads bytes from `offset` into the free space of `buffer`. May block.
    /// - Returns: The number of bytes; 0 at the end, nil if the content cannot be read.
    package func read(at offset: Int64, into buffer: IOBuffer) -> Int? {
        try? share.resources.read(file, at: offset, into: buffer)
    }
}

extension TreeTraversal.Obstacle: Error {
    init(_ error: StoreError) {
        switch error {
        case .notFound, .missingAncestor, .wrongKind, .invalidName, .nameTooLong: self = .missing
        case .loop: self = .circle
        case .wouldBlock, .alreadyExists, .forbidden, .outOfSpace, .quotaExceeded, .crossVolume, .busy,
            .tooDeep, .failed:
            self = .unreadable
        }
    }
}
