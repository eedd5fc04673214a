public import DavitHTTP

/// Whether a call may wait for disk I/O.
public enum Wait: Sendable {
    /// Return from memory or throw ``StoreError/wouldBlock``; for calls on an event loop.
    case never
    case allowed
}

/// The treatment of a symbolic link in the last segment of a path.
public enum SymlinkMode: Sendable {
    /// Follow the link; for reading and for writing content.
    case followed
    /// Operate on the link itself; for example, for DELETE and MOVE.
    case notFollowed
}

/// The result of resolving a path.
public struct Lookup: Sendable {
    /// The canonical path: without symbolic links, with names as they are stored, and therefore the same for
    /// all spellings of a path. Locks and properties are stored under it. For an unmapped path: the canonical
    /// parent and the requested name.
    @inlinable public var path: ResourcePath { location.path }
    public let state: State
    /// The path and the ``collection``, for the calls of a change.
    public let location: ResourceLocation
    /// The collection that contains or could contain the resource, if the lookup has left it open; see
    /// ``ResourceStore/lookupForChange(_:last:reusing:wait:)``.
    @inlinable public var collection: (any OpenCollection)? { location.collection }

    public enum State: Sendable {
        case mapped(ResourceInfo)
        /// No resource exists, but the parent is a collection, so one can be created.
        case unmapped
        /// Neither the resource nor its parent collection exists: 404 for a read or a DELETE, 409 for other
        /// changes.
        case missingAncestor
        /// The name is taken by something that is not served, such as a device or a link that leads outside
        /// the share: 404 for a read or a DELETE, 403 for other changes.
        case unservable
    }

    public init(path: ResourcePath, state: State, collection: (any OpenCollection)? = nil) {
        self.state = state
        location = ResourceLocation(path, in: collection)
    }

    public var info: ResourceInfo? {
        if case .mapped(let info) = state { return info }
        return nil
    }
}

/// An open resource.
///
/// A class rather than a struct, because files stay open between requests: each copy would retain the file and its
/// header fields, which all event loops use.
public final class OpenResource: Sendable {
    public let info: ResourceInfo
    /// The content with its header fields; nil for a collection.
    public let content: OpenContent?
    /// The path without symbolic links; nil if it equals the requested path.
    public let canonicalPath: ResourcePath?
    /// Whether the resource has a ``PropertyName/contentLanguage``; nil if the store does not know.
    public let hasContentLanguage: Bool?

    public init(collection info: ResourceInfo, canonicalPath: ResourcePath? = nil) {
        self.info = info
        self.canonicalPath = canonicalPath
        content = nil
        hasContentLanguage = nil
    }

    /// - Parameter head: derived from the same `info`.
    public init(
        _ info: ResourceInfo, file: any FileContent, head: ContentHead, canonicalPath: ResourcePath? = nil,
        hasContentLanguage: Bool? = nil
    ) {
        self.info = info
        self.canonicalPath = canonicalPath
        content = OpenContent(file: file, head: head)
        self.hasContentLanguage = hasContentLanguage
    }
}

/// Open content and its header fields.
public struct OpenContent: Sendable {
    public let file: any FileContent
    public let head: ContentHead

    public init(file: any FileContent, head: ContentHead) {
        self.file = file
        self.head = head
    }
}

extension ContentHead {
    /// - Parameter name: the requested name, which determines the media type.
    public convenience init(
        _ info: ResourceInfo, name: some Collection<UInt8>, rules: borrowing ContentResponseSettings
    ) {
        self.init(tag: info.entityTag, modified: info.modified, name: name, rules: rules)
    }
}

/// A member of a collection.
public struct Member: Sendable {
    /// One path segment, as stored.
    public var name: [UInt8]
    public var info: ResourceInfo
    /// If the member is a link, the canonical path of its target.
    public var canonicalPath: ResourcePath?

    public init(name: [UInt8], info: ResourceInfo, canonicalPath: ResourcePath? = nil) {
        self.name = name
        self.info = info
        self.canonicalPath = canonicalPath
    }

    /// Creates an empty member for ``MemberCursor/next(_:)`` to fill.
    public init() {
        self.init(
            name: [],
            info: ResourceInfo(
                kind: .content, length: 0, modified: Timestamp(nanoseconds: 0), created: nil,
                identity: ResourceIdentity(inode: 0, birth: 0), volume: 0, isExecutable: false))
    }
}

/// Iterates over the members of one collection. Used by one task at a time.
public protocol MemberCursor: AnyObject {
    /// Replaces `member` with the next one, in directory order (unsorted), reusing its memory. Returns false
    /// at the end. May block.
    ///
    /// Skips members that are never served (special files, links that lead outside the share, reserved names)
    /// and members that disappear during the iteration.
    func next(_ member: inout Member) throws(StoreError) -> Bool

