public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// The trash: a folder under a reserved name at the root of each volume, in which each entry is named by its
/// id. Moving to the trash and restoring are renames.
extension FileResourceStore {
    /// The maximum number of leftovers that one listing of the trash removes.
    private static let leftoverBudget = 4096

    public var trashFolder: ResourcePath? { ResourcePath.root.appending(ReservedName.trash.bytes) }

    public var mountedTrashFolders: [ResourcePath] {
        let root = share.directory.realPath
        return MountTable.points(below: root).compactMap { point in
            let segments = point.dropFirst(root.count).split(separator: UInt8(ascii: "/"))
            return ResourcePath(segments: segments)?.appending(ReservedName.trash.bytes)
        }
    }

    public func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? {
        guard let trash = try share.trash(for: location.path, volume: volume),
            let path = trash.path.appending(Array(id.utf8))
        else { return nil }
        return TrashLocation(ResourceLocation(path, in: trash.folder), canExchange: trash.canExchange)
    }

    public func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] {
        let directory: FileDescriptor
        do {
            directory = try share.directory.open(folder.bytes, for: .entries, mayWait: true)
        } catch {
            if error.code == .noEntry || error.code == .notDirectory { return [] }
            throw StoreError(error)
        }
        var found: [TrashedResource] = []
        var leftovers: [ReservedName] = []
        var block = DirectoryBlock(capacity: 1 << 15)
        do throws(SystemError) {
            while try block.read(from: directory) {
                while block.advance() {
                    let name = block.entry.bytes
                    if let name = ReservedName(name) {
                        leftovers.append(name)
                    } else if let path = folder.appending(name), let status = try? directory.status(of: name)
                    {
                        let info = ResourceInfo(status, stamp: 0)
                        found.append(TrashedResource(location: path, info: info))
                    }
                }
            }
        } catch {
            throw StoreError(error)
        }
        if let sweeper {
            var budget = Self.leftoverBudget
            for name in leftovers { sweeper.remove(name, in: directory, budget: &budget) }
        }
        return found
    }

    public func measure(_ path: ResourcePath) throws(StoreError) -> Int64 {
        let parent = try share.openParent(of: path)
        let name = Array(path.name)
        let status = try storing { () throws(SystemError) in try parent.status(of: name) }
        guard status.kind == .directory else { return status.kind == .regular ? status.length : 0 }
        return try storing { () throws(SystemError) in
            var size = TreeSize()
            try size.add(try parent.open(name, for: .entries))
            return size.bytes
        }
    }
}
