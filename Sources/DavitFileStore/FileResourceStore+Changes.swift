public import DavitHTTP
public import DavitStore
internal import DavitSystem

extension FileResourceStore {
    public func createCollection(at location: ResourceLocation) throws(StoreError) {
        if ReservedName.occurs(in: location.path) { throw .forbidden }
        if location.path.isRoot { throw .alreadyExists }
        let folder = try share.folder(of: location)
        try storing(absent: .missingAncestor) { () throws(SystemError) in
            try folder.directory.makeDirectory(location.path.name, mode: 0o777)
        }
        try share.sync.names(in: folder.directory)
    }

    /// Creates a collection that only the user of this process can access, unless there is one.
    /// - Throws: `wrongKind` if something else has the name, and other errors.
    package func createPrivateCollection(at path: ResourcePath) throws(StoreError) {
        let found = try lookup(path, last: .followed, wait: .allowed)
        switch found.state {
        case .mapped(let info): if !info.isCollection { throw .wrongKind }
        case .unservable: throw .wrongKind
        case .missingAncestor: throw .missingAncestor
        case .unmapped:
            let parent = try share.openParent(of: path)
            do throws(SystemError) { try parent.makeDirectory(Array(path.name), mode: 0o700) } catch {
                // Another request of the account has created it in the meantime.
                if error.code != .exists { throw StoreError(error) }
            }
            try share.sync.names(in: parent)
        }
    }

    public func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        try share.identity(at: path)
    }

    public func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        try share.rename(source, toFree: destination)
    }

    /// Renames a resource of `other` to a free name in this folder.
    func rename(
        _ source: ResourcePath, of other: FileResourceStore, toFree destination: ResourcePath
    ) throws(StoreError) { try share.rename(source, of: other.share, toFree: destination) }

    public func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool {
        try renameInOneStep(source, of: self, toFree: destination)
    }

    func renameInOneStep(
        _ source: ResourceLocation, of other: FileResourceStore, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool {
        let from = try other.share.folder(of: source)
        let to = try share.folder(of: destination)
        let (name, newName) = (Array(source.path.name), Array(destination.path.name))
        let isDone = try share.renameInOneStep(name, of: from.directory, toFree: newName, in: to.directory)
        if isDone { other.share.closeFolder(source.path) }
        return isDone
    }

    public func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool {
        let first = try share.openParent(of: a)
        let second = try share.openParent(of: b)
        return try storing { () throws(SystemError) in
            try share.isOneEntry(Array(a.name), of: first, Array(b.name), of: second)
        }
    }

    public func rename(_ source: ResourceLocation, overContent destination: ResourceLocation)
        throws(StoreError)
    {
        try rename(source, of: self, overContent: destination)
    }

    /// Renames content of `other` over content in this folder.
    func rename(
        _ source: ResourceLocation, of other: FileResourceStore, overContent destination: ResourceLocation
    ) throws(StoreError) {
        let from = try other.share.folder(of: source)
        let to = try share.folder(of: destination)
        let (name, newName) = (Array(source.path.name), Array(destination.path.name))
        try storing { () throws(SystemError) in
            try from.directory.rename(name, to: to.directory, as: newName)
            // If both names refer to the same file, rename(2) succeeds without doing anything.
            if let left = try? from.directory.status(of: name),
                let new = try? to.directory.status(of: newName),
                left.identity == new.identity, self !== other || source.path != destination.path
            {
                try share.removeSecondName(name, of: from.directory, beside: newName, of: to.directory)
            }
        }
        kept.forget(destination.path)
        try share.sync.names(to: to.directory, from: from.directory)
    }

    /// Exchanges two resources. On volumes that cannot exchange names, `b` is hidden, then `a` moves to `b`'s
    /// place and `b` to `a`'s. If a crash interrupts this, `b` is still hidden and `a` is either at its old
    /// path or at that of `b`; the recorded intent completes the exchange.
    public func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        try share.exchange(a, b)
    }

    /// Exchanges a resource of this folder with one of `other`.
    func exchange(
        _ a: ResourcePath, with other: FileResourceStore, _ b: ResourcePath
    ) throws(StoreError) { try share.exchange(a, with: other.share, b) }

    public func removeContent(at location: ResourceLocation) throws(StoreError) {
        let folder = try share.folder(of: location)
        let name = location.path.name
        do {
            try folder.directory.unlink(name)
        } catch {
            // POSIX specifies EPERM for a directory, Linux returns EISDIR.
            if error.code == .notPermitted, (try? folder.directory.status(of: name))?.kind == .directory {
                throw .wrongKind
            }
            throw StoreError(error)
        }
        kept.forget(location.path)
        try share.sync.names(in: folder.directory)
    }

    public func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        let parent = try share.openParent(of: path)
        do {
            try parent.removeDirectory(Array(path.name))
        } catch {
            throw error.code == .notDirectory ? .wrongKind : StoreError(error)
        }
        share.closeFolder(path)
        try share.sync.names(in: parent)
    }

    public func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest] {
        guard !info.isCollection, let folder = try? share.folder(of: location) else { return [] }
        return DigestAttribute.read(of: Array(location.path.name), in: folder.directory, of: info)
    }

    public func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        let space = try space(at: path)
        return (max(0, space.available - (share.keepsFree ?? 0)), space.used)
    }

    public func room(at path: ResourcePath) throws(StoreError) -> Int64 {
        try space(at: path).available - (share.keepsFree ?? 0)
    }

    /// Whether the volume of the root folder is mounted read-only. Blocks.
    package func isOnReadOnlyVolume() throws(StoreError) -> Bool {
        try storing { () throws(SystemError) in try share.directory.descriptor.isOnReadOnlyVolume() }
    }

    private func space(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        do {
            return try share.directory.open(path.bytes, for: .base, mayWait: true).space()
        } catch {
            guard error.code == .notDirectory, let parent = path.parent else { throw StoreError(error) }
            return try storing { () throws(SystemError) in
                try share.directory.open(parent.bytes, for: .base, mayWait: true).space()
            }
        }
    }

    public func removeLeftover(at path: ResourcePath) {
        guard let sweeper, let name = ReservedName(path.name), let parent = try? share.openParent(of: path)
        else { return }
        var budget = Int.max
        sweeper.remove(name, in: parent, budget: &budget)
    }
}