    /// The names of the links that the cursor has skipped so far. They become members if their targets become
    /// servable later.
    var linksLeftOut: [[UInt8]] { get }
}

extension MemberCursor {
    /// Empty, for stores without links.
    public var linksLeftOut: [[UInt8]] { [] }

    /// Returns the next members; empty at the end.
    /// - Parameter limit: the maximum number of members to return.
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

/// New content that is not yet visible. It is removed if the object is released before the content is
/// published. Calls may block, except with ``Wait/never``.
///
/// Used by one task at a time: calls must not overlap.
public protocol StagedContent: AnyObject, Sendable {
    /// Number of bytes written so far.
    var length: Int64 { get }
    /// Where the content will be published: initially the location for which it was staged; set again if a
    /// later lookup opens the collection again.
    var location: ResourceLocation { get set }
    /// Appends the bytes of `buffer`.
    /// - Throws: `wouldBlock` without having written anything; `outOfSpace` and other errors.
    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError)
    /// Writes the bytes of `buffer` at `offset`, overwriting existing bytes. A gap after the current end
    /// reads as zeros.
    /// - Throws: `outOfSpace` and other errors.
    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError)
    /// Copies all bytes of other staged content of this store to `offset`: inside the kernel if possible,
    /// otherwise through a small buffer.
    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError)
    /// Appends bytes of the content, starting at `offset`, to `buffer` until it is full.
    /// - Returns: the number of bytes appended; 0 at the end.
    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int
    /// Whether written bytes become durable only with ``sync()``; a power loss may remove or corrupt bytes
    /// that were not synced.
    var needsSync: Bool { get }
    /// Makes the written bytes as durable as the store makes published content.
    func sync() throws(StoreError)
    /// Copies the mode, owner, group and extended attributes of the resource to be replaced, as far as
    /// permitted, and sets the modification time to `modified` with a distinct fraction of a second, or to
    /// the current time. No writes are allowed afterwards.
    /// - Returns: the metadata of the content once published, with its final entity tag.
    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo
    /// Stores verified digests with the sealed content, which are published and moved together with it.
    /// - Parameter info: the result of ``seal(replacing:modified:)``.
    /// - Returns: whether ``ResourceStore/recordedDigests(of:at:)`` returns them once the content is published. False by
    ///   default.
    func record(_ digests: [ContentDigest], of info: ResourceInfo) -> Bool
    /// Publishes the sealed content under its name, atomically.
    /// - Throws: ``StoreError/alreadyExists`` if `isReplacing` is false and the name is taken.
    func publish(isReplacing: Bool) throws(StoreError)
    /// Publishes the sealed content under its name and moves the replaced resource to the trash.
    /// - Returns: false if the content was published but the replaced resource was not kept, because it cannot
    ///   be moved to this trash; for example, if the volume supports neither exchanging names nor hard links.
    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) -> Bool
}

extension StagedContent {
    /// Returns false, for stores that do not keep digests.
    public func record(_ digests: [ContentDigest], of info: ResourceInfo) -> Bool { false }
}

/// A copy of a resource, or a new empty collection, built under a reserved name in the destination's
/// collection.
public protocol StagedTree: AnyObject, Sendable {
    /// The current location of the copy: the reserved name.
    var path: ResourcePath { get }
    /// Where the copy will be published: the path for which it was staged, or another name in the same
    /// collection.
    var destination: ResourcePath { get set }
    var info: ResourceInfo { get }
    /// The source paths that could not be copied; for a failed subtree, only its top.
    var failures: [(path: ResourcePath, error: StoreError)] { get }
    /// Returns the identity of the copy of a member, or nil if it was not copied. `path` is the member's path
    /// in the source.
    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity?
    /// Publishes the copy under its destination. With `isReplacing`, the copy and the existing resource are
    /// exchanged atomically.
    func publish(isReplacing: Bool) throws(StoreError)
    /// Publishes a copy of content over existing content, which is removed, atomically.
    func publishOverContent() throws(StoreError)
    /// Publishes the copy under its destination and moves the existing resource to the trash. The copy is
    /// briefly in the trash before the two are exchanged.
    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError)
    /// Reverts the publication: the replaced or trashed resource is restored, and the copy returns to its
    /// reserved name.
    func unpublish(isReplacing: Bool) throws(StoreError)
    /// Removes the resource under the reserved name: the copy, or the resource that it replaced. Traverses
    /// the tree. Also done when the object is released.
    func destroy()
}

