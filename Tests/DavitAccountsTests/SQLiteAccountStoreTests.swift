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
        #expect(try !SQLiteAccountStore.exists(in: folder.path))
        let changes: [AccountChange] = [
            .addAccount(StoredAccount(name: "anna", secret: "$")),
            .setRule(AccessRule(.user("anna"), .root, .edit)),
        ]
        let before = try {
            let store = try SQLiteAccountStore(folder: folder.path)
            try store.commit(changes)
            return try store.contents()
        }()
        #expect(try SQLiteAccountStore.exists(in: folder.path))
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
            "DELETE FROM user_group", "UPDATE app_password SET path = NULL",
            "UPDATE app_password SET rights = 'everything'",
        ] as [StaticString])
    func unusableDatabasesAreRefused(_ damage: StaticString) throws {
        let folder = try TemporaryFolder()
        if "\(damage)".hasPrefix("UPDATE") || "\(damage)".hasPrefix("DELETE") {
            try SQLiteAccountStore(folder: folder.path).commit([
                .addGroup("g"), .setRule(AccessRule(.group("g"), .root, .edit)),
                .addAccount(StoredAccount(name: "anna", secret: "$")),
                .addAppPassword(
                    StoredAppPassword(
                        id: "p", account: "anna", label: "phone", secret: "$",
                        limit: AccessLimit(path: .root, rights: .view), created: 1)),
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

    /// Version 1 has neither app passwords nor sessions nor second factors.
    @Test func databasesOfTheFirstVersionAreMigrated() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/" + SQLiteAccountStore.fileName
        let before = try {
            let store = try SQLiteAccountStore(folder: folder.path)
            try store.commit([
                .addAccount(StoredAccount(name: "anna", secret: "$a")), .addGroup("g"),
                .addMember(account: "anna", group: "g"), .setRule(AccessRule(.group("g"), .root, .edit)),
            ])
            return try store.contents()
        }()
        // The third migration fails at its last table: nothing of the second and third remains.
        try {
            let connection = try DatabaseConnection(path: path, busyMilliseconds: 0)
            try connection.execute(
                """
                DROP TRIGGER account_removed; DROP TRIGGER account_changed; DROP TABLE recovery_code;
                DROP TABLE second_factor; DROP TABLE session; DROP TABLE app_password; DROP TABLE trashed_rule;
                DROP TABLE rule_move;
                CREATE TABLE recovery_code (x); PRAGMA user_version = 1
                """)
        }()
        #expect(throws: AccountError.self) { _ = try SQLiteAccountStore(folder: folder.path) }
        try {
            let connection = try DatabaseConnection(path: path, busyMilliseconds: 0)
            #expect(try connection.integer("PRAGMA user_version") == 1)
            let left = try connection.texts(
                "SELECT name FROM sqlite_schema WHERE name IN ('app_password', 'session')")
            #expect(left.isEmpty)
            try connection.execute("DROP TABLE recovery_code")
        }()
        for _ in 0..<2 { #expect(try SQLiteAccountStore(folder: folder.path).contents() == before) }
        let store = try SQLiteAccountStore(folder: folder.path)
        let factor = StoredSecondFactor(secret: [1], createdAt: 1, usedStep: 0, recoveryHashes: [[2]])
        try store.commit([
            .addAppPassword(
                StoredAppPassword(id: "p", account: "anna", label: "x", secret: "$", created: 1)),
            .setSecondFactor(account: "anna", factor, keepingSession: nil),
        ])
        #expect(try store.contents().secondFactors == ["anna": factor])
        try store.commit([.removeAccount("anna")])
        let after = try store.contents()
        #expect(after.appPasswords.isEmpty && after.secondFactors.isEmpty)
    }

    /// Version 3 has no moves of rules.
    @Test func databasesOfTheThirdVersionAreMigrated() throws {
        let folder = try TemporaryFolder()
        let team = ResourcePath(segments: ["team".utf8])!
        let before = try {
            let store = try SQLiteAccountStore(folder: folder.path)
            try store.commit([.setRule(AccessRule(.everyone, team, .edit))])
            return try store.contents()
        }()
        try DatabaseConnection(
            path: folder.path + "/" + SQLiteAccountStore.fileName, busyMilliseconds: 0
        ).execute("DROP TABLE trashed_rule; DROP TABLE rule_move; PRAGMA user_version = 3")
        let store = try SQLiteAccountStore(folder: folder.path)
        #expect(try store.contents() == before)
        try store.commit([.beginRuleMove(RuleMove(id: 1, from: .folder(team), to: .trash(id: "t")))])
        #expect(try store.contents().trashedRules["t"]?.folder == team)
    }
}
