public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// Read access to a folder: what ``FileResourceStore`` serves, for websites and for commands that look at a share.
///
/// It changes nothing in the folder. In particular it removes no leftovers: some of them are uploads, which only the server
/// of the share knows.
public final class FileResourceReader: ResourceReader {
    let share: SharedFolder
    var kept: KeptFiles { share.kept }
    let rules: ContentRules
    /// Nil where no file may be kept open.
    let keptVolume: UInt64?
    /// Absolute and without links; bytes that are not UTF-8 are replaced.
    public var rootPath: String { String(decoding: share.directory.realPath, as: UTF8.self) }
    /// As ``rootPath``, byte for byte.
    public var rootPathBytes: [UInt8] { share.directory.realPath }
    /// Which folder it is, whatever it is called.
    public let rootIdentity: ResourceIdentity

    /// Opens the folder; it stays the same one even if it is renamed.
    /// - Parameter rules: what is said about content.
    /// - Throws: ``FileResourceStore/RootError``, before anything is served.
    public convenience init(
        root path: String, rules: ContentRules = ContentRules()
    ) throws(FileResourceStore.RootError) {
        try self.init(root: path, walksComponents: false, sync: .none, rules: rules, keepsFree: nil)
    }

    /// - Parameters:
    ///   - walksComponents: as on a system that cannot resolve a path beneath a directory in one call.
    ///   - sync: for the store that writes to the folder, as `keepsFree`.
    init(
        root path: String, walksComponents: Bool, sync: SyncLevel, rules: ContentRules, keepsFree: Int64?
    ) throws(FileResourceStore.RootError) {
        self.rules = rules
        do {
            share = SharedFolder(
                directory: try RootDirectory(opening: path, walksComponents: walksComponents), sync: sync,
                keepsFree: keepsFree.flatMap { $0 > 0 ? $0 : nil })
            let status = try share.directory.descriptor.status()
            rootIdentity = ResourceInfo(status, stamp: 0).identity
            keptVolume = share.directory.canKeepOpenFiles ? status.volume : nil
            // Entries can be read, or it had not opened; this asks for the permission to look at members.
            _ = try share.directory.descriptor.status(of: [UInt8(ascii: ".")])
        } catch {
            throw FileResourceStore.RootError(error)
        }
    }

    public func lookup(
        _ path: ResourcePath, last: LastSegment, wait: Wait
    ) throws(StoreError) -> Lookup {
        try lookup(at: share.resolve(path, last: last, wait: wait), in: nil, wait: wait)
    }

    func lookup(
        at resolution: Resolution, in folder: OpenFolder?, wait: Wait
    ) throws(StoreError) -> Lookup {
        switch resolution {
        case .found(let canonical, let status):
            let info = try share.info(status, at: canonical, wait: wait)
            return Lookup(path: canonical, state: .mapped(info), collection: folder)
        case .unmapped(let canonical):
            return Lookup(path: canonical, state: .unmapped, collection: folder)
        case .missingAncestor(let path): return Lookup(path: path, state: .missingAncestor)
        case .unservable(let path): return Lookup(path: path, state: .unservable)
        }
    }

    public func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        if ReservedName.occurs(in: path) { throw .forbidden }
        return try FileMemberCursor(path, in: share)
    }

    public func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int {
        guard let file = content as? OpenFile else { throw .failed(reason: "content of another store") }
        return try file.read(at: offset, into: buffer)
    }
}
