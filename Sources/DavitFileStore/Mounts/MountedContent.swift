internal import DavitHTTP
internal import DavitStore

/// Staged content of one of the folders of a ``MountedStore``.
protocol MountedContent: StagedContent {
    /// The content, as the store of the folder has created it.
    var content: any StagedContent { get }
    var part: MountedPart { get }
}

extension MountedContent {
    var length: Int64 { content.length }

    var location: ResourceLocation {
        get { part.outer(content.location) }
        set { content.location = part.local(newValue) }
    }

    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError) { try content.write(buffer, wait: wait) }

    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError) {
        try content.write(buffer, at: offset)
    }

    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError) {
        try content.write(contentOf: (other as? any MountedContent)?.content ?? other, at: offset)
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        try content.read(at: offset, into: buffer)
    }

    var needsSync: Bool { content.needsSync }
    func sync() throws(StoreError) { try content.sync() }

    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo {
        try content.seal(replacing: old, modified: modified)
    }

    func record(_ digests: [ContentDigest], of info: ResourceInfo) -> Bool {
        content.record(digests, of: info)
    }

    func publish(isReplacing: Bool) throws(StoreError) { try content.publish(isReplacing: isReplacing) }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) -> Bool {
        try content.publish(keepingReplacedAt: part.local(trash))
    }
}

/// Content that one request writes.
final class MountedStagedContent: MountedContent {
    let content: any StagedContent
    let part: MountedPart

    init(_ content: any StagedContent, in part: MountedPart) {
        self.content = content
        self.part = part
    }
}

/// The content of an upload, which several requests write.
final class MountedUpload: MountedContent, UploadContent {
    private let upload: any UploadContent
    let part: MountedPart

    init(_ upload: any UploadContent, in part: MountedPart) {
        self.upload = upload
        self.part = part
    }

    var content: any StagedContent { upload }
    var stagedName: [UInt8] { upload.stagedName }
    var identity: ResourceIdentity { upload.identity }
    func checkRoom(for length: Int64) throws(StoreError) { try upload.checkRoom(for: length) }
    func truncate(to length: Int64) throws(StoreError) { try upload.truncate(to: length) }
    var hasOtherName: Bool { upload.hasOtherName }
    func remove() throws(StoreError) { try upload.remove() }
}
