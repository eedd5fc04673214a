internal import DavitEngine
public import DavitFileStore
public import DavitHTTP
public import DavitServer

/// A folder to share over WebDAV, for ``WebServer``.
///
/// ```swift
/// let server = try WebServer { routes in
///     routes.get("/hello") { _ in .text("Hello") }
///     routes.mount("/files", WebDAVShare("/srv/files"))
/// }
/// ```
/// One server can have several; each has a state folder of its own. What another route or mount has below the prefix of a
/// share hides what the share has there.
public struct WebDAVShare: Mountable {
    /// The folder that clients see.
    public var folder: String
    /// The folder for locks and properties, outside of all shares; nil for one below the user's state folder, named after
    /// ``folder``. One server has it at a time.
    public var stateFolder: String?
    /// Answers 403 to every method that could change something.
    public var isReadOnly: Bool
    /// What an answered change survives besides the end of the process: with `full`, locks and properties too.
    public var sync: SyncLevel
    /// Whether clients can ask what has changed since they asked last (RFC 6578). It costs nothing before one does; from
    /// then on a journal of the folder is kept in the state folder, also across restarts.
    public var answersSyncCollection = true

    /// Opens nothing yet.
    public init(
        _ folder: String, stateFolder: String? = nil, isReadOnly: Bool = false, sync: SyncLevel = .none
    ) {
        self.folder = folder
        self.stateFolder = stateFolder
        self.isReadOnly = isReadOnly
        self.sync = sync
    }

    public var announcedFields: HTTPFields { OptionsMethod.complianceFields }

    /// Opens the folder and its state, and finishes what a crash interrupted.
    /// - Throws: ``ServerError``.
    public func handler(in environment: ServerEnvironment) throws -> any Handler {
        let share = try OpenShare(self, in: environment)
        environment.keep(share)
        return share.handler
    }
}
