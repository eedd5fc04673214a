package import DavitFileStore
internal import DavitHTTP
internal import DavitStore

/// The open folders of a share: the shared folder, and those that are mounted in it.
package struct ShareFolders: Sendable {
    /// The shared folder.
    package let root: FileResourceStore
    package let mounts: [(path: ResourcePath, store: FileResourceStore)]
    /// The folder that contains home folders, which is also one of ``mounts``.
    package let homes: (path: ResourcePath, store: FileResourceStore)?
    /// All folders as one tree.
    package let store: any FolderStore

    /// Opens the folders.
    /// - Throws: `shareNotUsable` if a folder cannot be opened, `mountNotUsable` if the folders cannot be one tree.
    package init(
        _ folder: String, mounts: [WebDAVShare.MountedFolder], homes: WebDAVShare.MountedFolder?,
        sync: SyncLevel = .none, keepsFree: Int64? = nil
    ) throws(ServerError) {
        func open(_ folder: String) throws(ServerError) -> FileResourceStore {
            do throws(FileResourceStore.RootError) {
                return try FileResourceStore(root: folder, sync: sync, keepsFree: keepsFree)
            } catch {
                throw .shareNotUsable(path: folder, error)
            }
        }
        root = try open(folder)
        var opened: [(path: ResourcePath, store: FileResourceStore)] = []
        for mount in mounts + [homes].compactMap({ $0 }) {
            let path = try Self.path(mount, besides: opened.map(\.path))
            opened.append((path, try open(mount.folder)))
        }
        self.mounts = opened
        self.homes = homes == nil ? nil : opened.last
        store = opened.isEmpty ? root : MountedStore(root, mounts: opened)
        try checkNesting()
        for (path, _) in opened { try checkParent(of: path) }
    }

    /// All folders, the shared folder first.
    package var all: [FileResourceStore] { [root] + mounts.map(\.store) }

    /// Whether a path of the file system is one of the folders or inside it.
    package func contains(_ path: String) -> Bool {
        all.contains { StateFolder.isInside(path, share: $0.rootPath) }
    }

    private static func path(
        _ mount: WebDAVShare.MountedFolder, besides others: [ResourcePath]
    ) throws(ServerError) -> ResourcePath {
        guard let path = ResourcePath(segments: mount.path.utf8.split(separator: UInt8(ascii: "/"))),
            MountedStore.canMount(at: path)
        else { throw .mountNotUsable(reason: "cannot mount a folder at '\(mount.path)'") }
        if others.contains(where: { $0.equivalenceKey == path.equivalenceKey }) {
            throw .mountNotUsable(reason: "two folders have the mount point \(path)")
        }
        return path
    }

    /// A resource with two paths would have two sets of locks and rights.
    private func checkNesting() throws(ServerError) {
        let paths = all.map(\.rootPath)
        for (index, path) in paths.enumerated() {
            for (other, folder) in paths.enumerated() where index != other {
                if StateFolder.isInside(path, share: folder) {
                    throw .mountNotUsable(
                        reason: "\(path) and \(folder) cannot be in one share: one contains the other")
                }
            }
        }
    }

    /// Without the folder above it, a mounted folder would not be listed anywhere.
    private func checkParent(of path: ResourcePath) throws(ServerError) {
        guard let parent = path.parent else { return }
        let found = try? store.lookup(parent, last: .followed, wait: .allowed)
        guard let found, found.info?.isCollection == true, found.path == parent else {
            throw .mountNotUsable(
                reason: "cannot mount a folder at \(path): there is no folder \(parent) in the share")
        }
    }
}
