internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// New content under a reserved name, which it keeps until it is published or removed.
final class UploadFile: UploadContent {
    let file: StagedFile
    let stagedName: [UInt8]
    let identity: ResourceIdentity
    let hasOtherName: Bool

    /// - Parameter file: a file that persists between requests.
    init(_ file: StagedFile) throws(StoreError) {
        guard let hidden = file.hidden else { throw .failed(reason: "upload has no hidden name") }
        self.file = file
        stagedName = hidden.name.bytes
        let info = try storing { () throws(SystemError) in
            ResourceInfo(try file.file.status(), stamp: 0)
        }
        (identity, hasOtherName) = (info.identity, info.hasOtherNames)
    }

    var length: Int64 { file.length }

    var location: ResourceLocation {
        get { file.location }
        set { file.location = newValue }
    }

    func checkRoom(for length: Int64) throws(StoreError) {
        try storing { () throws(SystemError) in
            try file.file.checkRoom(for: length, keepingFree: file.share.keepsFree ?? 0)
        }
    }

    func truncate(to length: Int64) throws(StoreError) {
        try file.truncate(to: length)
    }

    var needsSync: Bool { file.needsSync }

    func sync() throws(StoreError) { try file.sync() }

    func remove() throws(StoreError) {
        guard let hidden = file.hidden else { return }
        do {
            try hidden.folder.directory.unlink(hidden.name.bytes)
        } catch {
            // Ignore a file that another process has already removed.
            if error.code != .noEntry { throw StoreError(error) }
        }
    }

    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError) { try file.write(buffer, wait: wait) }

    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError) {
        try file.write(buffer, at: offset)
    }

    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError) {
        try file.write(contentOf: other, at: offset)
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        try file.read(at: offset, into: buffer)
    }

    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo {
        try file.seal(replacing: old, modified: modified)
    }

    func record(_ digests: [ContentDigest], of info: ResourceInfo) -> Bool {
        file.record(digests, of: info)
    }

    func publish(isReplacing: Bool) throws(StoreError) { try file.publish(isReplacing: isReplacing) }

    /// Publishes the content without an exchange of names, for which it would first need a name in the trash.
    /// A crash could leave it there, and the next start would remove it instead of letting the client resume.
    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) -> Bool {
        try file.publish(keepingReplacedAt: TrashLocation(trash.location, canExchange: false))
    }
}
