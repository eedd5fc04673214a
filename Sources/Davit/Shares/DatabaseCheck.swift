#if Postgres
internal import DavitBlobs
package import DavitTree

/// Compares a database with its store of content, see `TreeCheck`.
package struct DatabaseCheck {
    private let servers: [String]
    private let blobs: String
    private let share: String?
    private let comparesContent: Bool

    /// - Parameters:
    ///   - servers: see ``SharedDatabase/servers``.
    ///   - blobs: see ``SharedDatabase/blobs``.
    ///   - share: the share to check; nil for the whole database.
    ///   - comparesContent: whether the SHA-256 of each object is compared.
    package init(servers: [String], blobs: String, share: String?, comparesContent: Bool) {
        self.servers = servers
        self.blobs = blobs
        self.share = share
        self.comparesContent = comparesContent
    }

    /// What a check has found.
    package struct Result: Sendable {
        /// The number of findings of each kind, which can be higher than the number of those that were reported.
        package let counts: [TreeFinding.Kind: Int]
        /// The number of objects that were compared.
        package let objects: Int
    }

    /// Runs the check. Blocks.
    /// - Parameter notify: called for each finding, and at most `TreeCheck.limit` times for each kind.
    package func run(notify: @escaping (TreeFinding) -> Void) throws(ServerError) -> Result {
        let inventory: any BlobInventory
        do throws(BlobError) { inventory = try DatabaseReader.blobs(of: blobs) } catch {
            throw .databaseNotUsable(error)
        }
        let reader = DatabaseReader(servers: servers)
        defer { reader.close() }
        do throws(TreeCheckFailure) {
            let check = try TreeCheck(
                reader.pool, inventory, share: share, comparesContent: comparesContent, notify: notify)
            let counts = try check.run()
            return Result(counts: counts, objects: check.objectCount)
        } catch {
            throw .databaseNotUsable(reason: error.reason)
        }
    }
}

/// Reads which servers use a database, and which shares it contains.
package struct ClusterReport {
    private let servers: [String]

    /// - Parameter servers: see ``SharedDatabase/servers``.
    package init(servers: [String]) { self.servers = servers }

    /// Reads the database. Blocks.
    package func read() throws(ServerError) -> TreeCluster {
        let reader = DatabaseReader(servers: servers)
        defer { reader.close() }
        do throws(TreeCheckFailure) { return try TreeCluster(reader.pool) } catch {
            throw .databaseNotUsable(reason: error.reason)
        }
    }
}
#endif
