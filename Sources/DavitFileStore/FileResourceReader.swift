public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// Read access to a folder, for websites and for commands that inspect a share; the read-only part of
/// ``FileResourceStore``.
///
/// It never modifies the folder. In particular, it does not remove leftovers, because some of them may be
/// uploads that only the server of the share knows.
public final class FileResourceReader: ResourceReader {
    let share: SharedFolder
    var kept: OpenFileCache { share.kept }
    let rules: ContentResponseSettings
    /// The absolute path without links; bytes that are not UTF-8 are replaced.
    public var rootPath: String { String(decoding: share.directory.realPath, as: UTF8.self) }
    /// The exact bytes of ``rootPath``.
    public var rootPathBytes: [UInt8] { share.directory.realPath }
    /// The identity of the folder, independent of its name.
    public let rootIdentity: ResourceIdentity

    /// Opens the folder; the reader keeps using it even if it is renamed.
    /// - Parameter rules: determine the header fields of content.
    /// - Throws: ``FileResourceStore/RootError``.
    public convenience init(
        root path: String, rules: ContentResponseSettings = ContentResponseSettings()
    ) throws(FileResourceStore.RootError) {
        try self.init(root: path, walksComponents: false, sync: .none, rules: rules, keepsFree: nil)
    }

    /// - Parameters:
    ///   - walksComponents: whether to resolve paths component by component, as on systems that cannot
    ///     resolve a path beneath a directory in one call.
    ///   - sync: used only by the store that writes to the folder.
    ///   - keepsFree: used only by the store that writes to the folder.
    init(
        root path: String, walksComponents: Bool, sync: SyncLevel, rules: ContentResponseSettings,
        keepsFree: Int64?
    ) throws(FileResourceStore.RootError) {
        self.rules = rules
        do {
            share = SharedFolder(
                directory: try RootDirectory(opening: path, walksComponents: walksComponents), sync: sync,
                keepsFree: keepsFree.flatMap { $0 > 0 ? $0 : nil })
            let status = try share.directory.descriptor.status()
            rootIdentity = ResourceInfo(status, stamp: 0).identity
            // Opening the root has checked the permission to list it; this call checks the permission to
            // access members.
            _ = try share.directory.descriptor.status(of: [UInt8(ascii: ".")])
        } catch {
            throw FileResourceStore.RootError(error)
        }
    }

    /// Returns why the folder cannot be used any more; nil if it can. Blocks.
    ///
    /// The folder must still be what its path leads to: if a volume was unmounted, another folder has taken its
    /// place.
    package func problem() -> String? {
        do throws(SystemError) {
            let status = try share.directory.descriptor.status()
            let current = try RootDirectory(opening: rootPath).descriptor.status()
            if status.identity == current.identity { return nil }
            return "another folder is at \(rootPath); a volume may have been unmounted"
        } catch {
            return "cannot open \(rootPath): \(error.description)"
        }
    }

    public func lookup(
        _ path: ResourcePath, last: SymlinkMode, wait: Wait
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
        guard let file = content as? OpenFile else {
            throw .failed(reason: "content belongs to another store")
        }
        return try file.read(at: offset, into: buffer)
    }
}
