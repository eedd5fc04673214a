public import DavitHTTP

/// Whether a call may wait for a disk.
public enum Wait: Sendable {
    /// Answer from memory or throw ``StoreError/wouldBlock``: for calls on an event loop.
    case never
    case allowed
}

/// What happens when the last segment of a path is a symbolic link.
public enum LastSegment: Sendable {
    /// Go to where it leads: for reading and for writing content.
    case followed
    /// The link itself is meant: for DELETE and MOVE.
    case itself
}

/// What stands at a path.
public struct Lookup: Sendable {
    /// The path without symbolic links, its names as they are stored; two names of one resource have one canonical
    /// path. Locks and properties are kept under it. Where nothing is mapped: canonical parent and the name as asked.
    public var path: ResourcePath
    public var state: State
    /// The collection in which it is or could be, for the calls of a change; see
    /// ``ResourceStore/lookupForChange(_:last:beside:wait:)``.
    public var collection: (any OpenCollection)?

    public enum State: Sendable {
        case mapped(ResourceInfo)
        /// Nothing there; the parent is a collection, so that something can be created.
        case unmapped
        /// Nothing there, and no collection above it: 409 for a write, 404 for a read.
        case missingAncestor
        /// The name is taken by something that is never served (a device, a link that leads outside):
        /// 404 for a read, 403 for a write.
        case unservable
    }

    public init(path: ResourcePath, state: State, collection: (any OpenCollection)? = nil) {
        self.path = path
        self.state = state
        self.collection = collection
    }

    public var place: Place { Place(path, in: collection) }

    public var info: ResourceInfo? {
        if case .mapped(let info) = state { return info }
        return nil
    }
}

/// An open resource.
public struct OpenResource: Sendable {
    public let info: ResourceInfo
    /// Nil for a collection.
    public let content: OpenContent?
    /// The path without symbolic links; nil if it is the one that was asked for.
    public let canonicalPath: ResourcePath?

    public init(collection info: ResourceInfo, canonicalPath: ResourcePath? = nil) {
        self.info = info
        self.canonicalPath = canonicalPath
        content = nil
    }

    /// - Parameter head: made of the same information.
    public init(
        _ info: ResourceInfo, file: any FileContent, head: ContentHead, canonicalPath: ResourcePath? = nil
    ) {
        self.info = info
        self.canonicalPath = canonicalPath
        content = OpenContent(file: file, head: head)
    }
}

/// Content that can be read, and what is said about it.
public struct OpenContent: Sendable {
    public let file: any FileContent
    public let head: ContentHead

    public init(file: any FileContent, head: ContentHead) {
        self.file = file
        self.head = head
    }
}

extension ContentHead {
    /// - Parameter name: under which it was asked for; the media type follows from it.
    public convenience init(
        _ info: ResourceInfo, name: some Collection<UInt8>, rules: borrowing ContentRules
    ) {
        self.init(tag: info.entityTag, modified: info.modified, name: name, rules: rules)
    }
}

/// A member of a collection.
public struct Member: Sendable {
    /// One segment, as stored.
    public var name: [UInt8]
    public var info: ResourceInfo
    /// Where the member is a link: the canonical path it leads to.
    public var canonicalPath: ResourcePath?

    public init(name: [UInt8], info: ResourceInfo, canonicalPath: ResourcePath? = nil) {
        self.name = name
        self.info = info
        self.canonicalPath = canonicalPath
    }

    /// None yet: what ``MemberCursor/next(_:)`` fills.
    public init() {
        self.init(
            name: [],
            info: ResourceInfo(
                kind: .content, length: 0, modified: Timestamp(nanoseconds: 0), created: nil,
                identity: ResourceIdentity(inode: 0, birth: 0), volume: 0, isExecutable: false))
    }
}

/// Walks the members of one collection. Used by one task at a time.
public protocol MemberCursor: AnyObject {
    /// Makes `member` the next one, in the order of the volume, and reuses its memory; false at the end. May block.
    ///
    /// Members that are never served (special files, links that lead outside, reserved names) are left out;
    /// so are members that disappear meanwhile.
    func next(_ member: inout Member) throws(StoreError) -> Bool

