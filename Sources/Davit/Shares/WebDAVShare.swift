public import DavitEngine
public import DavitFileStore
public import DavitHTTP
public import DavitPage
public import DavitServer
public import DavitStore

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
    /// Bytes of the longest file that may be written; longer ones are 413. Nil for no limit but that of the volume.
    public var maximumFileBytes: Int64?
    /// Levels of folders below ``folder`` that clients may make; deeper ones are 403. What other programs have nested
    /// deeper stays readable, and can be deleted. Values below 1 count as 1.
    public var maximumDepth = 1_000
    /// Bytes of the volume that stay free: clients see as many fewer available, and what would take them is 507.
    public var keptFreeBytes: Int64 = 0
    /// How much is kept of what clients delete and overwrite, and how long; nil for nothing. Without a limit of bytes it gives
    /// way, the oldest first, to what is uploaded.
    public var trash: TrashLimits?
    /// How long an upload over several requests can go on after its last byte has come; then what has come of it goes.
    public var uploadExpiry = Duration.seconds(7 * 86_400)
    /// Which names are served; all, unless you say otherwise.
    public var rules = ShareRules()
    /// Who is asked before a change, and told of what was done.
    public var hooks = ShareHooks()
    /// What a browser is shown for a folder.
    public var page = PageSettings()
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
