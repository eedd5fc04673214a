#if Postgres
internal import DavitBlobs
internal import DavitEngine
internal import DavitHTTP
internal import DavitPage
internal import DavitPostgres
internal import DavitServer
internal import DavitSite
internal import DavitStore
internal import DavitSystem
internal import DavitTree
internal import Synchronization

/// A share in a database, for the lifetime of its server.
final class OpenDatabaseShare: LifecycleObserver {
    let handler: any Handler
    private let pool: PostgresPool
    private let threads: BlockingPool
    private let database: TreeDatabase
    private let share: Share
    private let isMaintaining = Atomic<Bool>(false)

    /// Connects to the database, and creates its tables if there are none.
    init(
        _ configuration: WebDAVShare, _ location: SharedDatabase, in environment: ServerEnvironment
    ) throws(ServerError) {
        var settings = PostgresSettings(servers: location.servers)
        // Staging content needs a connection in addition to that of the change.
        settings.connections = max(1, location.connections) + 2
        let log = environment.log
        let report: @Sendable (String) -> Void = { log(.error, "share operation failed", ["reason": $0]) }
        threads = BlockingPool(threads: max(1, location.connections))
        let work = PooledWorkRunner(pool: threads)
        let blobs: any BlobStore
        do throws(BlobError) { blobs = try FolderBlobStore(path: location.blobs) } catch {
            throw .databaseNotUsable(error)
        }
        let servers = PostgresServers(settings)
        let migration = PostgresMigration()
        let identity = PostgresDatabaseIdentity()
        pool = PostgresPool(
            servers,
            prepare: { connection, deadline throws(PostgresError) in
                try migration.attach(connection, until: deadline)
                try identity.check(connection, until: deadline)
            })
        do throws(PostgresError) {
            try migration.run(servers, until: .now + .seconds(60))
            let node = "\(HostName.current ?? "davit"):\(ProcessPrivileges.processID)"
            database = try TreeDatabase(
                pool, share: location.share, blobs: blobs, nodeName: node, report: report)
        } catch {
            throw .databaseNotUsable(reason: error.message)
        }
        do throws(BlobError) { try database.claimBlobs() } catch { throw .databaseNotUsable(error) }
        var shareSettings = configuration.shareConfiguration(in: environment)
        shareSettings.audit = environment.audit.map { ShareAudit($0, folder: location.share) }
        let database = database
        share = Share(
            resources: TreeStore(database, work: work), state: TreeState(database, report: report),
            work: work, sessions: database, configuration: shareSettings,
            now: { database.now }, report: report,
            limitLog: LimitLog { log(.warning, "request refused by a limit", $0.details) })
        var page = configuration.page
        page.title = page.title ?? location.share
        handler = WebDAVHandler(
            share: share, page: page.isEnabled ? BrowserPage(settings: page) : nil, administration: nil)
    }

    /// Removes what is left of removed resources.
    private static let maintenanceLimit = 1_000

    func performMaintenance() -> Bool {
        guard !isMaintaining.exchange(true, ordering: .acquiring) else { return true }
        let isStarted = threads.start { [self] in
            defer { isMaintaining.store(false, ordering: .releasing) }
            // Failures are reported; another node or a later call continues.
            try? database.run {
                _ = try? database.removeDetached(limit: Self.maintenanceLimit)
                share.trashMaintenance.run()
            }
            try? database.run { try? database.collect(limit: Self.maintenanceLimit) }
        }
        if !isStarted { isMaintaining.store(false, ordering: .releasing) }
        // Other nodes must see that this one runs.
        return true
    }

    func serverDidStop() { pool.close() }
}

extension ServerError {
    fileprivate static func databaseNotUsable(_ error: BlobError) -> ServerError {
        let reason =
            switch error {
            case .notFound: "the folder or bucket for content does not exist"
            case .outOfSpace: "the folder or bucket for content is full"
            case .unavailable(let reason), .failed(let reason): reason
            }
        return .databaseNotUsable(reason: reason)
    }
}
#endif
