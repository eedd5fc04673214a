internal import DavitHTTP
internal import DavitStore

/// A stack of folders to be read.
struct PendingFolders {
    private var folders: [(id: Int64, path: ResourcePath)] = []
    private var ids: Set<Int64> = []

    var count: Int { folders.count }

    mutating func push(_ id: Int64, _ path: ResourcePath) {
        if ids.insert(id).inserted { folders.append((id, path)) }
    }

    /// Removes and returns the last folder that the pass covers; nil if there is none.
    mutating func pop(for pass: JournalPass) -> (id: Int64, path: ResourcePath)? {
        guard let index = folders.lastIndex(where: { pass.covers($0.path) }) else { return nil }
        let folder = folders.remove(at: index)
        ids.remove(folder.id)
        return folder
    }

    mutating func remove(_ id: Int64) {
        guard ids.remove(id) != nil else { return }
        folders.removeAll { $0.id == id }
    }

    mutating func removeAll() { self = PendingFolders() }
}
