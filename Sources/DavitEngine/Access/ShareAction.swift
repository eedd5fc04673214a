public import DavitHTTP
internal import DavitStore

/// Something that a client does to a share. Hooks are asked about it before, or told of it afterwards; see ``ShareHooks``.
public struct ShareAction: Sendable {
    /// What can be done to a share.
    public enum Kind: Hashable, Sendable {
        /// GET of content, also of a part of it, and content in the answer to a change (`Prefer: return=representation`).
        /// A folder as an archive is one download, of the folder, whatever is chosen of it.
        case download
        /// PUT, PATCH, POST of a new member, and LOCK of a free name, which makes an empty file.
        case upload
        /// MOVE: of a collection with everything in it, as one action.
        case move
        /// COPY, in the same way.
        case copy
        /// DELETE, in the same way.
        case delete
        /// MKCOL.
        case createCollection
        /// Something comes back from the trash, to ``ShareAction/path``: of a collection with everything in it.
        case restore
        /// Something that is in the trash, and was at ``ShareAction/path``, goes for good.
        case purge
        /// A lock ends in the place of its holder; ``ShareAction/path`` is its root. Hooks are told and not asked where it is
        /// the command `davit locks` that does it.
        case breakLock
    }

    /// What is done.
    public let kind: Kind
    /// What it is done to, as the share sees it: canonical, without links on the way.
    public let path: ResourcePath
    /// The same as the path of a file; bytes that are not UTF-8 are replaced.
    public var filePath: String { locate(path) }
    /// Where it goes, for ``Kind/move`` and ``Kind/copy``.
    public let destination: ResourcePath?
    /// The same as the path of a file.
    public var destinationFilePath: String? { destination.map(locate) }
    /// Whether it is a folder that is moved, copied, deleted, made or downloaded.
    public let isCollection: Bool
    /// Whether something was there before: at the destination, for uploads at ``path``.
    public let isReplacing: Bool
    /// Who asked for it; nil where nobody needs an account.
    public let principal: String?
    /// For an upload that hooks are asked about: all of what the content would be. A change of a part has that part in it.
    public internal(set) var content: UploadedContent?
    private let locate: @Sendable (ResourcePath) -> String
}

extension ShareAction {
    /// What a change does, on the scene that it was checked with.
    init(_ kind: Kind, on scene: Scene, in share: Share) {
        self.kind = kind
        // Who adds a member names the collection, and makes what is its destination.
        let uploaded = scene.destination ?? scene.target
        path = kind == .upload ? uploaded.path : scene.target.path
        locate = share.configuration.filePath
        destination = kind == .upload ? nil : scene.destination?.path
        isCollection =
            kind == .createCollection || (kind != .upload && scene.subject.info?.isCollection == true)
        isReplacing =
            switch kind {
            case .move, .copy: scene.destination?.info != nil
            case .upload: uploaded.info != nil
            case .download, .delete, .createCollection, .restore, .purge, .breakLock: false
            }
        principal = scene.context.principal
    }

    /// What happens to something in the trash.
    init(_ kind: Kind, of entry: TrashEntry, on scene: Scene, in share: Share) {
        self.kind = kind
        path = scene.destination?.path ?? entry.path
        locate = share.configuration.filePath
        destination = nil
        isCollection = entry.isCollection
        isReplacing = scene.destination?.info != nil
        principal = scene.context.principal
    }

    /// The end of a lock, whoever holds it.
    init(breaking lock: Lock, _ isCollection: Bool, by principal: String?, in share: Share) {
        kind = .breakLock
        path = lock.root
        locate = share.configuration.filePath
        destination = nil
        self.isCollection = isCollection
        isReplacing = false
        self.principal = principal
    }

    /// The GET of content at a canonical path.
    init(downloadOf path: ResourcePath, _ context: RequestContext, in share: Share) {
        self.init(downloadOf: path, isCollection: false, principal: context.principal, in: share)
    }

    /// The same, also of a collection in another form.
    init(downloadOf path: ResourcePath, isCollection: Bool, principal: String?, in share: Share) {
        kind = .download
        self.path = path
        locate = share.configuration.filePath
        destination = nil
        self.isCollection = isCollection
        isReplacing = false
        self.principal = principal
    }

    /// Whether it changes the same in the same place.
    func isSame(as other: ShareAction) -> Bool {
        kind == other.kind && path == other.path && destination == other.destination
            && isCollection == other.isCollection && isReplacing == other.isReplacing
    }
}

/// The whole content that an upload makes, before it gets its name. For the hook that is asked about it, and only as long as that
/// runs.
public struct UploadedContent: Sendable {
    /// Bytes of all of it.
    public let length: Int64
    private let share: Share
    private let source: PreparedContent?

    init(_ source: PreparedContent?, in share: Share) {
        self.share = share
        self.source = source
        length = source?.length ?? 0
    }

    /// The bytes from `offset` on, `count` at most, fewer at the end. Large content is read from the disk, on another
    /// thread.
    /// - Throws: ``DavitHTTP/HTTPError`` where it cannot be read; 503 when too much work waits.
    public func bytes(from offset: Int64 = 0, count: Int) async throws(HTTPError) -> [UInt8] {
        let offset = max(offset, 0)
        let wanted = Int(max(min(Int64(count), length - offset), 0))
        if wanted == 0 { return [] }
        do throws(WebDAVError) {
            switch source {
            case nil: return []
            case .buffered(let buffer):
                return unsafe buffer.withBytes { unsafe Array($0[Int(offset)..<Int(offset) + wanted]) }
            case .staged(let staged):
                return try await share.offload { () throws(WebDAVError) in
                    try storing { () throws(StoreError) in try Self.read(wanted, of: staged, from: offset) }
                }
            }
        } catch {
            throw HTTPError(error.status, "the content could not be read")
        }
    }

    private static func read(
        _ count: Int, of staged: any StagedContent, from offset: Int64
    ) throws(StoreError) -> [UInt8] {
        let buffer = IOBuffer(capacity: count)
        while buffer.freeCount > 0 {
            if try staged.read(at: offset + Int64(buffer.count), into: buffer) == 0 { break }
        }
        return unsafe buffer.withBytes { unsafe Array($0) }
    }
}
