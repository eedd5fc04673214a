internal import DavitFileStore
internal import DavitHTTP
internal import DavitStore

/// Maps watched folders to their keys, and records folders that were read but cannot be watched.
struct WatchTable {
    private let watch: FolderWatch
    private let limit: Int
    private var folders: [Int32: Int64] = [:]
    private var keys: [Int64: Int32] = [:]
    /// Folders whose changes are not reported.
    private(set) var unwatched: [Int64: ResourcePath] = [:]

    /// - Parameter limit: the maximum number of watched folders.
    init(_ watch: FolderWatch, limit: Int) {
        self.watch = watch
        self.limit = limit
    }

    func folder(of key: Int32) -> Int64? { folders[key] }

    /// Watches a folder, or records that it cannot be watched.
    ///
    /// A key identifies a directory, not a path: if another path had the same key, the directory was moved or
    /// is mounted twice.
    /// - Parameter pathOf: returns the path of the folder that had the key before, by its id; that folder is
    ///   no longer watched.
    /// - Throws: the error of `mapping` if the folder does not exist or cannot be opened, except for lack of
    ///   permission; errors of `pathOf`.
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

    /// Handles the end of a watch by the system.
    /// - Returns: the id of the folder that was watched.
    mutating func ended(_ key: Int32) -> Int64? {
        guard let id = folders.removeValue(forKey: key) else { return nil }
        keys[id] = nil
        return id
    }

    /// Records that a folder is not watched.
    mutating func lose(_ id: Int64, at path: ResourcePath) {
        if keys[id] == nil { unwatched[id] = path }
    }

    /// Removes a folder that no longer exists.
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
