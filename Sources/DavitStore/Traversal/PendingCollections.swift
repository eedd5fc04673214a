internal import DavitHTTP

/// The subcollections of a collection that a traversal has not entered yet. They are stored so that the
/// collection itself can be closed before they are entered.
///
/// If they are entered in the order of their names, the last ones can be dropped when they need too much
/// memory: after the others have been entered, the collection is read again to find the dropped ones.
struct PendingCollections {
    /// A collection to enter.
    struct Entry {
        var name: [UInt8]
        /// If the member is a symbolic link, the path of its target.
        var canonicalPath: ResourcePath?
        var identity: ResourceIdentity
        var volume: UInt64

        /// Approximate size in memory, in bytes.
        fileprivate var cost: Int { 112 + name.count + (canonicalPath?.bytes.count ?? 0) }

        init(_ member: Member) {
            name = member.name
            canonicalPath = member.canonicalPath
            identity = member.info.identity
            volume = member.info.volume
        }
    }

    /// In directory order (unsorted), unless names have been dropped, while the collection is being read;
    /// then in the reverse of the order in which they are entered.
    private var entries: [Entry] = []
    /// Names before this one have been entered.
    private var floor: [UInt8]?
    /// Names from this one on were dropped.
    private var ceiling: [UInt8]?
    /// Approximate size in memory, in bytes.
    private(set) var bytes = 0

    /// Whether the collection must be read again once there are no entries.
    var hasForgotten: Bool { ceiling != nil }

    /// Adds a subcollection found while reading, unless it has already been entered or will be read again
    /// later.
    /// - Returns: the increase of ``bytes``.
    mutating func add(_ entry: Entry) -> Int {
        if let floor, entry.name.lexicographicallyPrecedes(floor) { return 0 }
        if let ceiling, !entry.name.lexicographicallyPrecedes(ceiling) { return 0 }
        entries.append(entry)
        bytes += entry.cost
        return entry.cost
    }

    /// Puts the subcollections into order. Must be called after all members have been read.
    /// - Parameter sorts: whether they are entered in the order of their names, not in directory order.
    mutating func endReading(sorts: Bool) {
        // Most collections have at most one subcollection, which needs no sorting.
        guard entries.count > 1 else { return }
        if sorts { sort() } else { entries.reverse() }
    }

    private mutating func sort() { entries.sort { $1.name.lexicographicallyPrecedes($0.name) } }

    mutating func popFirst() -> Entry? {
        guard let entry = entries.popLast() else { return nil }
        bytes -= entry.cost
        return entry
    }

    /// Removes a subcollection, if it is stored. Takes time linear in the number of subcollections added
    /// after it.
    /// - Returns: the decrease of ``bytes``.
    mutating func remove(_ name: [UInt8]) -> Int {
        guard let index = entries.lastIndex(where: { $0.name == name }) else { return 0 }
        let cost = entries.remove(at: index).cost
        bytes -= cost
        return cost
    }

    /// Drops the second half of the names. Only for subcollections that are entered in the order of their
    /// names.
    /// - Parameter keepsOne: whether at least one name is kept, so that a traversal that reads the collection
    ///   again advances.
    /// - Returns: the decrease of ``bytes``.
    mutating func forgetHalf(keepsOne: Bool) -> Int {
        sort()
        let dropped = min((entries.count + 1) / 2, entries.count - (keepsOne ? 1 : 0))
        guard dropped > 0 else { return 0 }
        ceiling = entries[dropped - 1].name
        let freed = entries.prefix(dropped).reduce(0) { $0 + $1.cost }
        entries.removeFirst(dropped)
        bytes -= freed
        return freed
    }

    /// Continues with the subcollections that were dropped. Must be called before the collection is read
    /// again.
    mutating func beginReadingAgain() {
        floor = ceiling
        ceiling = nil
    }
}
