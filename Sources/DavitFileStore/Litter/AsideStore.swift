public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// A share whose sidecars, `._*` and `.DS_Store`, are stored in a separate folder under the same paths.
///
/// Operations on a folder also apply to the sidecars in it. As they are stored separately, a crash, or
/// another program that renames a folder, can separate sidecars from their files;
/// ``expire(before:limitBytes:_:)`` eventually removes such sidecars. Existing sidecars in the share itself
/// are kept and served.
public final class AsideStore: ResourceStore {
    /// The maximum total size of stored sidecars in bytes; the oldest are removed first.
    public static let limitBytes: Int64 = 1 << 30
    /// How long a sidecar is kept after its last write, in seconds: 90 days.
    public static let keptSeconds: Int64 = 90 * 86_400

    let share: FileResourceStore
    let aside: FileResourceStore

    /// - Parameter aside: the store of a folder outside the share that no other program writes to.
    public init(_ share: FileResourceStore, aside: FileResourceStore) {
        self.share = share
        self.aside = aside
    }

    /// Returns the file system path of a resource; bytes that are not UTF-8 are replaced. May block.
    public func filePath(_ path: ResourcePath) -> String {
        let store = ((try? home(of: path)) ?? .share) == .share ? share : aside
        return (store.rootPath == "/" ? "" : store.rootPath) + path.description
    }

    // MARK: Location of resources

    enum Home { case share, aside }

    /// - Parameter path: canonical.
    func home(of path: ResourcePath) throws(StoreError) -> Home {
        guard let companion = LitterName.companion(in: path) else { return .share }
        if try aside.identity(at: path) != nil { return .aside }
        if try share.identity(at: path) != nil { return .share }
        guard companion != path, try aside.identity(at: companion) == nil else { return .aside }
        return try share.identity(at: companion) == nil ? .aside : .share
    }

    func store(of path: ResourcePath) throws(StoreError) -> FileResourceStore {
        try home(of: path) == .share ? share : aside
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
    private func place(
        of path: ResourcePath, below companion: ResourcePath, wait: Wait
    ) throws(StoreError) -> ResourcePath? {
        let parent = companion.parent ?? .root
        let above = try share.lookup(parent, last: .followed, wait: wait)
        guard above.info?.isCollection == true else { return nil }
        return path.rebased(from: parent, to: above.path)
    }

    // MARK: Lookup

    public func lookup(_ path: ResourcePath, last: LastSegment, wait: Wait) throws(StoreError) -> Lookup {
        guard let companion = LitterName.companion(in: path) else {
            return try share.lookup(path, last: last, wait: wait)
        }
        guard let place = try place(of: path, below: companion, wait: wait) else {
            return Lookup(path: path, state: .missingAncestor)
        }
        let kept = try aside.lookup(place, last: last, wait: wait)
        if kept.info != nil { return kept }
        let old = try share.lookup(place, last: last, wait: wait)
        switch old.state {
        case .mapped, .unservable: return old
        case .unmapped where companion != path: return old
        case .unmapped, .missingAncestor:
            return companion == path ? Lookup(path: place, state: .unmapped) : kept
        }
    }

    public func lookupForChange(
        _ path: ResourcePath, last: LastSegment, beside other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        guard LitterName.companion(in: path) != nil else {
            return try share.lookupForChange(path, last: last, beside: other, wait: wait)
        }
        if wait == .never { throw .wouldBlock }
        return try lookup(path, last: last, wait: wait)
    }

    /// Sidecar folders change together with those of the share.
    public var changesAtOnce: Bool { share.changesAtOnce && aside.changesAtOnce }

    public func placeOfFreeName(
        _ path: ResourcePath, beside other: Lookup?
    ) throws(StoreError) -> Lookup {
        if LitterName.companion(in: path) != nil { throw .wouldBlock }
        return try share.placeOfFreeName(path, beside: other)
    }

    public func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        guard LitterName.companion(in: path) == nil else { return try open(path, wait: .allowed) }
        return try share.openMember(path)
    }

    public func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        guard let companion = LitterName.companion(in: path) else {
            return try share.open(path, wait: wait)
        }
        guard let place = try place(of: path, below: companion, wait: wait) else { throw .notFound }
        let resource: OpenResource
        do throws(StoreError) { resource = try aside.open(place, wait: wait) } catch .notFound {
            resource = try share.open(place, wait: wait)
        } catch {
            throw error
        }
        if place == path { return resource }
        guard let content = resource.content else {
            return OpenResource(collection: resource.info, canonicalPath: resource.canonicalPath ?? place)
        }
        return OpenResource(
            resource.info, file: content.file, head: content.head,
            canonicalPath: resource.canonicalPath ?? place)
    }

    public func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        if LitterName.companion(in: path) != nil { return try store(of: path).members(of: path) }
        let members = try share.members(of: path)
        guard try aside.identity(at: path) != nil else { return members }
        return CompanionCursor(try aside.members(of: path), members)
    }

    public func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { try share.read(content, at: offset, into: buffer) }

    public func isOneName(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool {
        let home = try home(of: a)
        guard try self.home(of: b) == home else { return false }
        return try (home == .share ? share : aside).isOneName(a, b)
    }

    public func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        guard let companion = LitterName.companion(in: path) else { return try share.quota(at: path) }
        return try share.quota(at: companion.parent ?? .root)
    }

    public func room(at path: ResourcePath) throws(StoreError) -> Int64 {
        guard let companion = LitterName.companion(in: path) else { return try share.room(at: path) }
        return try share.room(at: companion.parent ?? .root)
    }

    public func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        try store(of: path).identity(at: path)
    }

    public func removeLeftover(at path: ResourcePath) {
        share.removeLeftover(at: path)
        aside.removeLeftover(at: path)
    }

    // MARK: Trash

    /// Returns nil for sidecars, which are not moved to the trash.
    public func trashPlace(
        _ id: String, for place: Place, volume: UInt64
    ) throws(StoreError) -> TrashPlace? {
        guard try home(of: place.path) == .share else { return nil }
        return try share.trashPlace(id, for: place, volume: volume)
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
        try (home(of: path) == .share ? share : aside).measureHeight(of: path, limit: limit)
    }
}

/// Iterates over the members of a collection: first the sidecars in the separate store, then the members in
/// the share.
private final class CompanionCursor: MemberCursor {
    private let aside: any MemberCursor
    private let share: any MemberCursor
    private var seen: Set<[UInt8]> = []

    init(_ aside: any MemberCursor, _ share: any MemberCursor) {
        self.aside = aside
        self.share = share
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        // Other names in the separate store are collections that only exist to contain sidecars.
        while try aside.next(&member) {
            if LitterName.isCompanion(member.name) {
                seen.insert(member.name)
                return true
            }
        }
        while try share.next(&member) {
            if !seen.contains(member.name) { return true }
        }
        return false
    }
}
