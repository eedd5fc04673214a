public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// A share whose sidecars, `._*` and `.DS_Store`, are stored in a separate folder under the same paths.
///
/// Operations on a folder also apply to the sidecars in it. As they are stored separately, a crash, or
/// another program that renames a folder, can separate sidecars from their files;
/// ``expire(before:limitBytes:_:)`` eventually removes such sidecars. Existing sidecars in the share itself
/// are left there and served.
public final class SidecarStore: FolderStore {
    /// The maximum total size of stored sidecars in bytes; the oldest are removed first.
    public static let limitBytes: Int64 = 1 << 30
    /// How long a sidecar is stored after its last write, in seconds: 90 days.
    public static let keptSeconds: Int64 = 90 * 86_400

    let share: any FolderStore
    let sidecarFolder: FileResourceStore

    /// - Parameter sidecarFolder: the store of a folder outside the share that no other program writes to.
    package init(_ share: any FolderStore, sidecarFolder: FileResourceStore) {
        self.share = share
        self.sidecarFolder = sidecarFolder
    }

    /// Returns the file system path of a resource; bytes that are not UTF-8 are replaced. May block.
    package func filePath(_ path: ResourcePath) -> String {
        ((try? store(of: path)) ?? share).filePath(path)
    }

    package func makeWatch() -> FolderWatch { share.makeWatch() }

    public var mountPoints: [ResourcePath] { share.mountPoints }

    // MARK: Location of resources

    enum Home { case share, sidecarFolder }

    /// Returns the store that contains the resource at `path` or, if it does not exist, would contain it.
    /// - Parameter path: canonical.
    func home(of path: ResourcePath) throws(StoreError) -> Home {
        guard let sidecar = MacMetadataName.sidecar(in: path) else { return .share }
        if try sidecarFolder.identity(at: path) != nil { return .sidecarFolder }
        if try share.identity(at: path) != nil { return .share }
        guard sidecar != path, try sidecarFolder.identity(at: sidecar) == nil else { return .sidecarFolder }
        return try share.identity(at: sidecar) == nil ? .sidecarFolder : .share
    }

    func store(of path: ResourcePath) throws(StoreError) -> any FolderStore {
        try home(of: path) == .share ? share : sidecarFolder
    }

    /// Returns the store that contains both ends of a rename.
    /// - Throws: `crossVolume` if they are in different stores.
    func commonHome(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Home {
        let home = try home(of: a)
        guard try self.home(of: b) == home else { throw .crossVolume }
        return home
    }

    /// Returns the path with the links above the sidecar resolved, or nil if the sidecar's parent is not a
    /// collection.
    private func location(
        of path: ResourcePath, below sidecar: ResourcePath, wait: Wait
    ) throws(StoreError) -> ResourcePath? {
        let parent = sidecar.parent ?? .root
        let above = try share.lookup(parent, last: .followed, wait: wait)
        guard above.info?.isCollection == true else { return nil }
        return path.rebased(from: parent, to: above.path)
    }

    // MARK: Lookup

    public func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        guard let sidecar = MacMetadataName.sidecar(in: path) else {
            return try share.lookup(path, last: last, wait: wait)
        }
        guard let location = try location(of: path, below: sidecar, wait: wait) else {
            return Lookup(path: path, state: .missingAncestor)
        }
        let kept = try sidecarFolder.lookup(location, last: last, wait: wait)
        if kept.info != nil { return kept }
        let old = try share.lookup(location, last: last, wait: wait)
        switch old.state {
        case .mapped, .unservable: return old
        case .unmapped where sidecar != path: return old
        case .unmapped, .missingAncestor:
            return sidecar == path ? Lookup(path: location, state: .unmapped) : kept
        }
    }

