internal import DavitHTTP
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// A file that stays open between requests, and what was seen when it was opened.
final class KeptFile: Sendable {
    let status: FileStatus
    let resource: OpenResource

    init(status: FileStatus, resource: OpenResource) {
        self.status = status
        self.resource = resource
    }
}

/// Files that were asked for more than once, kept open under their canonical paths.
///
/// Nothing is believed: who finds a file here looks what the name stands for now, and uses it only if that is the
/// same file with the same status. An open file keeps its inode number, and its content is read for each
/// response. So no way of changing it, a write through a memory map included, can bring old bytes to light.
final class KeptFiles: Sendable {
    /// Over so many, those that were not used lately are closed.
    static let countLimit = 1024

    private let table = Mutex(Table())

    func find(_ path: ResourcePath) -> KeptFile? { table.withLock { $0.find(path) } }

    /// True from the second time on that a path is asked about, most of the time: what is read once is not worth
    /// a descriptor.
    func isWanted(_ path: ResourcePath) -> Bool { table.withLock { $0.isWanted(path) } }

    /// - Parameter file: at this path, which led to it without a link.
    func keep(_ file: KeptFile, at path: ResourcePath) {
        // What goes is closed by the release here, behind the lock: a removed file frees its blocks then.
        let replaced = table.withLock { $0.insert(file, at: path) }
        _ = consume replaced
    }

    /// Forgets a file that is no longer what the name stands for.
    func drop(_ file: KeptFile, at path: ResourcePath) {
        table.withLock { $0.remove(file, at: path) }
    }

    /// Closes the file at a path whose name has gone or stands for another one: a removed file keeps its space for as
    /// long as it is open, and who has removed it may need that for what comes next.
    func forget(_ path: ResourcePath) {
        let forgotten = table.withLock { $0.remove(at: path) }
        _ = consume forgotten
    }

    /// The same for a collection and all below it. Linear in the number of files that are open.
    func forgetTree(_ path: ResourcePath) {
        let forgotten = table.withLock { $0.removeAll { path.contains($0) } }
        _ = consume forgotten
    }

    /// Closes what was not used since the last call. May block.
    /// - Returns: false if nothing is left.
    func closeUnused() -> Bool {
        let (closed, isEmpty) = table.withLock { ($0.removeUnused(), $0.isEmpty) }
        _ = consume closed
        return !isEmpty
    }

    /// Closes everything; for when descriptors have run out.
    /// - Returns: false if there was nothing.
    func closeAll() -> Bool {
        let used = closeUnused()
        return closeUnused() || used
    }
}

/// The clock algorithm: a hand goes round and takes a file that was not used since it last came by.
private struct Table {
    private struct Slot {
        let path: ResourcePath
        let file: KeptFile
        var isUsed: Bool
    }

    private static let seenCount = 4096

    private var slots: [Slot] = []
    private var index: [ResourcePath: Int] = [:]
    private var hand = 0
    private var limit = 0
    /// Hashes of paths that were asked about.
    private var seen: [UInt32] = []

    var isEmpty: Bool { slots.isEmpty }

    mutating func find(_ path: ResourcePath) -> KeptFile? {
        guard let position = index[path] else { return nil }
        slots[position].isUsed = true
        return slots[position].file
    }

    mutating func isWanted(_ path: ResourcePath) -> Bool {
        if seen.isEmpty { seen = [UInt32](repeating: 0, count: Self.seenCount) }
        let hash = path.hashValue
        let mark = UInt32(truncatingIfNeeded: hash >> 16) | 1
        let place = hash & (Self.seenCount - 1)
        defer { seen[place] = mark }
        return seen[place] == mark
    }

    /// - Returns: what had to go.
    mutating func insert(_ file: KeptFile, at path: ResourcePath) -> KeptFile? {
        if limit == 0 { limit = max(1, min(KeptFiles.countLimit, ResourceLimits.descriptorLimit / 8)) }
        let slot = Slot(path: path, file: file, isUsed: false)
        if let position = index[path] {
            defer { slots[position] = slot }
            return slots[position].file
        }
        if slots.count < limit {
            index[path] = slots.count
            slots.append(slot)
            return nil
        }
        let position = hand % slots.count
        hand = position + 1
        // Who is in use stays, and the newcomer has to come again: a walk through many files displaces few.
        if slots[position].isUsed {
            slots[position].isUsed = false
            return nil
        }
        let old = slots[position]
        index[old.path] = nil
        index[path] = position
        slots[position] = slot
        return old.file
    }

    /// The caller holds `file`, so that it is closed later.
    mutating func remove(_ file: KeptFile, at path: ResourcePath) {
        guard let position = index[path], slots[position].file === file else { return }
        remove(at: position)
    }

    /// - Returns: what was there.
    mutating func remove(at path: ResourcePath) -> KeptFile? {
        guard let position = index[path] else { return nil }
        let file = slots[position].file
        remove(at: position)
        return file
    }

    mutating func removeAll(where isGone: (ResourcePath) -> Bool) -> [KeptFile] {
        var removed: [KeptFile] = []
        // From the end: what takes the place of one that goes has been looked at.
        for position in slots.indices.reversed() where isGone(slots[position].path) {
            removed.append(slots[position].file)
            remove(at: position)
        }
        return removed
    }

    mutating func removeUnused() -> [KeptFile] {
        var removed: [KeptFile] = []
        for position in slots.indices.reversed() {
            if slots[position].isUsed {
                slots[position].isUsed = false
            } else {
                removed.append(slots[position].file)
                remove(at: position)
            }
        }
        return removed
    }

    /// The last one takes the place of the one that goes.
    private mutating func remove(at position: Int) {
        index[slots[position].path] = nil
        let last = slots.removeLast()
        if position < slots.count {
            slots[position] = last
            index[last.path] = position
        }
    }
}
