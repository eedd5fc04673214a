public import DavitHTTP
internal import DavitStore

/// An action of a client on a share. Hooks can refuse it beforehand, unless it is a download, and are notified
/// if it succeeds; see ``ShareHooks``.
public struct ShareAction: Sendable {
    /// The kinds of actions on a share.
    public enum Kind: Hashable, Sendable {
        /// GET of content or of a range of it, and content in the response to a change (`Prefer:
        /// return=representation`). Downloading a collection as an archive is one download of the collection,
        /// whichever members are selected.
        case download
        /// PUT, PATCH, POST of a new member, and LOCK of an unmapped URL, which creates an empty file.
        case upload
        /// MOVE; moving a collection with its members is one action.
        case move
        /// COPY; copying a collection with its members is one action.
        case copy
        /// DELETE; deleting a collection with its members is one action.
        case delete
        /// MKCOL.
        case createCollection
        /// Restores a resource from the trash to ``ShareAction/path``; a collection is restored with its
        /// members.
        case restore
        /// Permanently deletes a resource in the trash that was deleted from ``ShareAction/path``.
        case purge
        /// Ends a lock without its token, regardless of its owner; ``ShareAction/path`` is the root of the
        /// lock. If the command `davit locks` ends the lock, hooks are notified but cannot refuse.
        case breakLock
    }

    /// The kind of the action.
    public let kind: Kind
    /// The affected resource, as a canonical path in the share. Contains no symbolic links, except that a MOVE or
    /// DELETE of a link affects the link itself.
    public let path: ResourcePath
    /// ``path`` as a file system path; bytes that are not UTF-8 are replaced.
    public var filePath: String { locate(path) }
    /// The destination of ``Kind/move`` and ``Kind/copy``.
    public let destination: ResourcePath?
    /// ``destination`` as a file system path.
    public var destinationFilePath: String? { destination.map(locate) }
    /// Whether the affected resource is a collection; false for uploads.
    public let isCollection: Bool
    /// Whether the action replaces an existing resource: at ``destination`` or, for uploads and restored resources,
    /// at ``path``.
    public let isReplacing: Bool
    /// The account of the client; nil without authentication.
    public let principal: String?
    /// The complete content of an upload, for ``ShareHooks/allows``; nil otherwise. For a partial update this
    /// is the content after the update.
    public internal(set) var content: UploadedContent?
    let locate: @Sendable (ResourcePath) -> String
}

extension ShareAction {
    /// Describes the breaking of a lock.
    init(
        breaking lock: Lock, _ isCollection: Bool, by principal: String?,
        locatedBy locate: @escaping @Sendable (ResourcePath) -> String
    ) {
        kind = .breakLock
        path = lock.root
        self.locate = locate
        destination = nil
        self.isCollection = isCollection
        isReplacing = false
        self.principal = principal
    }

    /// Describes the download of content, or of a collection as an archive.
    /// - Parameter path: a canonical path.
    init(
        downloadOf path: ResourcePath, isCollection: Bool = false, principal: String?,
        locatedBy locate: @escaping @Sendable (ResourcePath) -> String
    ) {
        kind = .download
        self.path = path
        self.locate = locate
        destination = nil
        self.isCollection = isCollection
        isReplacing = false
        self.principal = principal
    }

    /// Whether both actions make the same change to the same resources.
    func isSame(as other: ShareAction) -> Bool {
        kind == other.kind && path == other.path && destination == other.destination
            && isCollection == other.isCollection && isReplacing == other.isReplacing
    }
}

/// The complete content of an upload that is not yet visible to clients. Valid only while
/// ``ShareHooks/allows`` runs.
public struct UploadedContent: Sendable {
    /// The length of the content in bytes.
    public let length: Int64
    private let work: BlockingWork
    private let source: PreparedContent?

    init(_ source: PreparedContent?, _ work: BlockingWork) {
        self.work = work
        self.source = source
        length = source?.length ?? 0
    }

    /// Returns up to `count` bytes starting at `offset`; fewer at the end of the content. Large content is
    /// read from disk on another thread.
    /// - Throws: ``DavitHTTP/HTTPError`` if the content cannot be read; 503 if too much work is waiting.
    public func bytes(from offset: Int64 = 0, count: Int) async throws(HTTPError) -> [UInt8] {
        guard let source else { return [] }
        do throws(WebDAVError) {
            if case .buffered = source {
                return try storing { () throws(StoreError) in try source.bytes(from: offset, count: count) }
            }
            return try await work.run { () throws(WebDAVError) in
                try storing { () throws(StoreError) in try source.bytes(from: offset, count: count) }
            }
        } catch {
            throw HTTPError(error.status, "The content could not be read.")
        }
    }
}
