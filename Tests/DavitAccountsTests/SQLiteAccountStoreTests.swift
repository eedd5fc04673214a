import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitSQLite
import DavitStore
import DavitSystem
import DavitTesting
import Testing

/// The database file of accounts.
@Suite struct SQLiteAccountStoreTests {
    @Test func contentsSurviveAndOnlyTheOwnerCanReadThem() throws {
        let folder = try TemporaryFolder()
        #expect(!SQLiteAccountStore.exists(in: folder.path))
        let changes: [AccountChange] = [
            .addAccount(StoredAccount(name: "anna", secret: "$")),
            .setRule(AccessRule(.user("anna"), .root, .edit)),
        ]
        let before = try {
            let store = try SQLiteAccountStore(folder: folder.path)
            try store.commit(changes)
            return try store.contents()
        }()
        #expect(SQLiteAccountStore.exists(in: folder.path))
        #expect(try SQLiteAccountStore(folder: folder.path).contents() == before)
        for name in TemporaryFolder.names(in: folder.path) {
            #expect(try SmallFile(reading: folder.path + "/" + name).mode == 0o600, "\(name)")
        }
    }

    /// A database that cannot be used is never treated as an empty one.
    @Test(
        arguments: [
            "PRAGMA application_id = 1; PRAGMA user_version = 1", "PRAGMA user_version = 1000",
            "CREATE TABLE other (x)", "UPDATE rule SET rights = 'everything'",
            "UPDATE rule SET path = CAST('a/../b' AS BLOB)", "UPDATE rule SET subject = 'nobody'",
            "DELETE FROM user_group",
        ] as [StaticString])
    func unusableDatabasesAreRefused(_ damage: StaticString) throws {
        let folder = try TemporaryFolder()
        if "\(damage)".hasPrefix("UPDATE") || "\(damage)".hasPrefix("DELETE") {
            try SQLiteAccountStore(folder: folder.path).commit([
                .addGroup("g"), .setRule(AccessRule(.group("g"), .root, .edit)),
            ])
        }
        try {
            let path = folder.path + "/" + SQLiteAccountStore.fileName
            try DatabaseConnection(path: path, busyMilliseconds: 0).execute(damage)
        }()
        #expect(throws: AccountError.self) {
            _ = try AccountDirectory(SQLiteAccountStore(folder: folder.path))
        }
    }

    @Test func filesThatAreNoDatabaseAreRefused() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/" + SQLiteAccountStore.fileName
        try SmallFile.write(Array(repeating: 0x41, count: 5000), to: path, mode: 0o600)
        #expect(throws: AccountError.self) { _ = try SQLiteAccountStore(folder: folder.path) }
    }
}
