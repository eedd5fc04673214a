package import DavitHTTP
package import DavitStore
package import DavitSystem

/// Tells what happens to the members of folders of a share, whoever does it. Its calls are for a thread that may wait.
package final class FolderWatch: Sendable {
    private let share: SharedFolder
    private let watch: DirectoryWatch?

    /// Watches nothing yet.
    package init(_ store: FileResourceStore) {
        share = store.share
        watch = try? DirectoryWatch(root: share.directory.realPath)
    }

    /// False where the system has no more of what watching takes (`max_user_instances`): nothing can be watched then.
    package var isPossible: Bool { watch != nil }

    /// Watches the members of a folder from now on, but not theirs.
    /// - Parameter path: canonical.
    /// - Returns: what names the folder in events, whatever becomes of its path; the same again if it is watched already.
    ///   Nil if it cannot be watched: there are too many watches, or its volume is not this machine's alone.
    /// - Throws: `missingAncestor` and the rest if there is no such folder.
    package func watch(_ path: ResourcePath) throws(StoreError) -> Int32? {
        let folder = try share.openDirectory(path)
        guard let watch, folder.isOnLocalVolume else { return nil }
        return try? watch.watch(folder)
    }

    /// Watches a folder no longer; events that have happened may still come.
    package func unwatch(_ key: Int32) { watch?.unwatch(key) }

    /// Shows all events that have happened, but for those of names that are not part of the share.
    package func drain(_ body: (DirectoryEvent) -> Void) {
        watch?.drain { event in
            if event.name.first == UInt8(ascii: "."), ReservedName(event.name) != nil { return }
            body(event)
        }
    }

    /// What is mounted below the share, in the system's words: other words, if something else is.
    package var mounts: [[UInt8]] { MountTable.lines(below: share.directory.realPath) }

    /// Blocks until something has happened, or ``wake()`` was called; not at all where nothing can be watched.
    package func wait() { watch?.wait() }

    /// Lets every ``wait()`` return, now and in future.
    package func wake() { watch?.wake() }
}