    /// The links that it has met and left out: what they lead to may come to be served, and they are members then.
    var linksLeftOut: [[UInt8]] { get }
}

extension MemberCursor {
    /// None, where there are no links.
    public var linksLeftOut: [[UInt8]] { [] }

    /// The next members; empty at the end.
    /// - Parameter limit: how many at most.
    public func next(limit: Int = 256) throws(StoreError) -> [Member] {
        var members: [Member] = []
        while members.count < limit {
            var member = Member()
            guard try next(&member) else { break }
            members.append(member)
        }
        return members
    }
}

/// New content that is not yet visible. Disappears when the object does, unless published. May block.
///
/// Used by one task at a time; that is what makes conforming classes `Sendable`.
public protocol StagedContent: AnyObject, Sendable {
    /// Bytes written so far.
    var length: Int64 { get }
    /// Where it will be published: as it was staged, until a later look-up has found the collection anew.
    var place: Place { get set }
    /// Appends the bytes of `buffer`.
    /// - Throws: `wouldBlock` with nothing written; `outOfSpace` and the rest.
    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError)
    /// Writes the bytes of `buffer` from `offset` on, over what is there. Behind the end, what is between reads as zeros.
    /// - Throws: `outOfSpace` and the rest.
    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError)
    /// The same for all bytes of other new content of this store, without taking them into memory.
    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError)
    /// Appends bytes of the content from `offset` on to `buffer`, as many as there is room for.
    /// - Returns: how many; 0 at the end.
    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int
    /// Whether what was written counts only after ``sync()``: a loss of power may take or spoil the rest.
    var needsSync: Bool { get }
    /// Makes what is written as durable as the store makes content that is published.
    func sync() throws(StoreError)
    /// Takes over mode and extended attributes of what will be replaced and stamps the modification time:
    /// `modified` with nanoseconds of its own, or now. Nothing may be written afterwards.
    /// - Returns: what the content will be once published, with its final entity tag.
    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo
    /// Gives the sealed content its name, in one step.
    /// - Throws: ``StoreError/alreadyExists`` if `isReplacing` is false and the name is taken.
    func publish(isReplacing: Bool) throws(StoreError)
    /// Gives the sealed content its name; what has that goes into the trash.
    /// - Returns: false, and nothing was kept, where the volume can neither exchange names nor give content two.
    func publish(keepingReplacedAt trash: TrashPlace) throws(StoreError) -> Bool
}

/// A copy of a resource, built under a reserved name beside its destination.
public protocol StagedTree: AnyObject, Sendable {
    /// Where it stands now: the reserved name.
    var path: ResourcePath { get }
    /// Where it will be published: as it was staged, or under another name of that collection.
    var destination: ResourcePath { get set }
    var info: ResourceInfo { get }
    /// What could not be copied: paths of the source, the outermost of each.
    var failures: [(path: ResourcePath, error: StoreError)] { get }
    /// The identity of the copy of a member; `path` is the member's in the source. Nil if it was not copied.
    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity?
    /// Gives it its name. With `isReplacing` it changes places with what is there, in one step.
    func publish(isReplacing: Bool) throws(StoreError)
    /// Gives a copy of content the name of other content, which goes, in one step.
    func publishOverContent() throws(StoreError)
    /// Gives it its name; what has that goes into the trash. The copy stands there for a moment.
    func publish(keepingReplacedAt trash: TrashPlace) throws(StoreError)
    /// Changes places again: what was replaced or is kept is back, and the copy under its reserved name.
    func unpublish(isReplacing: Bool) throws(StoreError)
    /// Removes what is under the reserved name: the copy, or what it replaced. Walks the tree; also done when
    /// the object disappears.
    func destroy()
}

