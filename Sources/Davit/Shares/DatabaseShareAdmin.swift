internal import DavitAccounts
internal import DavitBlobs
package import DavitControl
internal import DavitEngine
internal import DavitHTTP
internal import DavitPostgres
internal import DavitServer
internal import DavitStore
internal import DavitSystem
internal import DavitTree

/// Handles requests about a share in a database for a command: its locks, uploads, trash, accounts and rules. What it changes
/// is in effect on all servers, as if one of them had done it.
package final class DatabaseShareAdmin {
    #if Postgres
    private let connected: ConnectedDatabase
    private let share: Share
    private let admin: StateAdmin

    /// Connects to the database. Blocks.
    package init(_ database: SharedDatabase) throws(ServerError) {
        let report: @Sendable (String) -> Void = { StandardStreams.writeError("davit: \($0)\n") }
        var database = database
        database.connections = 1
        connected = try ConnectedDatabase(database, blobs: NoBlobs(), report: report)
        let tree = connected.tree
        let accounts: AccountDirectory
        do throws(AccountError) {
            accounts = try AccountDirectory(
                PostgresAccountStore(tree.connections, share: tree.shareID, node: tree.nodeID))
        } catch {
            throw .accountDatabaseNotUsable(reason: error.text)
        }
        var settings = ShareConfiguration()
        // A command has all rights, but the rules move with their folders.
        settings.access = accounts
        share = Share(
            resources: TreeStore(tree, work: connected.work), state: TreeState(tree, report: report),
            work: connected.work, sessions: tree, configuration: settings, now: { tree.now }, report: report)
        admin = StateAdmin(share: share, accounts: AccountAdmin(.directory(accounts)), origin: "")
    }

    /// Blocks.
    package func answer(_ request: ControlRequest) -> ControlResponse {
        do throws(StoreSessionError) {
            return try connected.tree.run { admin.answer(request) }
        } catch {
            switch error {
            case .conflict: return .refused(reason: "a server is changing the same; try again")
            case .failed(let error): return .refused(reason: error.text)
            }
        }
    }

    /// Closes the connections.
    package func close() {
        connected.tree.leave()
        connected.close()
    }
    #else
    package init(_ database: SharedDatabase) throws(ServerError) {
        throw .databaseNotUsable(reason: "this build does not include PostgreSQL")
    }

    package func answer(_ request: ControlRequest) -> ControlResponse { .refused(reason: "no database") }
    package func close() {}
    #endif
}

#if Postgres
/// For callers that need no content.
private struct NoBlobs: BlobStore {
    private static let failure = BlobError.failed(reason: "this command reads no content")

    func create(_ key: BlobKey) throws(BlobError) -> any BlobWriter { throw Self.failure }
    func open(_ key: BlobKey, digest: [UInt8]) throws(BlobError) -> BlobFile { throw Self.failure }
    func remove(_ key: BlobKey) throws(BlobError) { throw Self.failure }
    func room() throws(BlobError) -> Int64? { nil }
    func claim(for database: BlobKey) throws(BlobError) {}
    func owner() throws(BlobError) -> BlobKey? { nil }
    func list(_ folder: UInt8) throws(BlobError) -> [StoredObject] { throw Self.failure }
    func lengths(of keys: [BlobKey], in folder: UInt8) throws(BlobError) -> [BlobKey: Int64] {
        throw Self.failure
    }
    func digest(of key: BlobKey) throws(BlobError) -> [UInt8]? { throw Self.failure }
}
#endif
