import DavitSQLite
import DavitStore
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The database of banned addresses.
struct BanDatabaseTests {
    /// A folder that is removed with the database.
    private final class Folder {
        private let folder = DatabaseFolder()
        var path: String { folder.path }
        var file: String { path + "/" + BanDatabase.fileName }

        deinit {
            for end in ["", "-wal", "-shm"] { unsafe _ = unlink(file + end) }
        }
    }

    private let folder = Folder()

    private func ban(_ network: String, until: Int64 = 9) -> StoredBan {
        StoredBan(network: network, count: 2, since: 5, until: until, reason: "failed-logins")
    }

    @Test func bansAreStored() throws {
        #expect(!BanDatabase.exists(in: folder.path))
        do {
            let database = try BanDatabase(folder: folder.path)
            #expect(try database.bans() == [])
            try database.commit([ban("192.0.2.1"), ban("2001:db8:0:0::/64")], removing: ["192.0.2.9"])
        }
        #expect(BanDatabase.exists(in: folder.path))
        #expect(DatabaseFolder.mode(of: folder.file) == 0o600)
        let database = try BanDatabase(folder: folder.path)
        #expect(try database.bans() == [ban("192.0.2.1"), ban("2001:db8:0:0::/64")])
        try database.commit([ban("192.0.2.1", until: .max)], removing: ["2001:db8:0:0::/64"])
        #expect(try database.bans() == [ban("192.0.2.1", until: .max)])
    }

    @Test func otherFilesAreRefused() throws {
        do {
            let other = try DatabaseConnection(path: folder.file, busyMilliseconds: 0)
            try other.execute("CREATE TABLE a (b)")
        }
        #expect(throws: StateError.failed(reason: "it is not a database of bans")) {
            try BanDatabase(folder: folder.path)
        }
    }

    @Test func newerVersionsAreRefused() throws {
        _ = try BanDatabase(folder: folder.path)
        do {
            let newer = try DatabaseConnection(path: folder.file, busyMilliseconds: 0)
            try newer.execute("PRAGMA user_version = 2")
        }
        #expect(throws: StateError.self) { try BanDatabase(folder: folder.path) }
    }
}
