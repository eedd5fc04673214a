internal import DavitHTTP
internal import DavitStore
internal import DavitSystem
internal import Synchronization

extension SharedFolder {
    /// The open trash folder of a volume.
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

    /// Returns the trash of the volume that contains a resource, creating it if necessary.
    ///
    /// - Parameters:
    ///   - path: the canonical path of the resource.
    ///   - volume: the volume of the resource. A mount point itself is not on its parent's volume and has no
    ///     trash.
    /// - Returns: nil if the parent of the resource is on another volume.
    func trash(for path: ResourcePath, volume: UInt64) throws(StoreError) -> Trash? {
        // The folder may have been removed or replaced by another program.
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
                // Make removed files inaccessible to other users.
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

    /// Tests with two empty folders whether the volume can exchange names; volumes do not report this
    /// capability.
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

    /// Returns the topmost collection of the share on a volume that can be reached upwards from the parent of
    /// a resource without leaving the volume. Nil if the parent is on another volume.
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