    public func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        guard MacMetadataName.sidecar(in: path) != nil else {
            return try share.lookupForChange(path, last: last, reusing: other, wait: wait)
        }
        if wait == .never { throw .wouldBlock }
        return try lookup(path, last: last, wait: wait)
    }

    /// Moving or removing a folder also moves or removes its sidecars, so both stores must commit without
    /// blocking.
    public var commitsWithoutBlocking: Bool {
        share.commitsWithoutBlocking && sidecarFolder.commitsWithoutBlocking
    }

    public var syncsChanges: Bool { share.syncsChanges || sidecarFolder.syncsChanges }

    public func locationOfFreeName(
        _ path: ResourcePath, reusing other: Lookup?
    ) throws(StoreError) -> Lookup {
        if MacMetadataName.sidecar(in: path) != nil { throw .wouldBlock }
        return try share.locationOfFreeName(path, reusing: other)
    }

    public func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        guard MacMetadataName.sidecar(in: path) == nil else { return try open(path, wait: .allowed) }
        return try share.openMember(path)
    }

    public func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        guard let sidecar = MacMetadataName.sidecar(in: path) else {
            return try share.open(path, wait: wait)
        }
        guard let location = try location(of: path, below: sidecar, wait: wait) else { throw .notFound }
        let resource: OpenResource
        do throws(StoreError) { resource = try sidecarFolder.open(location, wait: wait) } catch .notFound {
            resource = try share.open(location, wait: wait)
        } catch {
            throw error
        }
        if location == path { return resource }
        guard let content = resource.content else {
            return OpenResource(collection: resource.info, canonicalPath: resource.canonicalPath ?? location)
        }
        return OpenResource(
            resource.info, file: content.file, head: content.head,
            canonicalPath: resource.canonicalPath ?? location)
    }

    public func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        if MacMetadataName.sidecar(in: path) != nil { return try store(of: path).members(of: path) }
        let members = try share.members(of: path)
        guard try sidecarFolder.identity(at: path) != nil else { return members }
        return SidecarCursor(try sidecarFolder.members(of: path), members)
    }

    public func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { try share.read(content, at: offset, into: buffer) }

    public func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool {
        let home = try home(of: a)
        guard try self.home(of: b) == home else { return false }
        return try (home == .share ? share : sidecarFolder).refersToSameEntry(a, b)
    }

    public func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest] {
        guard let home = try? home(of: location.path) else { return [] }
        switch home {
        case .share: return share.recordedDigests(of: info, at: location)
        case .sidecarFolder:
            return sidecarFolder.recordedDigests(of: info, at: ResourceLocation(location.path))
        }
    }

    public func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        guard let sidecar = MacMetadataName.sidecar(in: path) else { return try share.quota(at: path) }
        return try share.quota(at: sidecar.parent ?? .root)
    }

    public func room(at path: ResourcePath) throws(StoreError) -> Int64 {
        guard let sidecar = MacMetadataName.sidecar(in: path) else { return try share.room(at: path) }
        return try share.room(at: sidecar.parent ?? .root)
    }

    public func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        try store(of: path).identity(at: path)
    }

    public func removeLeftover(at path: ResourcePath) {
        share.removeLeftover(at: path)
        sidecarFolder.removeLeftover(at: path)
    }

    // MARK: Trash

    /// Returns nil for sidecars, which are not moved to the trash.
    public func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? {
        guard try home(of: location.path) == .share else { return nil }
        return try share.trashLocation(id, for: location, volume: volume)
    }

    public var trashFolder: ResourcePath? { share.trashFolder }
    public var mountedTrashFolders: [ResourcePath] { share.mountedTrashFolders }

    public func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] {
        try share.trashed(in: folder)
    }

    public func measure(_ path: ResourcePath) throws(StoreError) -> Int64 { try share.measure(path) }

    public func measureHeight(
        of path: ResourcePath, limit: Int
    ) throws(StoreError) -> any HeightMeasurement {
        try (home(of: path) == .share ? share : sidecarFolder).measureHeight(of: path, limit: limit)
    }
}

/// Iterates over the members of a collection: first the sidecars in the separate store, then the members in
/// the share.
private final class SidecarCursor: MemberCursor {
    private let sidecarFolder: any MemberCursor
    private let share: any MemberCursor
    private var seen: Set<[UInt8]> = []

    init(_ sidecarFolder: any MemberCursor, _ share: any MemberCursor) {
        self.sidecarFolder = sidecarFolder
        self.share = share
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        // Other names in the separate store are collections that only exist to contain sidecars.
        while try sidecarFolder.next(&member) {
            if MacMetadataName.isSidecar(member.name) {
                seen.insert(member.name)
                return true
            }
        }
        while try share.next(&member) {
            if !seen.contains(member.name) { return true }
        }
        return false
    }

    var linksLeftOut: [[UInt8]] { share.linksLeftOut }
}
