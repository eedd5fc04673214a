internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// Files that were requested more than once.
typealias OpenFileCache = OpenCache<CachedOpenFile>

/// Folders in the root that were opened as the base of an operation on a member, usually of a change.
typealias OpenFolderCache = OpenCache<OpenFolder>

/// A cache of what stays open between requests, either files or folders, keyed by canonical path.
///
/// Entries are always validated: a request that finds a file here checks what the path refers to now, and
/// uses the file only if it is the same one with the same status; a folder only has to be the same one, on the same
/// mount. An open file keeps its inode number, and its content is read for each response. Therefore no modification,
/// not even a write through a memory map, can cause stale bytes to be served.
final class OpenCache<File: AnyObject & Sendable>: Sendable {
    private let table: Mutex<Table<File>>

    /// - Parameter limit: the maximum number of cached files. A cache also uses at most an eighth of the descriptors,
    ///   and all caches of the process at most a quarter. A full cache replaces files that were not used recently.
    init(limit: Int) { table = Mutex(Table(countLimit: limit)) }

    deinit { _ = closeAll() }

    func find(_ path: ResourcePath) -> File? { table.withLock { $0.find(path) } }

    /// Whether a file should stay open: usually true from the second request for its path on, so that files
    /// read only once do not occupy descriptors.
    func isWanted(_ path: ResourcePath) -> Bool { table.withLock { $0.isWanted(path) } }

    /// Whether another file can be kept without closing one.
    var hasRoom: Bool { table.withLock { $0.hasRoom } }

    /// - Parameter file: the file at this path, which contains no links.
    func keep(_ file: File, at path: ResourcePath) {
        // The replaced file is closed on release here, outside the lock, because closing a removed file frees
        // its blocks.
        let replaced = table.withLock { $0.insert(file, at: path) }
        _ = consume replaced
    }

    /// Removes a file that the path no longer refers to.
    func drop(_ file: File, at path: ResourcePath) {
        table.withLock { $0.remove(file, at: path) }
    }

    /// Closes the file at a path that was removed or replaced: a removed file uses disk space as long as it
    /// is open, and the next operation may need that space.
    func forget(_ path: ResourcePath) {
        let forgotten = table.withLock { $0.remove(at: path) }
        _ = consume forgotten
    }

    /// Like ``forget(_:)``, for a collection and all its descendants. Cost: linear in the number of open
    /// files.
    func forgetTree(_ path: ResourcePath) {
        let forgotten = table.withLock { $0.removeAll { path.contains($0) } }
        _ = consume forgotten
    }

    /// Removes, and thereby closes, all files that were not used since the last call. May block.
    /// - Returns: whether any files remain in the cache.
    func closeUnused() -> Bool {
        let (closed, isEmpty) = table.withLock { ($0.removeUnused(), $0.isEmpty) }
        _ = consume closed
        return !isEmpty
    }

    /// Removes all files when file descriptors have run out. Those that no response is using are closed.
    /// - Returns: false if the cache was empty.
    func closeAll() -> Bool {
        let closed = table.withLock { $0.removeAll { _ in true } }
        return !closed.isEmpty
    }
}

/// The number of files in all caches of the process.
private enum TotalCount {
    static let value = Atomic(0)
}

/// The clock algorithm: a hand cycles through the slots and replaces a file that was not used since its last
/// visit. The hand moves for one in eight of the files for which there is no room. If it moved for each, clients that
/// read more files than there is room for in the same order again and again would find none of them open.
private struct Table<File: AnyObject> {
    private struct Slot {
        let path: ResourcePath
        let file: File
        var isUsed: Bool
    }

    private static var seenCount: Int { 16384 }
    private static var missesPerMove: Int { 8 }

    private let countLimit: Int
    private var slots: [Slot] = []
    private var index: [ResourcePath: Int] = [:]
    private var hand = 0
    private var missCount = 0
    private var limit = 0
    private var totalLimit = 0
    /// Hashes of requested paths, by which the second request for a path is recognized.
    private var seen: [UInt16] = []

    init(countLimit: Int) { self.countLimit = countLimit }

    var isEmpty: Bool { slots.isEmpty }

    mutating func find(_ path: ResourcePath) -> File? {
        guard !isEmpty, let position = index[path] else { return nil }
        // Written only if it changes, because several event loops read it.
        if !slots[position].isUsed { slots[position].isUsed = true }
        return slots[position].file
    }

    mutating func isWanted(_ path: ResourcePath) -> Bool {
        if seen.isEmpty { seen = [UInt16](repeating: 0, count: Self.seenCount) }
        let hash = path.hashValue
        let mark = UInt16(truncatingIfNeeded: hash >> 16) | 1
        let bucket = hash & (Self.seenCount - 1)
        defer { seen[bucket] = mark }
        return seen[bucket] == mark
    }

    var hasRoom: Bool {
        mutating get {
            if limit == 0 {
                let descriptors = ResourceLimits.descriptorLimit
                limit = max(1, min(countLimit, descriptors / 8))
                totalLimit = descriptors / 4
            }
            return slots.count < limit
                && (slots.isEmpty || TotalCount.value.load(ordering: .relaxed) < totalLimit)
        }
    }

    /// - Returns: the file that was replaced, if any.
    mutating func insert(_ file: File, at path: ResourcePath) -> File? {
        let slot = Slot(path: path, file: file, isUsed: false)
        if let position = index[path] {
            defer { slots[position] = slot }
            return slots[position].file
        }
        if hasRoom {
            TotalCount.value.add(1, ordering: .relaxed)
            index[path] = slots.count
            slots.append(slot)
            return nil
        }
        missCount &+= 1
        guard missCount % Self.missesPerMove == 0 else { return nil }
        let position = hand % slots.count
        hand = position + 1
        // A file used since the last visit stays, and the new one is not inserted this time, so that a scan
        // of many files displaces only a few.
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

    /// Removes a file. The caller holds a reference to `file`, so it is closed later, outside the lock.
    mutating func remove(_ file: File, at path: ResourcePath) {
        guard let position = index[path], slots[position].file === file else { return }
        remove(at: position)
    }

    /// - Returns: the removed file.
    mutating func remove(at path: ResourcePath) -> File? {
        guard !isEmpty, let position = index[path] else { return nil }
        let file = slots[position].file
        remove(at: position)
        return file
    }

    mutating func removeAll(where isGone: (ResourcePath) -> Bool) -> [File] {
        var removed: [File] = []
        // Iterate in reverse, so that the last file, which takes the place of a removed one, has already been
        // visited.
        for position in slots.indices.reversed() where isGone(slots[position].path) {
            removed.append(slots[position].file)
            remove(at: position)
        }
        return removed
    }

    mutating func removeUnused() -> [File] {
        var removed: [File] = []
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

    /// Moves the last slot to the removed position.
    private mutating func remove(at position: Int) {
        TotalCount.value.subtract(1, ordering: .relaxed)
        index[slots[position].path] = nil
        let last = slots.removeLast()
        if position < slots.count {
            slots[position] = last
            index[last.path] = position
        }
    }
}
