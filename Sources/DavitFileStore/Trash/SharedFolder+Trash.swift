internal import DavitHTTP
internal import DavitStore
internal import DavitSystem
internal import Synchronization

extension SharedFolder {
    /// The trash of a volume, open.
    final class Trash: OpenCollection {
        let path: ResourcePath
        let folder: OpenFolder
        let identity: FileStatus.Identity
        let canExchange: Bool

        init(
            at path: ResourcePath, _ folder: OpenFolder, _ identity: FileStatus.Identity, canExchange: Bool
        ) {
            self.path = path
            self.folder = folder
            self.identity = identity
            self.canExchange = canExchange
        }
    }

    /// The trash of the volume that a resource is on; made if there is none.
    ///
    /// - Parameters:
    ///   - path: of the resource, canonical.
    ///   - volume: of the resource. What is a volume of its own, and no member of one, has no trash.
    /// - Returns: nil if the volume is none of the share's.
    func trash(for path: ResourcePath, volume: UInt64) throws(StoreError) -> Trash? {
        // Somebody may have taken it away, or put another one there.
        let known = trashes.withLock { $0[volume] }
        if let known, known.path.parent?.isRoot == true,
            known.identity == (try? directory.descriptor.status(of: ReservedName.trash.bytes))?.identity
        {
            return known
        }
        guard let root = try volumeRoot(of: path, volume),
            let trashPath = root.appending(ReservedName.trash.bytes)
        else { return nil }
        let base = try openDirectory(root)
        let status = try? base.status(of: ReservedName.trash.bytes)
        if let known, known.path == trashPath, known.identity == status?.identity { return known }
        let trash = try openTrash(at: trashPath, in: base, isThere: status != nil)
        trashes.withLock { $0[volume] = trash }
        return trash
    }

    private func openTrash(
        at path: ResourcePath, in base: borrowing FileDescriptor, isThere: Bool
    ) throws(StoreError) -> Trash {
        let name = ReservedName.trash.bytes
        if !isThere {
            do throws(SystemError) {
                // What was readable to others is not any more.
                try base.makeDirectory(name, mode: 0o700)
            } catch {
                if error.code != .exists { throw StoreError(error) }
            }
            try sync.names(in: base)
        }
        return try storing { () throws(SystemError) in
            let directory = try base.open(name, for: .base)
            let identity = try directory.status().identity
            let canExchange = Self.canExchange(in: directory)
            return Trash(at: path, OpenFolder(directory), identity, canExchange: canExchange)
        }
    }

    /// Tried out, with two empty folders: a volume says so in no other way.
    private static func canExchange(in directory: borrowing FileDescriptor) -> Bool {
        let (one, other) = (ReservedName.random().bytes, ReservedName.random().bytes)
        defer {
            try? directory.removeDirectory(one)
            try? directory.removeDirectory(other)
        }
        do throws(SystemError) {
            try directory.makeDirectory(one, mode: 0o700)
            try directory.makeDirectory(other, mode: 0o700)
            try directory.exchange(one, with: directory, other)
            return true
        } catch {
            return false
        }
    }

    /// The uppermost collection of the share that is on a volume, where that goes without a break up from the collection
    /// of a resource. Nil if that collection is on another one.
    private func volumeRoot(of path: ResourcePath, _ volume: UInt64) throws(StoreError) -> ResourcePath? {
        let own = try storing { () throws(SystemError) in try directory.descriptor.status().volume }
        if volume == own { return .root }
        var root: ResourcePath?
        var next = path.parent
        while let collection = next, !collection.isRoot {
            let status = try storing { () throws(SystemError) in
                try directory.status(at: collection.bytes, acceptsLink: false, mayWait: true)
            }
            guard status.volume == volume else { break }
            root = collection
            next = collection.parent
        }
        return root
    }
}
