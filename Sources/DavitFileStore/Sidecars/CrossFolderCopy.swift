internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// A copy of content between the share and the sidecar store, when a sidecar is copied to an ordinary name or
/// vice versa.
final class CrossFolderCopy: StagedTree {
    private static let pieceBytes = 1 << 20

    private struct State {
        var destination: ResourcePath
        var replaced: (any DetachedTree)?
        /// The trash location of the replaced resource; nil if it was not moved to the trash.
        var kept: ResourcePath?
    }

    private let source: ResourcePath
    private let store: any ResourceStore
    private let staged: any StagedContent
    private let state: Exclusive<State>
    let path: ResourcePath
    let info: ResourceInfo
    var failures: [(path: ResourcePath, error: StoreError)] { [] }

    /// - Throws: `forbidden` for a collection.
    init(
        of source: ResourcePath, in from: any ResourceStore, for destination: ResourcePath,
        in store: any ResourceStore
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
        state = Exclusive(State(destination: destination))
        self.store = store
        self.path = path
    }

    var destination: ResourcePath {
        get { state.withValue { $0.destination } }
        set {
            state.withValue { state in
                state.destination = newValue
                staged.location = ResourceLocation(newValue)
            }
        }
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
        try state.withValue { state throws(StoreError) in
            if isReplacing { state.replaced = try store.detach(state.destination) }
            do throws(StoreError) { try staged.publish(isReplacing: false) } catch {
                try? state.replaced?.restore()
                state.replaced = nil
                throw error
            }
        }
    }

    func publishOverContent() throws(StoreError) { try staged.publish(isReplacing: true) }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) {
        if try !staged.publish(keepingReplacedAt: trash) { throw .crossVolume }
        state.withValue { $0.kept = trash.location.path }
    }

    func unpublish(isReplacing: Bool) throws(StoreError) {
        try state.withValue { state throws(StoreError) in
            if let kept = state.kept {
                try store.rename(kept, overContent: state.destination)
                state.kept = nil
                return
            }
            try store.removeContent(at: state.destination)
            try state.replaced?.restore()
            state.replaced = nil
        }
    }

    func destroy() {
        state.withValue { state in
            _ = state.replaced?.destroy()
            state.replaced = nil
        }
    }
}
