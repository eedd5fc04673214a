internal import DavitHTTP
internal import DavitStore

/// The members of one collection that a walk still has to enter, so that the collection need not stay open while the
/// walk is further down.
///
/// They are entered in the order of their names. That makes it possible to forget the last ones when they take too much
/// memory: once the others have been entered, the collection is read again for the names from the first forgotten one on.
struct PendingCollections {
    /// A collection to enter.
    struct Entry {
        var name: [UInt8]
        /// Where the member is a link: the path it leads to.
        var canonicalPath: ResourcePath?
        var identity: ResourceIdentity
        var volume: UInt64

        /// Bytes in memory, about.
        fileprivate var cost: Int { 112 + name.count + (canonicalPath?.bytes.count ?? 0) }
    }

    /// While the collection is read, in the order of the volume; afterwards the next one last.
    private var entries: [Entry] = []
    /// Names before this one have been entered.
    private var floor: [UInt8]?
    /// Names from this one on were forgotten.
    private var ceiling: [UInt8]?
    /// Bytes in memory, about.
    private(set) var bytes = 0

    var isEmpty: Bool { entries.isEmpty }
    /// The collection has to be read again after ``isEmpty``.
    var hasForgotten: Bool { ceiling != nil }

    /// Adds a collection that the collection above has been read up to, unless it was entered before or is to be entered
    /// later.
    /// - Returns: how much ``bytes`` has grown.
    mutating func add(_ member: Member) -> Int {
        if let floor, member.name.lexicographicallyPrecedes(floor) { return 0 }
        if let ceiling, !member.name.lexicographicallyPrecedes(ceiling) { return 0 }
        let entry = Entry(
            name: member.name, canonicalPath: member.canonicalPath, identity: member.info.identity,
            volume: member.info.volume)
        entries.append(entry)
        bytes += entry.cost
        return entry.cost
    }

    /// Called when all members have been read.
    mutating func endReading() {
        // One is in order, and many folders have no more.
        if entries.count > 1 { sort() }
    }

    private mutating func sort() { entries.sort { $1.name.lexicographicallyPrecedes($0.name) } }

    mutating func popFirst() -> Entry? {
        guard let entry = entries.popLast() else { return nil }
        bytes -= entry.cost
        return entry
    }

    /// Forgets the later half of the names.
    /// - Parameter keepsOne: whether one name stays, so that a walk that reads the collection again gets further.
    /// - Returns: how much ``bytes`` has shrunk.
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

    /// Called before the collection is read again.
    mutating func beginReadingAgain() {
        floor = ceiling
        ceiling = nil
    }
}
