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
    /// Where the pool connects to.
    let servers: PostgresServers
    let threads: BlockingPool
    let work: PooledWorkRunner
    let tree: TreeDatabase

    /// Connects to the database, and creates its tables if there are none.
    /// - Parameters:
    ///   - blobs: where content is; nil for the place in `location`.
    ///   - report: reports failures of the database, as a line for the log.
    init(
        _ location: SharedDatabase, blobs: (any BlobStore)? = nil,
        report: @escaping @Sendable (String) -> Void
    ) throws(ServerError) {
        var settings = PostgresSettings(servers: location.servers)
        // Staging content needs a connection in addition to that of the change.
        settings.connections = max(1, location.connections) + 2
        let node = "\(HostName.current ?? "davit"):\(ProcessPrivileges.processID)"
        settings.applicationName = "davit \(node)"
        threads = BlockingPool(threads: max(1, location.connections))
        work = PooledWorkRunner(pool: threads)
        let store: any BlobStore
        do throws(BlobError) { store = if let blobs { blobs } else { try Self.blobs(of: location) } } catch {
            throw .databaseNotUsable(error)
        }
        servers = PostgresServers(settings)
        let migration = PostgresMigration()
        let identity = PostgresDatabaseIdentity()
        pool = PostgresPool(
            servers,
            prepare: { connection, deadline throws(PostgresError) in
                try migration.attach(connection, until: deadline)
                try identity.check(connection, until: deadline)
                // Statements of nodes find few rows by an index. Plans are kept, and statistics can be a minute old: the plan
                // for a table that was small would read all of it while it grows. Compiling plans takes longer than they run.
                try connection.run(
                    "SELECT set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false)",
                    until: deadline)
            })
        do throws(PostgresError) {
            try migration.run(servers, until: .now + .seconds(60))
            tree = try TreeDatabase(
                pool, threads: threads, share: location.share, blobs: store, nodeName: node, report: report)
        } catch {
            throw .databaseNotUsable(reason: error.message)
        }
        do throws(BlobError) { try tree.claimBlobs() } catch { throw .databaseNotUsable(error) }
    }

    private static func blobs(of location: SharedDatabase) throws(BlobError) -> any BlobStore {
        guard location.isInBucket else { return try FolderBlobStore(path: location.blobs) }
        #if S3
        return try S3BlobStore.open(
            bucket: location.blobs, cachePath: location.cacheFolder, cacheBytes: location.cacheBytes)
        #else
        throw .failed(reason: "this build does not include S3")
        #endif
    }

    /// Closes the connections.
    func close() {
        tree.stop()
        pool.close()
    }
}

extension ServerError {
    static func databaseNotUsable(_ error: BlobError) -> ServerError {
        let reason =
            switch error {
            case .notFound: "the folder or bucket for content does not exist"
            case .outOfSpace: "the folder or bucket for content is full"
            case .inUse(let process):
                "another process\(process.map { " (\($0))" } ?? "") uses the folder for copies of objects; choose another one "
                    + "with --state-dir"
            case .unavailable(let reason), .failed(let reason): reason
            }
        return .databaseNotUsable(reason: reason)
    }
}
#endif