/// The resources of one share: names and content. All calls are synchronous and may block, except with
/// ``Wait/never``; a change that may block makes its calls on a blocking thread. Paths are canonical unless a
/// call states otherwise. Stores do not know about locks, properties or preconditions.
public protocol ResourceStore: ResourceReader {
    /// Like ``ResourceReader/lookup(_:last:wait:)``, for callers that are about to change the resource:
    /// leaves the collection open if it is reached without links.
    ///
    /// - Parameters:
    ///   - other: an earlier lookup of the same change; its open collection is reused if it is the same one.
    ///   - wait: with `never`, also throws `wouldBlock` if changing a name or writing a few bytes might have
    ///     to wait for disk I/O.
    func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup

    /// Whether changing a name or writing a few bytes never waits for disk I/O, except on other volumes
    /// mounted inside the share. This is the condition that ``lookupForChange(_:last:reusing:wait:)`` checks
    /// when it must not wait.
    var commitsWithoutBlocking: Bool { get }

    /// Whether changes wait until a disk has stored them. Several changes can wait together.
    var syncsChanges: Bool { get }

    /// Like ``lookupForChange(_:last:reusing:wait:)`` without waiting, for a name that is most likely free.
    /// The name itself is not looked up; if it is taken, the subsequent change throws `alreadyExists`.
    /// - Throws: `wouldBlock`, including when the collection cannot be opened directly, for example because
    ///   of a link in its path.
    func locationOfFreeName(_ path: ResourcePath, reusing other: Lookup?) throws(StoreError) -> Lookup

    /// Creates content for a name, invisible until published.
    /// - Parameter expectedLength: the length of the content, if known. The free space is then checked in
    ///   advance, so that `outOfSpace` and `quotaExceeded` are detected early; no space is reserved.
    /// - Parameter replaces: whether the content is already in memory and is about to replace other content.
    ///   A store can then choose the method that is cheapest for a replacement.
    func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent

    /// Like `stageContent`, for content that outlives the request.
    func stageUpload(for location: ResourceLocation, expectedLength: Int64?) throws(StoreError)
        -> any UploadContent

    /// Reopens content created by ``stageUpload(for:expectedLength:)``.
    /// - Parameter stagedName: its name in the collection of `location`.
    /// - Throws: `notFound` if the content is missing or was replaced; `forbidden` while it is in a trash.
    func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent

