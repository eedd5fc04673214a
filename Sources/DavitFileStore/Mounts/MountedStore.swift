package import DavitHTTP
package import DavitStore

/// Several folders as one tree: a root folder, and folders that are mounted in it.
///
/// A mounted folder hides what the root folder contains under the same path. Its mount point need not exist there. A
/// mount point cannot be moved or removed, and neither can the folders above it.
///
/// Every folder has a trash of its own. Resources are moved between folders like between volumes.
package final class MountedStore: FolderStore {
    /// Deeper mount points first, the root folder last.
    let parts: [MountedPart]
    private let root: MountedPart
    package let mountPoints: [ResourcePath]

    /// - Parameter mounts: the mounted folders, with distinct paths other than the root.
    package init(_ root: FileResourceStore, mounts: [(path: ResourcePath, store: FileResourceStore)]) {
        self.root = MountedPart(root, at: .root)
        let mounted = mounts.map { MountedPart($0.store, at: $0.path) }
        parts = mounted.sorted { $0.path.depth > $1.path.depth } + [self.root]
        mountPoints = mounts.map(\.path)
    }

    // MARK: Folders

    /// Whether a path can be a mount point: neither the root nor a name that the stores use themselves.
    package static func canMount(at path: ResourcePath) -> Bool {
        !path.isRoot && !ReservedName.occurs(in: path)
    }

    /// Returns the folder that contains the resource at `path`. Takes time linear in the number of folders.
    func part(of path: ResourcePath) -> MountedPart {
        let key = path.equivalenceKey
        return parts.first { $0.key.contains(key) } ?? root
    }

    /// Whether folders are mounted at or below a path.
    func hasMountPoint(in path: ResourcePath) -> Bool {
        let key = path.equivalenceKey
        return parts.contains { $0 !== root && key.contains($0.key) }
    }

    /// - Throws: `forbidden` if folders are mounted at or below a path that is to be moved or removed.
    func checkMovable(_ path: ResourcePath) throws(StoreError) {
        if hasMountPoint(in: path) { throw .forbidden }
    }

    package func filePath(_ path: ResourcePath) -> String {
        let part = part(of: path)
        return part.store.filePath(part.local(path))
    }

    package func makeWatch() -> FolderWatch {
        FolderWatch(roots: parts.map { $0.store.rootPathBytes }) { (path) throws(StoreError) in
            let part = self.part(of: path)
            return try part.store.share.openDirectory(part.local(path))
        }
    }

    // MARK: Reading

    package func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        let part = part(of: path)
        let found = part.outer(try part.store.lookup(part.local(path), last: last, wait: wait))
        if found.path == path { return found }
        return try following(found, in: part) { (part, path) throws(StoreError) in
            try part.store.lookup(path, last: last, wait: wait)
        }
    }

    /// Returns the result of a lookup. If a link, or another spelling of a name, leads to a path that a mounted folder
    /// hides, looks this path up in that folder.
    private func following(
        _ found: Lookup, in part: MountedPart,
        _ lookup: (MountedPart, ResourcePath) throws(StoreError) -> Lookup
    ) throws(StoreError) -> Lookup {
        var (found, part) = (found, part)
        // Each step leads to a deeper folder.
        for _ in parts {
            let owner = self.part(of: found.path)
            if owner === part { return found }
            part = owner
            found = owner.outer(try lookup(owner, owner.local(found.path)))
        }
        throw .loop
    }

    package func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        let part = part(of: path)
        let found = part.outer(
            try part.store.lookupForChange(
                part.local(path), last: last, reusing: reusable(other, in: part), wait: wait))
        return try following(found, in: part) { (part, path) throws(StoreError) in
            try part.store.lookupForChange(path, last: last, reusing: nil, wait: wait)
        }
    }

    /// Returns an earlier lookup for use in a folder; nil if it was made in another one.
    private func reusable(_ lookup: Lookup?, in part: MountedPart) -> Lookup? {
        guard let lookup, self.part(of: lookup.path) === part else { return nil }
        return Lookup(path: part.local(lookup.path), state: lookup.state, collection: lookup.collection)
    }

    package var commitsWithoutBlocking: Bool { parts.allSatisfy { $0.store.commitsWithoutBlocking } }

    package var syncsChanges: Bool { parts.contains { $0.store.syncsChanges } }

    package func locationOfFreeName(
        _ path: ResourcePath, reusing other: Lookup?
    ) throws(StoreError) -> Lookup {
        let part = part(of: path)
        return part.outer(
            try part.store.locationOfFreeName(part.local(path), reusing: reusable(other, in: part)))
    }

    package func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        try opened(path) { (part, path) throws(StoreError) in try part.store.open(path, wait: wait) }
    }

    package func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        try opened(path) { (part, path) throws(StoreError) in try part.store.openMember(path) }
    }

    private func opened(
        _ path: ResourcePath, _ open: (MountedPart, ResourcePath) throws(StoreError) -> OpenResource
    ) throws(StoreError) -> OpenResource {
        var canonical = path
        for _ in parts {
            let part = part(of: canonical)
            let resource = try open(part, part.local(canonical))
            canonical = part.outer(resource.canonicalPath ?? part.local(canonical))
            guard self.part(of: canonical) === part else { continue }
            let link = canonical == path ? nil : canonical
            guard let content = resource.content else {
                return OpenResource(collection: resource.info, canonicalPath: link)
            }
            return OpenResource(
                resource.info, file: content.file, head: content.head, canonicalPath: link)
        }
        throw .loop
    }

    package func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        let part = part(of: path)
        let key = path.equivalenceKey
        let mounted = parts.filter { $0 !== root && $0.key.parent == key }
        return MountedCursor(try part.store.members(of: part.local(path)), of: part, mounted, in: self)
    }

    package func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { try root.store.read(content, at: offset, into: buffer) }

    package func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool {
        let part = part(of: a)
        guard self.part(of: b) === part else { return false }
        return try part.store.refersToSameEntry(part.local(a), part.local(b))
    }

    package func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest] {
        let part = part(of: location.path)
        return part.store.recordedDigests(of: info, at: part.local(location))
    }

    package func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        let part = part(of: path)
        return try part.store.quota(at: part.local(path))
    }

    package func room(at path: ResourcePath) throws(StoreError) -> Int64 {
        let part = part(of: path)
        return try part.store.room(at: part.local(path))
    }

    package func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        let part = part(of: path)
        return try part.store.identity(at: part.local(path))
    }

    package func measure(_ path: ResourcePath) throws(StoreError) -> Int64 {
        let part = part(of: path)
        return try part.store.measure(part.local(path))
    }

    package func measureHeight(
        of path: ResourcePath, limit: Int
    ) throws(StoreError) -> any HeightMeasurement {
        let part = part(of: path)
        return try part.store.measureHeight(of: part.local(path), limit: limit)
    }

    // MARK: Trash

    package func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? {
        let part = part(of: location.path)
        guard let trash = try part.store.trashLocation(id, for: part.local(location), volume: volume) else {
            return nil
        }
        return TrashLocation(part.outer(trash.location), canExchange: trash.canExchange)
    }

    package var trashFolder: ResourcePath? { root.store.trashFolder }

    package var mountedTrashFolders: [ResourcePath] {
        parts.flatMap { part in
            let own = part === root ? [] : [part.store.trashFolder].compactMap { $0 }
            return (own + part.store.mountedTrashFolders).map { part.outer($0) }
        }
    }

    package func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] {
        let part = part(of: folder)
        return try part.store.trashed(in: part.local(folder)).map {
            TrashedResource(location: part.outer($0.location), info: $0.info)
        }
    }
}
