package import DavitHTTP
package import DavitStore
package import DavitSystem

/// Reports changes of the members of folders in a share, by any process. Its calls may block.
package final class FolderWatch: Sendable {
    /// Opens a folder of the store by its canonical path.
    private let open: @Sendable (ResourcePath) throws(StoreError) -> FileDescriptor
    /// The real paths of the folders of the store.
    private let roots: [[UInt8]]
    private let watch: DirectoryWatch?

    /// Creates a watch without any folders.
    convenience init(_ store: FileResourceStore) {
        let share = store.share
        self.init(roots: [share.directory.realPath]) { (path) throws(StoreError) in
            try share.openDirectory(path)
        }
    }

    /// - Parameters:
    ///   - roots: the real paths of the folders that contain everything that is watched.
    ///   - open: opens a folder by its canonical path.
    init(
        roots: [[UInt8]], _ open: @escaping @Sendable (ResourcePath) throws(StoreError) -> FileDescriptor
    ) {
        self.roots = roots
        self.open = open
        watch = try? DirectoryWatch(roots: roots)
    }

    /// Whether folders can be watched; false if, for example, the system limit on watch instances
    /// (`max_user_instances`) is exhausted.
    package var isPossible: Bool { watch != nil }

    /// Begins to watch the direct members of a folder.
    /// - Parameter path: canonical.
    /// - Returns: the key of the folder in events, which stays the same if the folder is renamed or watched
    ///   again. Nil if it cannot be watched, for example because there are too many watches or because its
    ///   volume is not local.
    /// - Throws: `missingAncestor` if there is no such folder, and other errors.
    package func watch(_ path: ResourcePath) throws(StoreError) -> Int32? {
        let folder = try open(path)
        guard let watch, folder.isOnLocalVolume else { return nil }
        return try? watch.watch(folder)
    }

    /// Stops watching a folder; pending events may still be delivered.
    package func unwatch(_ key: Int32) { watch?.unwatch(key) }

    /// Passes all pending events to `body`, except those for names that are not part of the share.
    package func drain(_ body: (DirectoryEvent) -> Void) {
        watch?.drain { event in
            if event.name.first == UInt8(ascii: "."), ReservedName(event.name) != nil { return }
            body(event)
        }
    }

    /// The lines of the system's mount table for mounts below the share; they differ after such a mount has
    /// changed.
    package var mounts: [[UInt8]] { roots.flatMap { MountTable.lines(below: $0) } }

    /// Blocks until an event occurs or ``wake()`` is called. Returns immediately if nothing can be watched.
    package func wait() { watch?.wait() }

    /// Makes all current and future ``wait()`` calls return.
    package func wake() { watch?.wake() }
}
