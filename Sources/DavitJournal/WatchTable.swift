internal import DavitFileStore
internal import DavitHTTP
internal import DavitStore

/// Which folders are watched under which key, and which were read but cannot be watched.
struct WatchTable {
    private let watch: FolderWatch
    private let limit: Int
    private var folders: [Int32: Int64] = [:]
    private var keys: [Int64: Int32] = [:]
    /// Where changes do not show by themselves.
    private(set) var unwatched: [Int64: ResourcePath] = [:]

    /// - Parameter limit: folders that are watched at most.
    init(_ watch: FolderWatch, limit: Int) {
        self.watch = watch
        self.limit = limit
    }

    func folder(of key: Int32) -> Int64? { folders[key] }

    /// Watches a folder, or notes that it cannot be.
    ///
    /// A key names what is there, not the path: if another path had it, the folder was moved, or is mounted twice.
    /// - Parameter path: says where the other folder is that is watched no longer, by its number.
    /// - Throws: `missingAncestor` and the rest if there is no such folder.
    mutating func add<E: Error>(
        _ id: Int64, at path: ResourcePath, pathOf: (Int64) throws(E) -> ResourcePath?,
        mapping: (StoreError) -> E
    ) throws(E) {
        var key: Int32?
        if keys[id] != nil || keys.count < limit {
            do throws(StoreError) { key = try watch.watch(path) } catch {
                guard error == .forbidden else { throw mapping(error) }
            }
        }
        if let old = keys[id], old != key { drop(id) }
        guard let key else {
            unwatched[id] = path
            return
        }
        if let other = folders[key], other != id {
            keys[other] = nil
            unwatched[other] = try pathOf(other)
        }
        folders[key] = id
        keys[id] = key
        unwatched[id] = nil
    }

    /// The system watches it no longer.
    /// - Returns: the folder.
    mutating func ended(_ key: Int32) -> Int64? {
        guard let id = folders.removeValue(forKey: key) else { return nil }
        keys[id] = nil
        return id
    }

    /// Notes that a folder is not watched.
    mutating func lose(_ id: Int64, at path: ResourcePath) {
        if keys[id] == nil { unwatched[id] = path }
    }

    /// A folder has gone.
    mutating func remove(_ id: Int64) {
        unwatched[id] = nil
        drop(id)
    }

    private mutating func drop(_ id: Int64) {
        guard let key = keys.removeValue(forKey: id), folders[key] == id else { return }
        folders[key] = nil
        watch.unwatch(key)
    }
}
