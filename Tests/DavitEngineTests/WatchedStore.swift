import DavitHTTP
import DavitStore
import Synchronization

/// A wrapper of a store that reports calls to a test, which can make them fail. Calls are reported before
/// they are made unless noted otherwise.
final class WatchedStore: ForwardingStore {
    enum Call: Sendable, Equatable {
        case members(ResourcePath)
        /// The next member of a collection.
        case nextMember(ResourcePath)
        case stageContent
        case stageUpdate
        case createCollection
        /// Reported before a copy is made, and after it is complete.
        case beginCopy, stageCopy
        case measureHeight
        case rename
        case exchange
        case detach
        case setAttributes
        /// Removal of a file, a link or an empty collection.
        case remove
        /// Removal of a detached tree.
        case destroy
        case quota
        case read
    }

    let base: any ResourceStore
    private let watcher = Mutex<(@Sendable (Call) -> StoreError?)?>(nil)
    /// Whether staged content keeps no digests, like that of a volume without extended attributes.
    let keepsNoDigests = Atomic(false)

    /// The current and the maximum number of open cursors.
    let cursors = CursorCount()

    /// The collections that lookups for changes have left open.
    private let opened = Mutex<[WeakCollection]>([])

    private struct WeakCollection {
        weak var collection: (any OpenCollection)?
    }

    init(_ base: any ResourceStore) { self.base = base }

    /// The number of lookups that have left a collection open, and of those collections that still are.
    var openedCollections: (all: Int, open: Int) {
        opened.withLock { opened in (opened.count, opened.count { $0.collection != nil }) }
    }

    func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        let found = try base.lookupForChange(path, last: last, reusing: other, wait: wait)
        if let collection = found.collection {
            opened.withLock { $0.append(WeakCollection(collection: collection)) }
        }
        return found
    }

    /// - Parameter watcher: Called before each call, on its thread; an error that it returns is thrown by the
    ///   call.
    func watch(_ watcher: @escaping @Sendable (Call) -> StoreError?) {
        self.watcher.withLock { $0 = watcher }
    }

    fileprivate func pass(_ call: Call) throws(StoreError) {
        if let error = watcher.withLock({ $0 })?(call) { throw error }
    }

    func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        try pass(.members(path))
        return CountedCursor(try base.members(of: path), cursors) { () throws(StoreError) in
            try self.pass(.nextMember(path))
        }
    }

    func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent {
        try pass(.stageContent)
        let content = try base.stageContent(
            for: location, expectedLength: expectedLength, replaces: replaces)
        return keepsNoDigests.load(ordering: .relaxed) ? ContentWithoutDigests(content) : content
    }

    func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent {
        try pass(.stageContent)
        return try base.stageUpload(for: location, expectedLength: expectedLength)
    }

    func createCollection(at location: ResourceLocation) throws(StoreError) {
        try pass(.createCollection)
        try base.createCollection(at: location)
    }

    /// Reported after the copy is complete.
    func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        let update = try base.stageUpdate(of: location)
        try pass(.stageUpdate)
        return update
    }

    func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        try pass(.createCollection)
        return try base.stageCollection(at: path)
    }

    func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        try pass(.beginCopy)
        let tree = try base.stageCopy(
            of: source, for: destination, includesMembers: includesMembers, filter: filter,
            heightLimit: heightLimit)
        try pass(.stageCopy)
        return tree
    }

    func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        try pass(.rename)
        try base.rename(source, toFree: destination)
    }

    func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool {
        try pass(.rename)
        return try base.renameInOneStep(source, toFree: destination)
    }

    func rename(_ source: ResourceLocation, overContent destination: ResourceLocation) throws(StoreError) {
        try pass(.rename)
        try base.rename(source, overContent: destination)
    }

    func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        try pass(.exchange)
        try base.exchange(a, b)
    }

    func removeContent(at location: ResourceLocation) throws(StoreError) {
        try pass(.remove)
        try base.removeContent(at: location)
    }

    func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        try pass(.detach)
        return WatchedTree(try base.detach(path), of: path, in: self)
    }

    func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        try pass(.remove)
        try base.removeEmptyCollection(at: path)
    }

    func setAttributes(_ attributes: ResourceAttributes, at path: ResourcePath) throws(StoreError) {
        try pass(.setAttributes)
        try base.setAttributes(attributes, at: path)
    }

    func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int {
        try pass(.read)
        return try base.read(content, at: offset, into: buffer)
    }

    func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest] {
        base.recordedDigests(of: info, at: location)
    }

    func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        try pass(.quota)
        return try base.quota(at: path)
    }

    func measureHeight(of path: ResourcePath, limit: Int) throws(StoreError) -> any HeightMeasurement {
        try pass(.measureHeight)
        return try base.measureHeight(of: path, limit: limit)
    }
}

/// A detached tree that removes nothing if the test makes its removal fail.
private final class WatchedTree: DetachedTree {
    private let tree: any DetachedTree
    private let path: ResourcePath
    private let store: WatchedStore

    init(_ tree: any DetachedTree, of path: ResourcePath, in store: WatchedStore) {
        self.tree = tree
        self.path = path
        self.store = store
    }

    func destroy() -> [(path: ResourcePath, error: StoreError)] {
        do throws(StoreError) { try store.pass(.destroy) } catch {
            return [(path.appending(Array("stays".utf8)) ?? path, error)]
        }
        return tree.destroy()
    }

    func restore() throws(StoreError) { try tree.restore() }
}

/// The current and the maximum number of cursors.
final class CursorCount: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    fileprivate func add(_ number: Int) {
        counts.withLock { counts in
            counts.now += number
            counts.most = max(counts.most, counts.now)
        }
    }
}

private final class CountedCursor: MemberCursor {
    private let cursor: any MemberCursor
    private let count: CursorCount
    private let pass: () throws(StoreError) -> Void

    init(_ cursor: any MemberCursor, _ count: CursorCount, _ pass: @escaping () throws(StoreError) -> Void) {
        self.cursor = cursor
        self.count = count
        self.pass = pass
        count.add(1)
    }

    deinit { count.add(-1) }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        try pass()
        return try cursor.next(&member)
    }
}

/// Content of a volume without extended attributes: does not implement ``StagedContent/record(_:of:)``.
private final class ContentWithoutDigests: StagedContent {
    private let content: any StagedContent

    init(_ content: any StagedContent) { self.content = content }

    var length: Int64 { content.length }
    var location: ResourceLocation {
        get { content.location }
        set { content.location = newValue }
    }
    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError) { try content.write(buffer, wait: wait) }
    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError) {
        try content.write(buffer, at: offset)
    }
    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError) {
        try content.write(contentOf: other, at: offset)
    }
    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        try content.read(at: offset, into: buffer)
    }
    var needsSync: Bool { content.needsSync }
    func sync() throws(StoreError) { try content.sync() }
    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo {
        try content.seal(replacing: old, modified: modified)
    }
    func publish(isReplacing: Bool) throws(StoreError) { try content.publish(isReplacing: isReplacing) }
    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) -> Bool {
        try content.publish(keepingReplacedAt: trash)
    }
}
