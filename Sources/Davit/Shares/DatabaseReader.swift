#if Postgres
internal import DavitBlobs
internal import DavitPostgres
internal import DavitTree

/// Connections to a database that change nothing.
struct DatabaseReader {
    let pool: PostgresPool

    /// - Parameter servers: see ``SharedDatabase/servers``. A connection is opened when it is needed.
    init(servers: [String]) {
        var settings = PostgresSettings(servers: servers)
        settings.applicationName = "davit check"
        settings.connections = 1
        settings.statementTimeout = TreeCheck.statementLimit
        let migration = PostgresMigration()
        let identity = PostgresDatabaseIdentity()
        pool = PostgresPool(
            PostgresServers(settings),
            prepare: { connection, deadline throws(PostgresError) in
                try connection.run(
                    "SELECT set_config('default_transaction_read_only', 'on', false)", until: deadline)
                try migration.attach(connection, until: deadline)
                try identity.check(connection, until: deadline)
            })
    }

    func close() { pool.close() }

    /// Opens a store of content for checks.
    static func blobs(of place: String) throws(BlobError) -> any BlobInventory {
        guard place.hasPrefix("s3://") else { return try FolderBlobStore(path: place, creates: false) }
        #if S3
        return try S3Bucket(place)
        #else
        throw .failed(reason: "this build does not include S3")
        #endif
    }
}
#endif
