internal import CSQLite
package import DavitStore
internal import Synchronization

/// A banned address, as it is stored.
package struct StoredBan: Hashable, Sendable {
    /// An IPv4 address, or the /64 network of an IPv6 address.
    package var network: String
    package var count: Int64
    /// In seconds since 1970, as ``until``.
    package var since: Int64
    package var until: Int64
    package var reason: String

    package init(network: String, count: Int64, since: Int64, until: Int64, reason: String) {
        self.network = network
        self.count = count
        self.since = since
        self.until = until
        self.reason = reason
    }
}

/// The database of banned addresses, `bans.sqlite` in a state folder. One object uses it at a time: its owner holds the lock
/// of the folder. All calls may block.
package final class BanDatabase: Sendable {
    /// The name of the database in the state folder.
    package static let fileName = "bans.sqlite"

    /// The migration at index `n` converts version `n` to version `n + 1`. Migrations are only appended, never edited.
    private static let migrations: [StaticString] = [
        """
        PRAGMA application_id = 0x64426E73;

        CREATE TABLE ban (
            network TEXT PRIMARY KEY,
            -- The number of bans, each soon after the previous one.
            count INTEGER NOT NULL,
            -- In seconds since 1970, as below.
            since INTEGER NOT NULL,
            until INTEGER NOT NULL,
            reason TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        PRAGMA user_version = 1;
        """
    ]

    private let connection: Mutex<DatabaseConnection>

    /// Opens the database, or creates it so that only the owner can read it.
    /// - Throws: `failed` if it cannot be read, or if a newer version of davit wrote it.
    package init(folder: String) throws(StateError) {
        let path = folder + "/" + Self.fileName
        let error = unsafe davit_make_private_file(path)
        if error != 0 {
            if davit_is_out_of_space(error) != 0 { throw .outOfSpace }
            throw .failed(reason: "cannot write \(path) (errno \(error))")
        }
        let connection = try DatabaseConnection(path: path, busyMilliseconds: 0)
        try connection.execute(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_mode = WAL")
        try connection.promise(.processDeath)
        try connection.migrate(Self.migrations, applicationID: 0x6442_6E73, kind: "bans")
        self.connection = Mutex(connection)
    }

    /// Whether a folder has a database of bans, even if it cannot be used.
    package static func exists(in folder: String) -> Bool {
        unsafe davit_file_exists(folder + "/" + fileName) != 0
    }

    /// Returns all bans.
    package func bans() throws(StateError) -> [StoredBan] {
        try connection.withLock { connection throws(StateError) in
            var bans: [StoredBan] = []
            try Statement("SELECT network, count, since, until, reason FROM ban", on: connection).forEachRow(
                []) { row in
                    bans.append(
                        StoredBan(
                            network: row.text(0), count: row.integer(1), since: row.integer(2),
                            until: row.integer(3), reason: row.text(4)))
                }
            return bans
        }
    }

    /// Adds or replaces bans, and removes those of other networks, all or none.
    package func commit(_ bans: [StoredBan], removing networks: [String]) throws(StateError) {
        try connection.withLock { connection throws(StateError) in
            try connection.execute("BEGIN IMMEDIATE")
            do throws(StateError) {
                let put = Statement(
                    "INSERT OR REPLACE INTO ban (network, count, since, until, reason) VALUES (?1, ?2, ?3, ?4, ?5)",
                    on: connection)
                for ban in bans {
                    try put.run([
                        .text(ban.network), .integer(ban.count), .integer(ban.since), .integer(ban.until),
                        .text(ban.reason),
                    ])
                }
                let remove = Statement("DELETE FROM ban WHERE network = ?1", on: connection)
                for network in networks { try remove.run([.text(network)]) }
                try connection.execute("COMMIT")
            } catch {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                throw error
            }
        }
    }
}
