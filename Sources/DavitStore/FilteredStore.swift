package import DavitHTTP

/// Wraps another store and serves only the names that the rules allow. A lookup reports excluded names as
/// ``Lookup/State/unservable``, like device files, so that request methods need not check names themselves.
///
/// Calls with a path that a lookup has already admitted are forwarded without checks. The extension of a new
/// name is not checked here, because only the change knows whether it creates content or a collection.
package final class FilteredStore: ResourceStore {
    private let store: any ResourceStore
    private let rules: ShareRules

    package init(_ store: any ResourceStore, rules: ShareRules) {
        self.store = store
        self.rules = rules
    }

    package func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        if rules.refuses(in: path) { return Lookup(path: path, state: .unservable) }
        return judged(try store.lookup(path, last: last, wait: wait), as: path, last)
    }

    package func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        if rules.refuses(in: path) { return Lookup(path: path, state: .unservable) }
        return judged(
            try store.lookupForChange(path, last: last, reusing: other, wait: wait), as: path, last)
    }

    /// - Parameter last: `notFollowed` skips the check of the extension, because a link has the kind of its
    ///   target, which the lookup that follows the link has checked.
    private func judged(_ lookup: Lookup, as path: ResourcePath, _ last: SymlinkMode) -> Lookup {
        let isContent = last == .followed && lookup.info?.isCollection == false
        return serves(path, canonical: lookup.path, isContent: isContent)
            ? lookup : Lookup(path: path, state: .unservable)
    }

    /// - Parameter path: must be allowed, except possibly for its extension.
    private func serves(_ path: ResourcePath, canonical: ResourcePath, isContent: Bool) -> Bool {
        if isContent, rules.refuses(content: path.name) { return false }
        if path == canonical { return true }
        return !rules.refuses(in: canonical) && !(isContent && rules.refuses(content: canonical.name))
    }

    package var commitsWithoutBlocking: Bool { store.commitsWithoutBlocking }

    package func locationOfFreeName(_ path: ResourcePath, reusing other: Lookup?) throws(StoreError) -> Lookup
    {
        if rules.refuses(in: path) { throw .wouldBlock }
        return try store.locationOfFreeName(path, reusing: other)
    }

    package func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        if rules.refuses(in: path) { throw .notFound }
        return try judged(store.open(path, wait: wait), as: path)
    }

    package func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        if rules.refuses(in: path) { throw .notFound }
        return try judged(store.openMember(path), as: path)
    }

    private func judged(_ resource: OpenResource, as path: ResourcePath) throws(StoreError) -> OpenResource {
        let canonical = resource.canonicalPath ?? path
        guard serves(path, canonical: canonical, isContent: resource.content != nil) else { throw .notFound }
        return resource
    }

    package func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        FilteredCursor(try store.members(of: path), of: path, rules)
    }

    package func stageContent(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any StagedContent {
        try store.stageContent(for: location, expectedLength: expectedLength)
    }

    package func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent {
        try store.stageUpload(for: location, expectedLength: expectedLength)
    }

    package func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent {
        try store.upload(named: stagedName, identity, for: location)
    }

    package func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) {
        store.keepUploads(where: isKept)
    }

    package func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        try store.stageUpdate(of: location)
    }

    package func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        try store.stageCollection(at: path)
    }

    package func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool {
        try store.refersToSameEntry(a, b)
    }

    package func createCollection(at location: ResourceLocation) throws(StoreError) {
        try store.createCollection(at: location)
    }

    /// Omits names that are not served from the copy.
    package func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool, rules: ShareRules?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        try store.stageCopy(
            of: source, for: destination, includesMembers: includesMembers, rules: rules ?? self.rules,
            heightLimit: heightLimit)
    }

    package func measureHeight(
        of path: ResourcePath, limit: Int
    ) throws(StoreError) -> any HeightMeasurement { try store.measureHeight(of: path, limit: limit) }

    package func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        try store.rename(source, toFree: destination)
    }

    package func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool {
        try store.renameInOneStep(source, toFree: destination)
    }

    package func rename(_ source: ResourceLocation, overContent destination: ResourceLocation)
        throws(StoreError)
    {
        try store.rename(source, overContent: destination)
    }

    package func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        try store.exchange(a, b)
    }

    package func removeContent(at location: ResourceLocation) throws(StoreError) {
        try store.removeContent(at: location)
    }

    package func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        try store.detach(path)
    }

    package func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        try store.removeEmptyCollection(at: path)
    }

    package func setAttributes(
        _ attributes: ResourceAttributes, at path: ResourcePath
    ) throws(StoreError) { try store.setAttributes(attributes, at: path) }

    package func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { try store.read(content, at: offset, into: buffer) }

    package func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        try store.quota(at: path)
    }

    package func room(at path: ResourcePath) throws(StoreError) -> Int64 { try store.room(at: path) }

    package func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        try store.identity(at: path)
    }

    package func removeLeftover(at path: ResourcePath) { store.removeLeftover(at: path) }

    package func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? {
        try store.trashLocation(id, for: location, volume: volume)
    }

    package var trashFolder: ResourcePath? { store.trashFolder }
    package var mountedTrashFolders: [ResourcePath] { store.mountedTrashFolders }

    package func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] {
        try store.trashed(in: folder)
    }

    package func measure(_ path: ResourcePath) throws(StoreError) -> Int64 { try store.measure(path) }
}

/// Iterates over the members that are served and listed.
private final class FilteredCursor: MemberCursor {
    private let cursor: any MemberCursor
    /// The path of the collection.
    private let path: ResourcePath
    private let rules: ShareRules

    init(_ cursor: any MemberCursor, of path: ResourcePath, _ rules: ShareRules) {
        self.cursor = cursor
        self.path = path
        self.rules = rules
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        while try cursor.next(&member) {
            if isListed(member) { return true }
        }
        return false
    }

    private func isListed(_ member: Member) -> Bool {
        let isContent = !member.info.isCollection
        if rules.refuses(member.name, at: path.appending(member.name)) || !rules.lists(member.name) {
            return false
        }
        if isContent, rules.refuses(content: member.name) { return false }
        guard let target = member.canonicalPath else { return true }
        return !rules.refuses(in: target) && !(isContent && rules.refuses(content: target.name))
    }
}
