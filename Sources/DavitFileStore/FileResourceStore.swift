public import DavitHTTP
public import DavitStore
internal import DavitSystem
internal import Synchronization

/// A folder as the resources of a share: names are file names, content is regular files.
///
/// Other programs may use the folder at the same time; their changes are visible immediately. Frequently
/// requested files, and folders with changes, stay open (`OpenCache`), but their paths are checked again for each request. On
/// volumes without `flock` for directories (NFS), leftovers remain until an administrator removes them. On
/// other volumes, the server that owns the state of the share removes them after it has called
/// ``keepUploads(where:)``; other processes never do.
public final class FileResourceStore: ResourceStore {
    /// Read-only access to the same folder.
    public let reader: FileResourceReader
    /// Removes leftovers; nil until ``keepUploads(where:)``.
    private let sweeperIfServing = Mutex<LeftoverSweeper?>(nil)

    let share: SharedFolder
    var kept: OpenFileCache { share.kept }
    /// Removes leftovers; nil if this process does not, or not yet.
    var sweeper: LeftoverSweeper? { sweeperIfServing.withLock { $0 } }
    /// The absolute path without links; bytes that are not UTF-8 are replaced.
    public var rootPath: String { reader.rootPath }
    /// The exact bytes of ``rootPath``.
    public var rootPathBytes: [UInt8] { reader.rootPathBytes }
    /// The identity of the folder, independent of its name.
    public var rootIdentity: ResourceIdentity { reader.rootIdentity }

    /// Opens the folder; the store keeps using it even if it is renamed.
    /// - Parameters:
    ///   - sync: the data that each call syncs to disk before it returns.
    ///   - rules: determine the header fields of content.
    ///   - keepsFree: number of bytes to keep free on the volume. The reported available space is reduced by
    ///     it, and content that does not fit is refused with `StoreError.quotaExceeded`, 507. Nil for none.
    /// - Throws: ``RootError``.
    public convenience init(
        root path: String, sync: SyncLevel = .none,
        rules: ContentResponseSettings = ContentResponseSettings(),
        keepsFree: Int64? = nil
    ) throws(RootError) {
        try self.init(
            root: path, walksComponents: false, sync: sync, rules: rules, keepsFree: keepsFree)
    }

    /// - Parameter walksComponents: whether to resolve paths component by component, as on systems that
    ///   cannot resolve a path beneath a directory in one call.
    package init(
        root path: String, walksComponents: Bool, sync: SyncLevel = .none,
        rules: ContentResponseSettings = ContentResponseSettings(), keepsFree: Int64? = nil
    ) throws(RootError) {
        reader = try FileResourceReader(
            root: path, walksComponents: walksComponents, sync: sync, rules: rules, keepsFree: keepsFree)
        share = reader.share
        commitsWithoutBlocking = share.commitsWithoutBlocking
    }

    /// The reason why a folder cannot be shared.
    public enum RootError: Error, Hashable, Sendable {
        /// The folder does not exist.
        case missing
        /// The path is not a folder.
        case notADirectory
        /// This process may not list the folder or access its members.
        case notReadable
        /// Any other system error.
        case failed(reason: String)

        /// A message for the log and for administrators.
        package var text: String {
            switch self {
            case .missing: "the folder does not exist"
            case .notADirectory: "not a folder"
            case .notReadable: "access denied"
            case .failed(let reason): reason
            }
        }

        init(_ error: SystemError) {
            self =
                switch error.code {
                case .noEntry: .missing
                case .notDirectory: .notADirectory
                case .accessDenied, .notPermitted: .notReadable
                default: .failed(reason: error.description)
                }
        }
    }

    public func lookup(
        _ path: ResourcePath, last: SymlinkMode, wait: Wait
    ) throws(StoreError) -> Lookup {
        try reader.lookup(path, last: last, wait: wait)
    }

    public func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        try reader.open(path, wait: wait)
    }

    public func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        try reader.openMember(path)
    }

    public func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { try reader.read(content, at: offset, into: buffer) }

    /// Closes cached files and folders that were not used since the last call.
    /// - Returns: whether the caller should call this again later.
    public func closeUnusedFiles() -> Bool { reader.closeUnusedFiles() }

    public func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        let (resolution, folder) = try share.resolveForChange(path, last: last, reusing: other, wait: wait)
        return try reader.lookup(at: resolution, in: folder, wait: wait)
    }

    public let commitsWithoutBlocking: Bool

    public var syncsChanges: Bool { !share.sync.isOff }

    public func locationOfFreeName(
        _ path: ResourcePath, reusing other: Lookup?
    ) throws(StoreError) -> Lookup {
        try Lookup(path: path, state: .unmapped, collection: share.folderOfFreeName(path, reusing: other))
    }

    public func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        if ReservedName.occurs(in: path) { throw .forbidden }
        return try FileMemberCursor(path, in: share, sweeper: sweeper)
    }

    public func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent {
        try StagedFile(for: location, expectedLength: expectedLength, replaces: replaces, in: share)
    }

    public func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent {
        try UploadFile(StagedFile(keptFor: location, expectedLength: expectedLength, in: share))
    }

    public func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent {
        if ReservedName.occurs(in: location.path) { throw .forbidden }
        guard let name = ReservedName(stagedName) else { throw .notFound }
        return try UploadFile(StagedFile(kept: name, identity, for: location, in: share))
    }

    public func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) {
        let sweeper = LeftoverSweeper(share, keeping: isKept)
        sweeperIfServing.withLock { $0 = sweeper }
    }

    public func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        let staged = try StagedFile(for: location, expectedLength: nil, replaces: false, in: share)
        return (staged, try staged.copyCurrent())
    }

    public func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        try StagedCopy(newCollectionAt: path, in: share)
    }

    public func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        try stageCopy(
            of: source, in: self, for: destination, includesMembers: includesMembers, filter: filter,
            heightLimit: heightLimit)
    }

    /// Builds a copy of a resource of `origin` in this folder. The filter receives paths in `origin`.
    func stageCopy(
        of source: ResourcePath, in origin: FileResourceStore, for destination: ResourcePath,
        includesMembers: Bool, filter: (any CopyFilter)?, heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        try StagedCopy(
            of: source, in: origin.share, for: destination, includesMembers: includesMembers,
            filter: filter, heightLimit: heightLimit, in: share)
    }

    public func measureHeight(
        of path: ResourcePath, limit: Int
    ) throws(StoreError) -> any HeightMeasurement {
        let parent = try share.openParent(of: path)
        let name = Array(path.name)
        return try storing { () throws(SystemError) -> any HeightMeasurement in
            guard try parent.status(of: name).kind == .directory else { return ZeroHeight() }
            return try TreeHeight(of: try parent.open(name, for: .entries), limit: limit)
        }
    }

    public func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        try DetachedFile(path, in: share)
    }
}
