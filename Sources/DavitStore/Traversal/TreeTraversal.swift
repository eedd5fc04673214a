package import DavitHTTP

/// Traverses a tree of a share: visits the members of a collection and of its subcollections.
///
/// All members of a collection are returned before those of its subcollections, so only one collection is
/// open at a time, regardless of the depth. Nothing is recursive. A call returns at most one member, so
/// callers can pause after any call, or stop.
///
/// Used by one task at a time. Its calls block.
package struct TreeTraversal {
    /// The order in which the subcollections of a collection are entered.
    package enum Order: Sendable {
        /// By name. The memory is bounded: if the names of the collections still to be entered exceed
        /// ``TreeTraversal/pendingLimitBytes``, some are dropped and their collection is read again later.
        case byName
        /// In directory order. The memory grows with the number of collections still to be entered.
        case asListed
    }

    /// The effect of a call of ``TreeTraversal/next(_:)``.
    package enum Event {
        /// The next member of the current collection was read. If it is a collection, it is entered later,
        /// unless ``TreeTraversal/skip(_:)`` is called or the limits of the traversal exclude it.
        case member
        /// All members of the current collection have been returned.
        case listed
        /// The current collection was opened to be read again, or a member that was returned before was read
        /// again. Such a member is entered later, as for ``member``.
        case passed
        /// A subcollection with this name was entered and is the current collection.
        case entered(name: [UInt8])
        /// The current collection was left; the collection from which it was entered is current again.
        case left
        /// The remaining members of the current collection cannot be read. The traversal continues with the
        /// subcollections found before.
        case interrupted(StoreError)
        /// The subcollection with this name cannot be opened; it is skipped.
        case inaccessible(name: [UInt8], StoreError)
        /// The starting point has been left, or there was none.
        case end
    }

    /// A collection on the current path.
    private struct Level {
        /// The path of the collection from which this one was entered. Stored as a length where possible, because paths on all
        /// levels of a deep tree would occupy much memory.
        enum Outer {
            /// The first bytes of the path.
            case prefix(Int)
            /// Another path, because a link or a mount was followed.
            case other(ResourcePath)
        }

        let outer: Outer
        let identity: ResourceIdentity
        let volume: UInt64
        /// The subcollections to enter after all members have been read.
        var collections = PendingCollections()
    }

    /// Approximate limit, in bytes, for the names of collections that have not been entered yet.
    private static let pendingLimitBytes = 2 << 20

    private let resources: any ResourceReader
    private let followsLinks: Bool
    private let order: Order
    /// The maximum number of levels.
    private var depth = 0
    private var levels: [Level] = []
    /// The members of the current collection; nil once all of them have been read.
    private var listing: MemberListing?
    /// Whether the members have been returned before and the collection is read only to find more
    /// subcollections.
    private var isReadAgain = false
    /// The last member, if it is a collection to be entered.
    private var candidate: PendingCollections.Entry?
    /// Approximate size in memory, in bytes, of the pending collections of all levels.
    private var pendingBytes = 0
    /// The links in the last collection that are not members; see ``MemberCursor/linksLeftOut``. Valid after
    /// ``Event/listed``.
    package private(set) var linksLeftOut: [[UInt8]] = []
    /// Whether the last member is a collection on the current path, to which a link or a mount leads back. It
    /// is not entered.
    package private(set) var isAncestor = false

    /// - Parameter followsLinks: whether links to collections are entered like collections, except links that
    ///   lead back to a collection on the current path.
    package init(of resources: any ResourceReader, followsLinks: Bool = false, order: Order = .byName) {
        self.resources = resources
        self.followsLinks = followsLinks
        self.order = order
    }

    /// Whether there is nothing more to visit.
    package var isAtEnd: Bool { levels.isEmpty }
    /// The canonical path of the current collection; the root if there is none.
    package private(set) var path = ResourcePath.root

    /// Enters the collection at which the traversal starts. The previous one must have been left.
    ///
    /// - Parameters:
    ///   - path: canonical.
    ///   - info: describes the collection.
    ///   - depth: the maximum number of levels to visit below the collection; 1 for its members only.
    /// - Throws: an error if the collection cannot be opened; the next event is then ``Event/end``.
    package mutating func begin(
        at path: ResourcePath, _ info: ResourceInfo, depth: Int = .max
    ) throws(StoreError) {
        stop()
        self.depth = depth
        try enter(path, info.identity, info.volume, from: .other(.root))
    }

    /// Ends the traversal; the next event is ``Event/end``.
    package mutating func stop() {
        levels.removeAll()
        path = .root
        listing = nil
        candidate = nil
        pendingBytes = 0
    }

    /// Reads the next member of the current collection, enters the next subcollection, or leaves the
    /// collection.
    /// - Parameter member: receives the member; its memory is reused.
    package mutating func next(_ member: inout Member) -> Event {
        if let candidate {
            self.candidate = nil
            keep(candidate)
        }
        if let listing, let event = read(listing, &member) { return event }
        return advance()
    }

    /// Prevents a member from being entered. Takes time linear in the number of collections that were
    /// returned after it.
    /// - Parameter name: the name of a member of the current collection that has not been entered yet.
    package mutating func skip(_ name: [UInt8]) {
        if candidate?.name == name {
            candidate = nil
        } else if !levels.isEmpty {
            pendingBytes -= levels[levels.count - 1].collections.remove(name)
        }
    }

    /// - Returns: nil at the end of a collection that was read again.
    private mutating func read(_ listing: MemberListing, _ member: inout Member) -> Event? {
        do throws(StoreError) {
            guard try listing.next(&member) else {
                linksLeftOut = listing.linksLeftOut
                endListing()
                return isReadAgain ? nil : .listed
            }
        } catch {
            endListing()
            return .interrupted(error)
        }
        isAncestor = false
        if member.info.isCollection, levels.count < depth { consider(member) }
        return isReadAgain ? .passed : .member
    }

    private mutating func endListing() {
        listing = nil
        levels[levels.count - 1].collections.endReading(sorts: order == .byName)
    }

    private mutating func consider(_ member: Member) {
        let (identity, volume) = (member.info.identity, member.info.volume)
        isAncestor = levels.contains { $0.identity == identity && $0.volume == volume }
        if isAncestor || (member.canonicalPath != nil && !followsLinks) { return }
        candidate = PendingCollections.Entry(member)
    }

    /// Records a member to be entered later.
    private mutating func keep(_ entry: PendingCollections.Entry) {
        let current = levels.count - 1
        pendingBytes += levels[current].collections.add(entry)
        while order == .byName, pendingBytes > Self.pendingLimitBytes {
            guard
                let largest = levels.indices.max(by: {
                    levels[$0].collections.bytes < levels[$1].collections.bytes
                })
            else { return }
            // The innermost level keeps one name, so that each time it is read the traversal advances.
            let freed = levels[largest].collections.forgetHalf(keepsOne: largest == current)
            if freed == 0 { return }
            pendingBytes -= freed
        }
    }

    /// Enters the next subcollection, reads the current collection again, or leaves it.
    private mutating func advance() -> Event {
        guard !levels.isEmpty else { return .end }
        let current = levels.count - 1
        let before = levels[current].collections.bytes
        if let entry = levels[current].collections.popFirst() {
            pendingBytes -= before - levels[current].collections.bytes
            return enter(entry)
        }
        if levels[current].collections.hasForgotten {
            levels[current].collections.beginReadingAgain()
            do throws(StoreError) {
                listing = try MemberListing(of: path, in: resources)
                isReadAgain = true
                return .passed
            } catch {
                if !error.concernsOneResource { return .interrupted(error) }
                // The collection was deleted or replaced in the meantime.
            }
        }
        switch levels.removeLast().outer {
        case .prefix(let length): path = ResourcePath(unchecked: Array(path.bytes.prefix(length)))
        case .other(let outer): path = outer
        }
        return .left
    }

    private mutating func enter(_ entry: PendingCollections.Entry) -> Event {
        do throws(StoreError) {
            let outer: Level.Outer =
                entry.canonicalPath == nil ? .prefix(path.bytes.count) : .other(path)
            guard let path = entry.canonicalPath ?? path.appending(entry.name) else { throw .invalidName }
            try enter(path, entry.identity, entry.volume, from: outer)
            return .entered(name: entry.name)
        } catch {
            return .inaccessible(name: entry.name, error)
        }
    }

    private mutating func enter(
        _ path: ResourcePath, _ identity: ResourceIdentity, _ volume: UInt64, from outer: Level.Outer
    ) throws(StoreError) {
        listing = try MemberListing(of: path, in: resources)
        isReadAgain = false
        levels.append(Level(outer: outer, identity: identity, volume: volume))
        self.path = path
    }
}
