package import DavitHTTP

/// A store that wraps another one. Every call that the wrapper does not implement is forwarded, so that it
/// contains only the behavior that it changes.
///
/// `ForwardingStoreTests` verifies that each requirement of ``ResourceStore`` is forwarded, including those
/// with a default implementation.
package protocol ForwardingStore: ResourceStore {
    /// The wrapped store.
    var base: any ResourceStore { get }
}

// MARK: Reading

extension ForwardingStore {
    package func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        try base.lookup(path, last: last, wait: wait)
    }

    package func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        try base.open(path, wait: wait)
    }

    package func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        try base.openMember(path)
    }

    package func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        try base.members(of: path)
    }

    package func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { try base.read(content, at: offset, into: buffer) }

    package func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool {
        try base.refersToSameEntry(a, b)
    }

    package func recordedDigests(of info: ResourceInfo, at location: ResourceLocation) -> [ContentDigest] {
        base.recordedDigests(of: info, at: location)
    }

    package func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        try base.quota(at: path)
    }

    package func room(at path: ResourcePath) throws(StoreError) -> Int64 { try base.room(at: path) }

    package func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        try base.identity(at: path)
    }

    package func measure(_ path: ResourcePath) throws(StoreError) -> Int64 { try base.measure(path) }

    package func measureHeight(
        of path: ResourcePath, limit: Int
    ) throws(StoreError) -> any HeightMeasurement { try base.measureHeight(of: path, limit: limit) }
}

// MARK: Changes

extension ForwardingStore {
    package func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        try base.lookupForChange(path, last: last, reusing: other, wait: wait)
    }

    package var commitsWithoutBlocking: Bool { base.commitsWithoutBlocking }

    package var syncsChanges: Bool { base.syncsChanges }

    package func locationOfFreeName(
        _ path: ResourcePath, reusing other: Lookup?
    ) throws(StoreError) -> Lookup { try base.locationOfFreeName(path, reusing: other) }

    package func createCollection(at location: ResourceLocation) throws(StoreError) {
        try base.createCollection(at: location)
    }

    package func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        try base.rename(source, toFree: destination)
    }

    package func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool { try base.renameInOneStep(source, toFree: destination) }

    package func rename(
        _ source: ResourceLocation, overContent destination: ResourceLocation
    ) throws(StoreError) { try base.rename(source, overContent: destination) }

    package func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        try base.exchange(a, b)
    }

    package func removeContent(at location: ResourceLocation) throws(StoreError) {
        try base.removeContent(at: location)
    }

    package func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        try base.detach(path)
    }

    package func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        try base.removeEmptyCollection(at: path)
    }

    package func setAttributes(
        _ attributes: ResourceAttributes, at path: ResourcePath
    ) throws(StoreError) { try base.setAttributes(attributes, at: path) }
}

// MARK: Staging and uploads

extension ForwardingStore {
    package func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent {
        try base.stageContent(for: location, expectedLength: expectedLength, replaces: replaces)
    }

    package func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        try base.stageUpdate(of: location)
    }

    package func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        try base.stageCollection(at: path)
    }

    package func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        try base.stageCopy(
            of: source, for: destination, includesMembers: includesMembers, filter: filter,
            heightLimit: heightLimit)
    }

    package func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent {
        try base.stageUpload(for: location, expectedLength: expectedLength)
    }

    package func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent {
        try base.upload(named: stagedName, identity, for: location)
    }

    package func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) {
        base.keepUploads(where: isKept)
    }

    package func removeLeftover(at path: ResourcePath) { base.removeLeftover(at: path) }
}

// MARK: Trash and mounts

extension ForwardingStore {
    package var mountPoints: [ResourcePath] { base.mountPoints }

    package func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? {
        try base.trashLocation(id, for: location, volume: volume)
    }

    package var trashFolder: ResourcePath? { base.trashFolder }
    package var mountedTrashFolders: [ResourcePath] { base.mountedTrashFolders }

    package func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] {
        try base.trashed(in: folder)
    }
}
