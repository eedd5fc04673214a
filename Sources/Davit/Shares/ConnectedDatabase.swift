#if Postgres
internal import DavitBlobs
internal import DavitPostgres
internal import DavitServer
internal import DavitSite
internal import DavitSystem
internal import DavitTree

/// A share in a database, with connections and threads for it.
struct ConnectedDatabase {
    private let pool: PostgresPool
    let threads: BlockingPool
    let work: PooledWorkRunner
    let tree: TreeDatabase

    /// Connects to the database, and creates its tables if there are none.
    /// - Parameter report: reports failures of the database, as a line for the log.
    init(
        _ location: SharedDatabase, report: @escaping @Sendable (String) -> Void
    ) throws(ServerError) {
        var settings = PostgresSettings(servers: location.servers)
        // Staging content needs a connection in addition to that of the change.
        settings.connections = max(1, location.connections) + 2
        threads = BlockingPool(threads: max(1, location.connections))
        work = PooledWorkRunner(pool: threads)
        let blobs: any BlobStore
        do throws(BlobError) { blobs = try Self.blobs(of: location) } catch {
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
            tree = try TreeDatabase(
                pool, share: location.share, blobs: blobs, nodeName: node, report: report)
        } catch {
            throw .databaseNotUsable(reason: error.message)
        }
        do throws(BlobError) { try tree.claimBlobs() } catch { throw .databaseNotUsable(error) }
    }

    private static func blobs(of location: SharedDatabase) throws(BlobError) -> any BlobStore {
        guard location.isInBucket else { return try FolderBlobStore(path: location.blobs) }
        #if S3
        return try S3BlobStore(
            bucket: location.blobs, cachePath: location.cacheFolder, cacheBytes: location.cacheBytes)
        #else
        throw .failed(reason: "this build does not include S3")
        #endif
    }

    /// Closes the connections.
    func close() { pool.close() }
}

extension ServerError {
    static func databaseNotUsable(_ error: BlobError) -> ServerError {
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
