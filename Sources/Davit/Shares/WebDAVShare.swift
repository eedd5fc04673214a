public import DavitAccess
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
/// A server can have several shares; each has its own state folder. Routes and mounts below the prefix of a
/// share hide the files at the same paths.
public struct WebDAVShare: Mountable {
    /// The shared folder; empty if the resources are in ``database``.
    public var folder: String
    /// The database with the resources, in place of a folder; nil for a folder. Requires the package trait `Postgres`.
    public var database: SharedDatabase?
    /// Other folders, as parts of this share: they have their own paths in it, and share its state, accounts and settings.
    /// Clients cannot move or remove them. Resources are moved between folders like between volumes. No folder may
    /// contain another one.
    public var mounts: [MountedFolder] = []
    /// The folder that contains the home folders of the accounts, mounted like ``mounts``; nil for none. The home folder of
    /// an account has its name, and is created when it first sends a request. An account may change everything in its
    /// home folder; others need a rule in this folder or below it. Requires an account database.
    public var homes: MountedFolder?
    /// The folder for locks and properties, outside of all shares; nil for one in the user's state folder,
    /// named after ``folder``. Only one server can use it at a time.
    public var stateFolder: String?
    /// Whether changes are rejected with 403.
    public var isReadOnly: Bool
    /// The durability of acknowledged changes, including locks and properties, in a power failure. They
    /// always survive a crash of the process.
    public var sync: SyncLevel
    /// The maximum size of a file in bytes; uploads of larger files are answered with 413. Nil for no limit
    /// except the volume's.
    public var maximumFileBytes: Int64?
    /// The maximum depth of folders that clients can create below ``folder``; requests to create deeper ones
    /// are answered with 403. Deeper folders that other programs have created can be read and deleted. Values
    /// below 1 count as 1.
    public var maximumDepth = 1_000
    /// The number of bytes of the volume to keep free: the available space that clients see is reduced by
    /// this number, and requests that need the reserved space are answered with 507.
    public var keptFreeBytes: Int64 = 0
    /// The limits of the trash for files that clients delete or overwrite; nil for no trash. Without a size
    /// limit, uploads that need the space evict the oldest entries.
    public var trash: TrashLimits?
    /// How long an interrupted upload can be resumed, from the time at which its last data was received; then
    /// its content is deleted.
    public var uploadExpiry = Duration.seconds(7 * 86_400)
    /// The rules for which names are served; by default, all are.
    public var rules = ShareRules()
    /// Hooks that can reject changes or are notified of them.
    public var hooks = ShareHooks()
    /// Examines uploaded content before it is stored; nil to store it unexamined.
    public var uploadProgram: UploadProgram?
    /// Decides what each client may do in this share; nil if the account database in the state folder decides or, without
    /// one, if every client may do everything. Cannot be used with an account database, whose rules would have no effect.
    /// Required if another share of the server has an account database: its rules do not concern this share, and neither do
    /// its app passwords with a limit, which have no rights here. Clients that have not signed in are anonymous.
    public var access: (any AccessPolicy)?
    /// The settings of the browser page.
    public var page = PageSettings()
    /// Whether clients can request changes since a previous request (sync-collection, RFC 6578) and receive
    /// change events. There is no cost until a client does so; then a journal of the folder is kept in the
    /// state folder, across restarts.
    public var answersSyncCollection = true

    /// Whether PROPFIND and SEARCH may include everything below a folder in one request (Depth infinity); otherwise
    /// PROPFIND is answered with 403 and `propfind-finite-depth` (RFC 4918 §9.1), and SEARCH with 409. PROPFIND without
    /// Depth then includes only the members of a folder.
    public var allowsInfiniteDepth = true

    /// Creates the settings of a share. Opens nothing yet.
    public init(
        _ folder: String, stateFolder: String? = nil, isReadOnly: Bool = false, sync: SyncLevel = .none
    ) {
        self.folder = folder
        self.stateFolder = stateFolder
        self.isReadOnly = isReadOnly
        self.sync = sync
    }

    public var announcedFields: HTTPFields { OptionsMethod.complianceFields }

    /// Opens the folder and its state, and completes operations that a crash interrupted.
    /// - Throws: ``ServerError``.
    public func handler(in environment: ServerEnvironment) throws -> any Handler {
        if let database {
            #if Postgres
            let share = try OpenDatabaseShare(self, database, in: environment)
            environment.addLifecycleObserver(share)
            return share.handler
            #else
            throw ServerError.databaseNotUsable(reason: "this build does not include PostgreSQL")
            #endif
        }
        let share = try OpenShare(self, in: environment)
        environment.addLifecycleObserver(share)
        return share.handler
    }
}
