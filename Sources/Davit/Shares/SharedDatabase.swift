/// A PostgreSQL database with the resources of shares, which several servers can use at the same time.
public struct SharedDatabase: Hashable, Sendable {
    /// The connection strings or URLs of libpq, such as `postgresql://davit@10.0.0.5/davit`, one for each PostgreSQL server
    /// that can be the primary. All belong to one cluster.
    public var servers: [String]
    /// The name of the share in the database, which is created if it does not exist.
    public var share: String
    /// The folder with the content that is not small, which all servers of the share can reach under this path or another.
    public var blobs: String
    /// The maximum number of connections to the database, each with a thread.
    public var connections = 8

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
