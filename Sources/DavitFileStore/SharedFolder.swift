internal import DavitHTTP
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// The state shared by a store, its cursors and its staged content.
final class SharedFolder: Sendable {
    let directory: RootDirectory
    /// The open root, for changes to its members; nil if it could not be opened a second time.
    let root: OpenFolder?
    /// The segments of the root's real path, to recognize absolute link targets beneath the root.
    let rootSegments: [[UInt8]]
    let sync: DiskSync
    /// The number of bytes to keep free on the volume; nil for no reserve.
    let keepsFree: Int64?
    let kept = OpenFileCache(limit: CachedOpenFile.countLimit)
    /// The open folders in the root.
    let folders = OpenFolderCache(limit: OpenFolder.countLimit)
    /// The volume whose files may stay open between requests; nil if none may.
    let keptVolume: UInt64?
    /// The volume whose folders may stay open between requests. Nil also if a mount that covers a folder could not
    /// be recognized.
    private let keptFolderVolume: UInt64?
    let names = NameIndexes()
    /// The trash of each volume that has been requested so far.
    let trashes = Mutex<[UInt64: Trash]>([:])
    /// Reserved names that this process uses for existing resources. An advisory lock is not sufficient for
    /// them, because some resources and volumes do not support locks.
    private let usedNames = Mutex<Set<ReservedName>>([])

    init(directory: consuming RootDirectory, sync: SyncLevel, keepsFree: Int64? = nil) {
        self.keepsFree = keepsFree
        self.sync = DiskSync(sync, root: directory.descriptor)
        rootSegments = directory.realPath.split(separator: UInt8(ascii: "/")).map { Array($0) }
        keptVolume = directory.canKeepOpenFiles ? (try? directory.descriptor.status())?.volume : nil
        keptFolderVolume = directory.descriptor.distinguishesMounts ? keptVolume : nil
        if let base = try? directory.open([], for: .base, mayWait: true) {
            root = OpenFolder(base)
        } else {
            root = nil
        }
        self.directory = directory
    }

    /// Whether a folder may stay open between requests: only if one system call can show that the path still leads
    /// to it, without a link above it.
    func mayKeepFolder(at path: ResourcePath) -> Bool {
        keptFolderVolume != nil && !path.bytes.contains(UInt8(ascii: "/"))
    }

    /// Keeps a folder open that ``mayKeepFolder(at:)`` permits, if there is room for it.
    func keepFolder(_ opened: consuming FileDescriptor, at path: ResourcePath) -> OpenFolder {
        guard folders.hasRoom, let status = try? opened.status(), status.volume == keptFolderVolume else {
            return OpenFolder(opened)
        }
        let folder = OpenFolder(opened, status: status)
        folders.keep(folder, at: path)
        return folder
    }

    /// Closes the folder at a path that no longer leads to it.
    func closeFolder(_ path: ResourcePath) {
        if mayKeepFolder(at: path) { folders.forget(path) }
    }

    /// Closes the open files and folders at and below a path, because the next operation may remove them.
    func closeTree(_ path: ResourcePath) {
        kept.forgetTree(path)
        folders.forgetTree(path)
    }

    /// Closes all files and folders that are open only to save time, because file descriptors have run out.
    /// - Returns: false if there were none.
    func closeAll() -> Bool {
        let (closedFiles, closedFolders) = (kept.closeAll(), folders.closeAll())
        return closedFiles || closedFolders
    }

    /// Closes the files and folders that were not used since the last call.
    /// - Returns: whether any remain open.
    func closeUnused() -> Bool {
        let (keepsFiles, keepsFolders) = (kept.closeUnused(), folders.closeUnused())
        return keepsFiles || keepsFolders
    }

    func isInUse(_ name: ReservedName) -> Bool { usedNames.withLock { $0.contains(name) } }

    func use(_ name: ReservedName) { _ = usedNames.withLock { $0.insert(name) } }

    func endUse(of name: ReservedName) { _ = usedNames.withLock { $0.remove(name) } }

    func withNameInUse<R>(_ name: ReservedName, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        use(name)
        defer { endUse(of: name) }
        return try body()
    }

    /// Opens a collection at a canonical path as the base of changes to its members.
    func openDirectory(_ path: ResourcePath) throws(StoreError) -> FileDescriptor {
        do {
            return try directory.open(path.bytes, for: .base, mayWait: true)
        } catch {
            // A link in a canonical path was created after the lookup: the requested collection no longer
            // exists.
            if error.code == .loop { throw .missingAncestor }
            throw StoreError(error, absent: .missingAncestor)
        }
    }

    /// Opens the parent collection of `path`.
    /// - Throws: `forbidden` for the root, which has no parent.
    func openParent(of path: ResourcePath) throws(StoreError) -> FileDescriptor {
        guard let parent = path.parent else { throw .forbidden }
        return try openDirectory(parent)
    }

    /// Returns the identity of the resource at a canonical path, which may be a reserved name, or nil if
    /// there is none.
    func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        do {
            let status = try directory.status(at: path.bytes, acceptsLink: true, mayWait: true)
            return ResourceInfo(status, stamp: 0).identity
        } catch {
            switch error.code {
            case .noEntry, .notDirectory: return nil
            default: throw StoreError(error)
            }
        }
    }
}