/// The resources of one share: names and content. All calls are synchronous and may block unless they take
/// a ``Wait``; the engine makes one hop for each change and calls several of them there. Paths are canonical
/// unless a call says otherwise. Nothing here knows locks, properties or preconditions.
public protocol ResourceStore: ResourceReader {
    /// As ``ResourceReader/lookup(_:last:wait:)`` for who is about to change what stands there: leaves the collection open, where
    /// it is reached without links.
    ///
    /// - Parameters:
    ///   - other: an earlier look-up of the same change; its collection serves again if it is the same.
    ///   - wait: with `never`, `wouldBlock` also where the change of a name or of a few bytes could have to
    ///     wait for a disk.
    func lookupForChange(
        _ path: ResourcePath, last: LastSegment, beside other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup

    /// Whether the change of a name or of a few bytes never has to wait for a disk here, unless something else is
    /// mounted inside: what ``lookupForChange(_:last:beside:wait:)`` answers without waiting.
    var changesAtOnce: Bool { get }

    /// As ``lookupForChange(_:last:beside:wait:)`` without waiting, for a name that is most likely free: nobody looks
    /// at it, and the change that makes it says `alreadyExists` if it is not.
    /// - Throws: `wouldBlock` also where it takes more than one step to say where the name is.
    func placeOfFreeName(_ path: ResourcePath, beside other: Lookup?) throws(StoreError) -> Lookup

    /// New content for a name, invisible until published.
    /// - Parameter expectedLength: when known, space is asked for in advance; `outOfSpace` and `quotaExceeded` come early.
    func stageContent(for place: Place, expectedLength: Int64?) throws(StoreError) -> any StagedContent

    /// New content that outlives the request, in the same way.
    func stageUpload(for place: Place, expectedLength: Int64?) throws(StoreError) -> any UploadContent

    /// The same content again.
    /// - Parameter stagedName: its name in the collection of `place`.
    /// - Throws: `notFound` if it is not there, or something else is; `forbidden` while it is in a trash.
    func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for place: Place
    ) throws(StoreError) -> any UploadContent