    /// Registers the function that determines which hidden names belong to uploads, and permits this store to
    /// remove leftovers in listings, ``removeLeftover(at:)`` and ``trashed(in:)``. Nothing is removed before
    /// this call. Only the server that owns the state of the share may call this method, because no other
    /// process knows its uploads.
    func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool)

    /// Creates new content for an existing resource, initialized with a copy of its content; the copy shares
    /// blocks if the volume supports it. Both can be modified independently.
    /// - Returns: the new content, and the metadata of the content it was copied from.
    /// - Throws: `notFound`, including when the resource is not content; `outOfSpace` and other errors.
    func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo)

    /// - Throws: `alreadyExists`, `missingAncestor`, `forbidden`, `outOfSpace`, `invalidName`, `nameTooLong`.
    func createCollection(at location: ResourceLocation) throws(StoreError)

    /// Creates an empty collection for a free name, invisible until published.
    /// - Throws: the errors that ``createCollection(at:)-(ResourceLocation)`` throws.
    func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree

    /// Builds a copy of `source` in the collection of `destination`; `includesMembers` is false for COPY with
    /// Depth 0. The modification times of the copies are new (RFC 4918 §15.7).
    /// - Parameters:
    ///   - filter: selects the members to copy; nil copies all.
    ///   - heightLimit: the maximum number of levels below the top of the copy.
    /// - Throws: `tooDeep`, leaving nothing behind, and other errors.
    func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree

    /// Begins to measure the number of levels below a canonical path, which may be in the trash. Does not
    /// follow links.
    /// - Parameter limit: the height above which the measurement stops.
    func measureHeight(of path: ResourcePath, limit: Int) throws(StoreError) -> any HeightMeasurement

    /// Whether two names in one collection refer to the same entry, because the volume ignores differences in
    /// spelling. May read the collection.
    func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool

    /// Renames to a free name, or to another spelling of the same name.
    /// - Throws: `alreadyExists`, `crossVolume` and other errors.
    func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError)

    /// Like ``rename(_:toFree:)``, but only if the volume can do it atomically. On other volumes a crash can
    /// leave content under both names, so a ``RenameIntent`` must be recorded first.
    /// - Returns: false, without any change, if the volume cannot rename in one step.
    func renameInOneStep(_ source: ResourceLocation, toFree destination: ResourceLocation) throws(StoreError)
        -> Bool

    /// Renames content over content, atomically.
    func rename(_ source: ResourceLocation, overContent destination: ResourceLocation) throws(StoreError)

    /// Exchanges two resources, atomically if the system supports it.
    func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError)

    /// Removes content, or a link itself.
    func removeContent(at location: ResourceLocation) throws(StoreError)

    /// Hides a resource with all its descendants under a reserved name, atomically.
    func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree

    /// Removes one empty collection.
    /// - Throws: `alreadyExists` if it is not empty.
    func removeEmptyCollection(at path: ResourcePath) throws(StoreError)

    /// Applies all given changes or none.
    /// - Throws: `wrongKind` for the execute bits of a collection; `forbidden` if the process does not own
    ///   the resource.
    func setAttributes(_ attributes: ResourceAttributes, at path: ResourcePath) throws(StoreError)

    /// Returns the digests that ``StagedContent/record(_:of:)`` has stored with content; none if it has changed since, or if
    /// they cannot be read. May block.
    func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest]

    /// Returns the maximum number of bytes that content may still use on the volume of `path` (the space
    /// available to this process minus the reserved free space), and the number of bytes used on the volume.
    func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64)

    /// Returns the number of bytes that content may still use on the volume of `path`, as in ``quota(at:)``;
    /// negative if less space is free than must remain free.
    func room(at path: ResourcePath) throws(StoreError) -> Int64

    /// Returns the identity of the resource at a canonical path, which may be a reserved name, or nil if
    /// there is none. For recovery.
    func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity?

    /// Removes the file under a reserved name if it is a leftover and unused. Never fails; does nothing
    /// before ``keepUploads(where:)``.
    func removeLeftover(at path: ResourcePath)

    /// The paths at which other folders are mounted. These paths, and the collections above them, cannot be moved or
    /// removed. Empty by default.
    var mountPoints: [ResourcePath] { get }

    // MARK: Trash

    /// Returns a location to which a resource can be moved, in the trash of its volume. Creates the trash if
    /// necessary.
    ///
    /// - Parameters:
    ///   - id: a unique id for the entry.
    ///   - location: the current location of the resource.
    ///   - volume: the volume of the resource.
    /// - Returns: nil if no trash is available for the resource.
    func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation?
    /// The trash of the volume that contains the root of the share; nil if the store has no trash.
    var trashFolder: ResourcePath? { get }
    /// The trash folders of the volumes mounted inside the share, empty or not. Cost: linear in the number of
    /// mounts of the machine.
    var mountedTrashFolders: [ResourcePath] { get }
    /// Returns the contents of a trash in no particular order; empty if there is no trash. Also removes
    /// leftovers, if ``keepUploads(where:)`` permits it.
    func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource]
    /// Returns the total length of content at and below a path, which may be in the trash; unreadable
    /// resources count as 0. Traverses the tree.
    func measure(_ path: ResourcePath) throws(StoreError) -> Int64
}

/// Default implementations for stores without a trash, without mounts, and that keep no digests.
extension ResourceStore {
    /// Returns an empty list.
    public func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest] {
        []
    }
    /// Returns false.
    public var syncsChanges: Bool { false }
    /// Returns an empty list.
    public var mountPoints: [ResourcePath] { [] }
    /// Returns nil.
    public func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? { nil }
    /// Returns nil.
    public var trashFolder: ResourcePath? { nil }
    /// Returns an empty list.
    public var mountedTrashFolders: [ResourcePath] { [] }
    /// Returns an empty list.
    public func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] { [] }
    /// Returns 0.
    public func measure(_ path: ResourcePath) throws(StoreError) -> Int64 { 0 }
}

/// An incremental measurement of the height of a tree, which can take a long time. Used by one task at a
/// time.
public protocol HeightMeasurement: AnyObject, Sendable {
    /// Continues for a few milliseconds. May block.
    /// - Returns: the number of levels below the top: 0 without members; a number above the limit if the tree
    ///   is higher than the limit. Nil if more calls are needed.
    func advance() throws(StoreError) -> Int?
}

/// A resource that was hidden by ``ResourceStore/detach(_:)``.
public protocol DetachedTree: AnyObject, Sendable {
    /// Removes the resource with all its descendants, as far as possible. Traverses the tree.
    /// - Returns: the original paths of the resources that could not be removed; empty if all were removed.
    func destroy() -> [(path: ResourcePath, error: StoreError)]
    /// Moves the resource, or the part of it that still exists, back to its original name.
    /// - Throws: `alreadyExists` if that name is no longer free; other errors.
    func restore() throws(StoreError)
}
