internal import DavitSystem
#if Postgres
internal import DavitPostgres
#endif

/// A PostgreSQL database with the resources of shares, which several servers can use at the same time.
public struct SharedDatabase: Hashable, Sendable {
    /// The connection strings or URLs of libpq, such as `postgresql://davit@10.0.0.5/davit`, one for each PostgreSQL server
    /// that can be the primary. All belong to one cluster.
    public var servers: [String]
    /// The name of the share in the database, which is created if it does not exist.
    public var share: String
    /// Where the content is that is not small: a folder, which all servers of the share can reach under this path or another, or
    /// `s3://BUCKET` or `s3://BUCKET/PREFIX`, with the package trait `S3`. The keys, the region and the address of an S3
    /// service are those of the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION` and
    /// `AWS_ENDPOINT_URL`.
    public var blobs: String
    /// The folder for local copies of objects in a bucket, which only this process may use.
    public var cacheFolder: String?
    /// The maximum size of these copies, in bytes.
    public var cacheBytes: Int64 = 10 << 30
    /// The maximum number of connections to the database, each with a thread.
    public var connections = 16

    /// Whether the content is in a bucket of an S3 service.
    public var isInBucket: Bool { blobs.hasPrefix("s3://") }

    /// The folders in which a server stores content, or copies of it; empty if there is none.
    package var contentFolders: [String] {
        isInBucket ? [cacheFolder ?? Self.cacheFolderOfUser].compactMap { $0 } : [blobs]
    }

    /// The folder that contains the copies of this user for each bucket, without ``cacheFolder``.
    static var cacheFolderOfUser: String? {
        Environment.variables(startingWith: "HOME")["HOME"].map { "\($0)/.cache/davit" }
    }

    /// The files that a server reads whenever it connects to the database, such as a file with passwords; they may be missing.
    package var connectionFiles: [String] {
        #if Postgres
        servers.flatMap(PostgresFiles.paths)
        #else
        []
        #endif
    }

    /// Whether this build can use databases, which requires the package trait `Postgres`.
    public static var isAvailable: Bool {
        #if Postgres
        true
        #else
        false
        #endif
    }

    /// - Parameters:
    ///   - servers: see ``servers``.
    ///   - share: see ``share``.
    ///   - blobs: see ``blobs``.
    public init(servers: [String], share: String, blobs: String) {
        self.servers = servers
        self.share = share
        self.blobs = blobs
    }
}
