package import DavitStore
package import DavitTree

/// Copies a folder to a share in a database, or a share in a database to a folder.
package struct ShareTransfer {
    /// The direction.
    package enum Direction: Hashable, Sendable { case intoDatabase, intoFolder }

    private let direction: Direction
    private let folders: ShareFolders
    private let state: any ShareState
    private let database: SharedDatabase

    /// - Parameters:
    ///   - folders: the shared folder.
    ///   - state: its state, which no server uses.
    ///   - database: the share in a database.
    package init(
        _ direction: Direction, _ folders: ShareFolders, _ state: any ShareState, database: SharedDatabase
    ) {
        self.direction = direction
        self.folders = folders
        self.state = state
        self.database = database
    }

    /// Copies everything. Blocks.
    /// - Parameter notify: called for each resource.
    package func run(notify: @escaping (ShareCopier.Event) -> Void) throws(ServerError) {
        #if Postgres
        let connected = try ConnectedDatabase(database) { _ in }
        defer { connected.close() }
        let tree = connected.tree
        let local = ShareCopier.Side(folders.store, state, nil)
        let shared = ShareCopier.Side(
            TreeStore(tree, work: connected.work), TreeState(tree, report: { _ in }), tree)
        let copier =
            direction == .intoDatabase
            ? ShareCopier(from: local, to: shared, notify: notify)
            : ShareCopier(from: shared, to: local, notify: notify)
        do throws(StoreError) { try copier.copy() } catch {
            throw .databaseNotUsable(reason: error.text)
        }
        #else
        throw .databaseNotUsable(reason: "this build does not include PostgreSQL")
        #endif
    }
}
