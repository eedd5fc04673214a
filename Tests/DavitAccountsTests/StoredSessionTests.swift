import DavitAccess
import DavitAccounts
import DavitSQLite
import DavitTesting
import Testing

/// The sessions in an ``AccountStore``.
@Suite struct StoredSessionTests {
    private func withStores(_ body: (any AccountStore) throws -> Void) throws {
        try body(AccountModel())
        let folder = try TemporaryFolder()
        try body(try SQLiteAccountStore(folder: folder.path))
    }

    private func session(_ id: Int64, _ account: String) -> StoredSession {
        StoredSession(
            id: id, tokenHash: [UInt8(id), 0, 255], account: account, createdAt: 10, usedAt: 20,
            address: "192.0.2.1", agent: "Browser \"é\"")
    }

    private func start(_ store: any AccountStore) throws {
        try store.commit([
            .addAccount(StoredAccount(name: "anna", secret: "$a")),
            .addAccount(StoredAccount(name: "ben", secret: "$b")),
            .addAccount(StoredAccount(name: "eve", secret: "$e", isEnabled: false)),
        ])
        try store.commitSessions([
            .add(session(1, "anna")), .add(session(2, "anna")), .add(session(3, "ben")),
        ])
    }

    private func ids(_ store: any AccountStore) throws -> [Int64] { try store.sessions().map(\.id).sorted() }

    @Test func sessionsAreWhatWasCommitted() throws {
        try withStores { store in
            try start(store)
            #expect(
                Set(try store.sessions())
                    == [session(1, "anna"), session(2, "anna"), session(3, "ben")])
            try store.commitSessions([
                .remove(id: 2), .use(id: 3, at: 99, from: "::1"),
                .use(id: 7, at: 99, from: "::1"),
                .remove(id: 7),
            ])
            #expect(try ids(store) == [1, 3])
            var used = session(3, "ben")
            used.usedAt = 99
            used.address = "::1"
            #expect(try store.sessions().contains(used))
        }
    }

    @Test func refusedCommitsChangeNothing() throws {
        try withStores { store in
            try start(store)
            for name in ["nobody", "eve"] {
                #expect(throws: AccountError.unknownAccount(name)) {
                    try store.commitSessions([.remove(id: 1), .add(session(9, name))])
                }
            }
            #expect(try ids(store) == [1, 2, 3])
        }
    }

    private static let factor = StoredSecondFactor(
        secret: [1], createdAt: 2, usedStep: 3, recoveryHashes: [])

    static let changes: [(change: AccountChange, left: [Int64])] = [
        (.setSecret(account: "anna", secret: "$new"), [3]),
        (.setEnabled(account: "anna", isEnabled: false), [3]), (.removeAccount("anna"), [3]),
        (.setSecondFactor(account: "anna", factor, keepingSession: nil), [3]),
        (.setSecondFactor(account: "anna", factor, keepingSession: 2), [2, 3]),
        // The session of another account is not kept instead.
        (.setSecondFactor(account: "anna", factor, keepingSession: 3), [3]),
        // Nothing changes.
        (.setSecret(account: "anna", secret: "$a"), [1, 2, 3]),
        (.setEnabled(account: "anna", isEnabled: true), [1, 2, 3]), (.removeAccount("eve"), [1, 2, 3]),
        (.addGroup("g"), [1, 2, 3]),
    ]

    @Test(arguments: changes)
    func changesOfAccountsEndTheirSessions(row: (change: AccountChange, left: [Int64])) throws {
        try withStores { store in
            try start(store)
            try store.commit([row.change])
            #expect(try ids(store) == row.left)
        }
    }

    /// A database of version 1, which has no sessions.
    @Test func olderDatabasesGetSessions() throws {
        let folder = try TemporaryFolder()
        try SQLiteAccountStore(folder: folder.path).commit([
            .addAccount(StoredAccount(name: "anna", secret: "$a"))
        ])
        try {
            let path = folder.path + "/" + SQLiteAccountStore.fileName
            try DatabaseConnection(path: path, busyMilliseconds: 0).execute(
                """
                DROP TABLE trashed_rule; DROP TABLE rule_move; DROP TRIGGER account_removed;
                DROP TRIGGER account_changed; DROP TABLE recovery_code;
                DROP TABLE second_factor; DROP TABLE session; PRAGMA user_version = 2
                """)
        }()
        let store = try SQLiteAccountStore(folder: folder.path)
        #expect(try store.contents().accounts.map(\.name) == ["anna"])
        try store.commitSessions([.add(session(1, "anna"))])
        #expect(try ids(store) == [1])
    }
}