    /// Says which hidden names belong to uploads, whoever has made them, and lets this store remove leftovers: listings,
    /// ``removeLeftover(at:)`` and ``trashed(in:)`` do so from then on. Without it nothing is removed. Only the server that
    /// owns the state of the share may call it, because no other process knows its uploads.
    func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool)

    /// New content for a name that is taken, which begins as a copy of what is there: of shared blocks where the volume can.
    /// Both can be written to without the other.
    /// - Returns: the new content, and what it is a copy of.
    /// - Throws: `notFound` also for what is no content, `outOfSpace` and the rest.
    func stageUpdate(
        of place: Place
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo)

    /// - Throws: `alreadyExists`, `missingAncestor`, `forbidden`, `outOfSpace`, `invalidName`, `nameTooLong`.
    func createCollection(at place: Place) throws(StoreError)

    /// A new collection without members, for a free name, invisible until published.
    /// - Throws: as ``createCollection(at:)-(Place)``.
    func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree

    /// Builds a copy of `source` beside `destination`; `includesMembers` is false for COPY with Depth 0.
    /// Copies have modification times of their own (RFC 4918 §15.7).
    /// - Parameters:
    ///   - rules: which members a copy has; nil for all.
    ///   - heightLimit: levels that the copy may have below its top.
    /// - Throws: `tooDeep` with nothing left behind, and the rest.
    func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool, rules: ShareRules?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree

    /// Begins to measure how many levels there are below a canonical path, which may be in the trash. Links are not
    /// followed.
    /// - Parameter limit: the height up to which it is measured.
    func measureHeight(of path: ResourcePath, limit: Int) throws(StoreError) -> any HeightMeasurement

    /// Whether two names of one collection are one on its volume, which takes several spellings for the same. May read
    /// the collection.
    func isOneName(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool

    /// Renames onto a free name, or onto another spelling of the own one.
    /// - Throws: `alreadyExists`, `crossVolume` and the rest.
    func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError)

    /// The same, but only if the volume can do it in one step. Elsewhere a crash can leave content under both
    /// names, so that an ``Intent`` has to come first.
    /// - Returns: false, and nothing was changed, if it cannot.
    func renameInOneStep(_ source: Place, toFree destination: Place) throws(StoreError) -> Bool

    /// Renames content over content, in one step.
    func rename(_ source: Place, overContent destination: Place) throws(StoreError)

    /// Makes two resources change places, in one step where the system can.
    func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError)

    /// Removes content, or a link itself.
    func removeContent(at place: Place) throws(StoreError)

    /// Hides a resource with all its members under a reserved name, in one step.
    func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree

    /// Removes one empty collection: for a DELETE that goes member by member.
    func removeEmptyCollection(at path: ResourcePath) throws(StoreError)

    /// Changes all that is given, or nothing.
    /// - Throws: `wrongKind` for the execute bits of a collection; `forbidden` to who does not own the resource.
    func setAttributes(_ attributes: ResourceAttributes, at path: ResourcePath) throws(StoreError)

    /// Bytes that content may still take on the volume of `path`, at most: those free for this process, without what is
    /// to stay free. And bytes used on it.
    func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64)

    /// Bytes that content may still take on the volume of `path`, as ``quota(at:)`` has them; negative where less is free
    /// than is to stay free.
    func room(at path: ResourcePath) throws(StoreError) -> Int64

    /// What stands at a canonical path, which may be a reserved name; nil if nothing does. For recovery.
    func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity?

    /// Removes a leftover under a reserved name, if it is one and nobody uses it. Never fails; does nothing before
    /// ``keepUploads(where:)``.
    func removeLeftover(at path: ResourcePath)

    // MARK: Trash

    /// Where in the trash of its volume something can go; the trash is made if there is none.
    ///
    /// - Parameters:
    ///   - id: of an entry that nothing else has.
    ///   - place: where it stands now.
    ///   - volume: of what stands there.
    /// - Returns: nil if there is no trash it can go to.
    func trashPlace(
        _ id: String, for place: Place, volume: UInt64
    ) throws(StoreError) -> TrashPlace?
    /// The trash of the share's own volume; nil if the store has none.
    var trashFolder: ResourcePath? { get }
    /// The same of the volumes that are mounted in the share, whether there is something in them or not. Linear in what is
    /// mounted on the machine.
    var mountedTrashFolders: [ResourcePath] { get }
    /// What stands in a trash, in no order; empty if there is none. Removes leftovers on the way, if this store
    /// may.
    func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource]
    /// Bytes of content at and below a path, which may be in the trash; what cannot be read counts for nothing. Walks.
    func measure(_ path: ResourcePath) throws(StoreError) -> Int64
}

/// For stores without a trash.
extension ResourceStore {
    /// None.
    public func trashPlace(
        _ id: String, for place: Place, volume: UInt64
    ) throws(StoreError) -> TrashPlace? { nil }
    /// None.
    public var trashFolder: ResourcePath? { nil }
    /// None.
    public var mountedTrashFolders: [ResourcePath] { [] }
    /// Nothing.
    public func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] { [] }
    /// Nothing.
    public func measure(_ path: ResourcePath) throws(StoreError) -> Int64 { 0 }
}

/// The measurement of a tree, which can take long. Used by one task at a time; that is what makes conforming classes
/// `Sendable`.
public protocol HeightMeasurement: AnyObject, Sendable {
    /// Continues for some milliseconds. May block.
    /// - Returns: the levels below the top, 0 for what has no members, or any number over the limit as soon as it is
    ///   exceeded; nil if it has to be called again.
    func advance() throws(StoreError) -> Int?
}

/// A resource taken out of sight.
public protocol DetachedTree: AnyObject, Sendable {
    /// Removes it with all its members, as far as that goes. Walks the tree.
    /// - Returns: what could not be removed, as original paths; empty when all is gone.
    func destroy() -> [(path: ResourcePath, error: StoreError)]
    /// Gives what is left of it its old name back, if that is still free.
    func restore() throws(StoreError)
}
