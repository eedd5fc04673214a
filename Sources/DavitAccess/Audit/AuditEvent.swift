public import DavitHTTP

/// Something that the audit log records: a change, a refused change, a login, or an administrative action.
public struct AuditEvent: Sendable {
    /// What was done.
    public enum Operation: String, Hashable, Sendable, CaseIterable {
        /// Content was created or replaced: PUT, PATCH, POST, a completed upload, or LOCK of an unmapped URL.
        case upload
        /// MOVE.
        case move
        /// COPY.
        case copy
        /// DELETE.
        case delete
        /// MKCOL.
        case createCollection = "create-folder"
        /// PROPPATCH.
        case setProperties = "set-properties"
        /// LOCK.
        case lock
        /// UNLOCK.
        case unlock
        /// A lock was removed without its token.
        case breakLock = "break-lock"
        /// An incomplete upload was cancelled for administration.
        case cancelUpload = "cancel-upload"
        /// A resource was restored from the trash: from its former path to a destination.
        case restore
        /// A resource in the trash was removed permanently.
        case purge
        /// The first request of an account from an address.
        case login
        /// Wrong credentials.
        case failedLogin = "failed-login"
        /// A change of accounts, groups, rights, app passwords or sessions.
        case administration
    }

    /// What came of it.
    public enum Result: Hashable, Sendable {
        case done
        /// Some members of a collection were not changed.
        case partial
        /// Refused with this status; nothing was changed.
        case refused(HTTPStatus)
        /// The server has ended during the change, which was made or not; not in the audit log.
        case unknown
    }

    /// The members of a collection that is removed.
    public struct Members: Sendable {
        /// The first members, as canonical paths.
        public var paths: [ResourcePath]
        /// The number of members at all levels.
        public var count: Int
        /// False if there are more members than ``count``, because counting stopped at its limit.
        public var isComplete: Bool

        /// Creates a list with these values.
        public init(paths: [ResourcePath] = [], count: Int = 0, isComplete: Bool = true) {
            self.paths = paths
            self.count = count
            self.isComplete = isComplete
        }
    }

    public var operation: Operation
    public var result: Result
    /// The request that caused the event; nil for work of the server or of a command.
    public var request: HTTPRequest?
    /// The name of the client if it is not that of ``request``, such as the name in a failed login. Can contain any text.
    public var principal: String?
    /// Where the event comes from, if there is no request: an address, or a description of a user of the command line.
    public var origin: String?
    /// The folder of the share on the server; nil if the event concerns no share.
    public var share: String?
    /// The resource, as a canonical path in the share.
    public var path: ResourcePath?
    /// The destination of a move, of a copy, or of a restored resource.
    public var destination: ResourcePath?
    /// The length of the new content in bytes.
    public var bytes: Int64?
    /// A digest of the new content that the client sent and the server has verified.
    public var digest: ContentDigest?
    /// The ID of the trash entry that was created, restored or removed.
    public var trashID: String?
    /// The members of a removed collection.
    public var members: Members?
    /// A description of an administrative action, without secrets. Can contain any text.
    public var detail: String?

    /// Creates an event without details.
    public init(_ operation: Operation, _ result: Result = .done, request: HTTPRequest? = nil) {
        self.operation = operation
        self.result = result
        self.request = request
    }
}
