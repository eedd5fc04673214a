internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// A copy of content between the share and the sidecar store, when a sidecar is copied to an ordinary name or
/// vice versa.
///
/// `@unchecked`: used by one task at a time, as ``StagedTree`` requires.
final class CrossFolderCopy: StagedTree, @unchecked Sendable {
    private static let pieceBytes = 1 << 20

    private let source: ResourcePath
    var destination: ResourcePath {
        didSet { staged.location = ResourceLocation(destination) }
    }
    private let store: FileResourceStore
    private let staged: any StagedContent
    private var replaced: (any DetachedTree)?
    /// The trash location of the replaced resource; nil if it was not moved to the trash.
    private var kept: ResourcePath?
    let path: ResourcePath
    let info: ResourceInfo
    var failures: [(path: ResourcePath, error: StoreError)] { [] }

    /// - Throws: `forbidden` for a collection.
    init(
        of source: ResourcePath, in from: FileResourceStore, for destination: ResourcePath,
        in store: FileResourceStore
    ) throws(StoreError) {
        guard let content = try from.open(source, wait: .allowed).content else { throw .forbidden }
        let name = ReservedName.random().bytes
        guard let path = destination.parent?.appending(name) else { throw .forbidden }
        staged = try store.stageContent(for: destination, expectedLength: content.file.length)
        let buffer = IOBuffer(capacity: Self.pieceBytes)
        while try Self.read(content.file, at: staged.length, into: buffer) > 0 {
            try staged.write(buffer)
            buffer.removeAll()
        }
        info = try staged.seal(replacing: nil, modified: nil)
        self.source = source
        self.destination = destination
        self.store = store
        self.path = path
    }

    private static func read(
        _ file: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int {
        guard let file = file as? OpenFile else { throw .failed(reason: "content belongs to another store") }
        return try file.read(at: offset, into: buffer)
    }

    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        path == source ? info.identity : nil
    }

    func publish(isReplacing: Bool) throws(StoreError) {
        if isReplacing { replaced = try store.detach(destination) }
        do throws(StoreError) { try staged.publish(isReplacing: false) } catch {
            try? replaced?.restore()
            replaced = nil
            throw error
        }
    }

    func publishOverContent() throws(StoreError) { try staged.publish(isReplacing: true) }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) {
        if try !staged.publish(keepingReplacedAt: trash) { throw .crossVolume }
        kept = trash.location.path
    }

    func unpublish(isReplacing: Bool) throws(StoreError) {
        if let kept {
            try store.rename(kept, overContent: destination)
            self.kept = nil
            return
        }
        try store.removeContent(at: destination)
        try replaced?.restore()
        replaced = nil
    }

    func destroy() {
        _ = replaced?.destroy()
        replaced = nil
    }
}
