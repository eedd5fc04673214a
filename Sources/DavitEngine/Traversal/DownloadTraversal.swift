package import DavitHTTP
package import DavitStore

/// Traverses a collection, or some of its members, with everything below, as seen by clients: each collection
/// before its members, and the members in directory order (unsorted). The collection itself comes first, with
/// an empty path, unless only some members are visited.
///
/// Rules and mounts apply. Links that lead outside the share are not members. Each collection is visited
/// once: links to collections are followed after everything else, and a link to a visited collection is
/// reported as an obstacle and not followed. The size of the result is therefore bounded by the number of
/// existing resources, however links refer to each other.
///
/// Its methods block. It belongs to one task, which passes it to one job of the thread pool at a time and
/// waits for that job.
package final class DownloadTraversal: Sendable {
    /// A resource found by the traversal.
    package struct Found: Sendable {
        /// Path relative to the starting point: segments separated by slashes, without a leading or trailing
        /// slash.
        package var path: [UInt8]
        package var info: ResourceInfo
        /// Canonical path.
        package var target: ResourcePath

        package init(path: [UInt8], info: ResourceInfo, target: ResourcePath) {
            self.path = path
            self.info = info
            self.target = target
        }
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
        /// A link to a collection that contains the link, or a link that cannot be resolved because links
        /// form a cycle.
        case circle
        /// A link to a collection that was visited under another name.
        case repeated
        case unreadable
    }

    private let share: Share
    private let state: Exclusive<DownloadTraversalState>

    /// - Parameter names: The members to visit; nil for all of them.
    init(_ share: Share, _ root: ResourcePath, names: [[UInt8]]?) throws(StoreError) {
        self.share = share
        state = Exclusive(try DownloadTraversalState(share, root, names: names))
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

private struct DownloadTraversalState {
    typealias Found = DownloadTraversal.Found
    typealias Step = DownloadTraversal.Step
    typealias Obstacle = DownloadTraversal.Obstacle

    private struct Key: Hashable {
        let identity: ResourceIdentity
        let volume: UInt64

        init(_ info: ResourceInfo) {
            identity = info.identity
            volume = info.volume
        }
    }

    private let share: Share
    /// Links are followed here, not by the traversal: only this state knows which collections were visited.
    private var traversal: TreeTraversal
    /// The relative path of the current collection, as in ``Found/path``.
    private var collectionPath: [UInt8] = []
    /// The lengths of the paths of the collections that contain the current one, each of which is a prefix of the next.
    private var outerLengths: [Int] = []
    /// The member read last; its memory is reused.
    private var member = Member()
    /// The collection at which the traversal starts.
    private let root: Found
    /// The names of the members still to be visited, in reverse order; empty if all members are visited.
    private var names: [[UInt8]]
    /// Links to collections; the first ``linkCount`` have been followed.
    private var links: [Found] = []
    private var linkCount = 0
    /// The collections visited so far. Links that are still to be followed are not included.
    private var visited: Set<Key> = []
    /// Whether the root has to be returned first.
    private var returnsRoot = false
    /// A collection to enter before anything else.
    private var entered: Found?

    init(_ share: Share, _ root: ResourcePath, names: [[UInt8]]?) throws(StoreError) {
        self.share = share
        guard let info = try share.lookup.resource(at: root, wait: .allowed).info else { throw .notFound }
        self.root = Found(path: [], info: info, target: root)
        self.names = names.map { $0.reversed() } ?? []
        traversal = TreeTraversal(of: share.resources, order: .asListed)
        guard names == nil else { return }
        // If the collection itself cannot be read, this throws an error instead of reporting an obstacle.
        try traversal.begin(at: root, info)
        outerLengths = [0]
        returnsRoot = true
        visited.insert(Key(info))
    }

    mutating func next() -> Step {
        if returnsRoot {
            returnsRoot = false
            return .found(root)
        }
        if let entered {
            self.entered = nil
            do throws(StoreError) {
                try traversal.begin(at: entered.target, entered.info)
                (collectionPath, outerLengths) = (entered.path, [0])
            } catch {
                return .obstacle(path: entered.path, Obstacle(error))
            }
        }
        while true {
            switch traversal.next(&member) {
            case .member: if let step = step(to: member) { return step }
            case .entered(let name):
                outerLengths.append(collectionPath.count)
                collectionPath = path(of: name)
            case .left: collectionPath.removeLast(collectionPath.count - outerLengths.removeLast())
            case .interrupted(let error): return .obstacle(path: collectionPath, Obstacle(error))
            case .inaccessible(let name, let error):
                return .obstacle(path: path(of: name), Obstacle(error))
            case .listed, .passed: break
            case .end:
                if let name = names.popLast() {
                    if let step = step(toName: name) { return step }
                } else if linkCount < links.count {
                    linkCount += 1
                    return follow(links[linkCount - 1])
                } else {
                    return .end
                }
            }
        }
    }

    /// Returns the path of a member of the current collection, as in ``Found/path``.
    private func path(of name: [UInt8]) -> [UInt8] {
        collectionPath.isEmpty ? name : collectionPath + [UInt8(ascii: "/")] + name
    }

    /// - Returns: nil for a link that is followed later.
    private mutating func step(to member: Member) -> Step? {
        guard let target = member.canonicalPath ?? traversal.path.appending(member.name) else { return nil }
        let found = Found(path: path(of: member.name), info: member.info, target: target)
        guard member.info.isCollection else { return .found(found) }
        let key = Key(member.info)
        if traversal.isAncestor || key == Key(root.info) {
            traversal.skip(member.name)
            return .obstacle(path: found.path, .circle)
        }
        if member.canonicalPath != nil, !visited.contains(key) {
            links.append(found)
            return nil
        }
        guard visited.insert(key).inserted else {
            traversal.skip(member.name)
            return .obstacle(path: found.path, .repeated)
        }
        return .found(found)
    }

    /// - Returns: nil for a link that is followed later.
    private mutating func step(toName name: [UInt8]) -> Step? {
        guard let path = root.target.appending(name) else {
            return .obstacle(path: name, .missing)
        }
        do throws(StoreError) {
            let lookup = try share.lookup.resource(at: path, wait: .allowed)
            guard let info = lookup.info else { return .obstacle(path: name, .missing) }
            let found = Found(path: name, info: info, target: lookup.path)
            guard info.isCollection else { return .found(found) }
            if Key(info) == Key(root.info) { return .obstacle(path: name, .circle) }
            if lookup.path == path { return follow(found) }
            links.append(found)
            return nil
        } catch {
            return .obstacle(path: name, Obstacle(error))
        }
    }

    private mutating func follow(_ link: Found) -> Step {
        guard visited.insert(Key(link.info)).inserted else { return .obstacle(path: link.path, .repeated) }
        entered = link
        return .found(link)
    }
}

extension DownloadTraversal.Obstacle: Error {
    init(_ error: StoreError) {
        switch error {
        case .notFound, .missingAncestor, .wrongKind, .invalidName, .nameTooLong: self = .missing
        case .loop: self = .circle
        case .wouldBlock, .alreadyExists, .forbidden, .outOfSpace, .quotaExceeded, .crossVolume, .busy,
            .rightsChanged,
            .tooDeep, .superseded, .failed:
            self = .unreadable
        }
    }
}
