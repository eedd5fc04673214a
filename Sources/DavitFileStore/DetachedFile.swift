internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// A file or folder that was hidden under a reserved name.
final class DetachedFile: DetachedTree {
    private let share: SharedFolder
    private let original: ResourcePath
    private let directory: FileDescriptor
    private let name: ReservedName
    /// Acquired before the rename, so that no sweep can remove the file in between.
    private let lock: AdvisoryLock

    init(_ path: ResourcePath, in share: SharedFolder) throws(StoreError) {
        let directory = try share.openParent(of: path)
        let name = ReservedName.random()
        lock = AdvisoryLock(on: Array(path.name), in: directory)
        // Links and unreadable files cannot be locked, so the name is registered as well.
        share.use(name)
        do {
            try share.rename(Array(path.name), of: directory, toFree: name.bytes, in: directory)
        } catch {
            share.endUse(of: name)
            throw error
        }
        share.closeTree(path)
        self.share = share
        self.name = name
        self.directory = directory
        original = path
    }

    deinit { share.endUse(of: name) }

    func destroy() -> [(path: ResourcePath, error: StoreError)] {
        var removal = TreeRemoval(isOurs: false)
        removal.remove(name.bytes, in: directory)
        return removal.failures.map { failure in
            // The first segment is the reserved name.
            let path = failure.segments.dropFirst().reduce(original) { path, name in
                path.appending(name) ?? path
            }
            return (path, failure.error)
        }
    }

    func restore() throws(StoreError) {
        try share.rename(name.bytes, of: directory, toFree: Array(original.name), in: directory)
    }
}
