import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitTesting
import Testing

/// What every ``AccountStore`` guarantees.
@Suite struct AccountStoreTests {
    /// The stores that must behave alike.
    enum Kind: CaseIterable { case sqlite, model }

    private func withStore(_ kind: Kind, _ body: (any AccountStore) throws -> Void) throws {
        switch kind {
        case .model: try body(AccountModel())
        case .sqlite:
            let folder = try TemporaryFolder()
            try body(try SQLiteAccountStore(folder: folder.path))
        }
    }

    private static let team = ResourcePath(segments: [Array("team".utf8)])!
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    /// Anna and Ben, of whom Anna is in the group `editors`, with a rule for each kind of subject.
    private static let start: [AccountChange] = [
        .addAccount(StoredAccount(name: "ben", secret: "$b")),
        .addAccount(StoredAccount(name: "anna", secret: "$a")), .addGroup("editors"),
        .addMember(account: "anna", group: "editors"), .setRule(AccessRule(.user("anna"), .root, .all)),
        .setRule(AccessRule(.group("editors"), team, .edit)),
        .setRule(AccessRule(.everyone, team, .view)),
    ]

    @Test(arguments: Kind.allCases) func contentsAreWhatWasCommitted(_ kind: Kind) throws {
        try withStore(kind) { store in
            #expect(try store.contents() == AccountContents())
            try store.commit(Self.start)
            let expected = AccountContents(
                accounts: [
                    StoredAccount(name: "anna", secret: "$a"), StoredAccount(name: "ben", secret: "$b"),
                ], groups: ["editors": ["anna"]],
                rules: [
                    AccessRule(.user("anna"), .root, .all), AccessRule(.everyone, Self.team, .view),
                    AccessRule(.group("editors"), Self.team, .edit),
                ])
            #expect(try store.contents() == expected)
        }
    }

    /// Removing an account or a group removes everything that refers to it.
    @Test(arguments: Kind.allCases) func removalsLeaveNothing(_ kind: Kind) throws {
        try withStore(kind) { store in
            try store.commit(Self.start)
            try store.commit([.removeAccount("anna")])
            var contents = try store.contents()
            #expect(contents.groups == ["editors": []])
            #expect(contents.rules.count == 2)
            // An account that is created later under the name does not inherit anything.
            try store.commit([
                .addAccount(StoredAccount(name: "anna", secret: "$c")), .removeGroup("editors"),
            ])
            contents = try store.contents()
            #expect(contents.groups.isEmpty)
            #expect(contents.rules == [AccessRule(.everyone, Self.team, .view)])
        }
    }

    @Test(arguments: Kind.allCases) func secretsAndAccountsChange(_ kind: Kind) throws {
        try withStore(kind) { store in
            try store.commit(Self.start)
            try store.commit([
                .setSecret(account: "ben", secret: "$new"), .setEnabled(account: "ben", isEnabled: false),
                .removeMember(account: "anna", group: "editors"),
                .setRule(AccessRule(.everyone, Self.team, .none)), .removeRule(.user("anna"), .root),
            ])
            let contents = try store.contents()
            #expect(contents.accounts[1] == StoredAccount(name: "ben", secret: "$new", isEnabled: false))
            #expect(contents.groups == ["editors": []])
            #expect(
                contents.rules == [
                    AccessRule(.everyone, Self.team, .none), AccessRule(.group("editors"), Self.team, .edit),
                ])
        }
    }

    static let refused: [(change: AccountChange, error: AccountError)] = [
        (.addAccount(StoredAccount(name: "anna", secret: "")), .accountExists("anna")),
        (.setSecret(account: "eve", secret: ""), .unknownAccount("eve")),
        (.setEnabled(account: "eve", isEnabled: true), .unknownAccount("eve")),
        (.removeAccount("eve"), .unknownAccount("eve")),
        (.addGroup("editors"), .groupExists("editors")), (.removeGroup("guests"), .unknownGroup("guests")),
        (.addMember(account: "eve", group: "editors"), .unknownAccount("eve")),
        (.addMember(account: "ben", group: "guests"), .unknownGroup("guests")),
        (.addMember(account: "anna", group: "editors"), .isMember(account: "anna", group: "editors")),
        (.removeMember(account: "ben", group: "editors"), .isNotMember(account: "ben", group: "editors")),
        (.removeMember(account: "ben", group: "guests"), .unknownGroup("guests")),
        (.setRule(AccessRule(.user("eve"), .root, .all)), .unknownAccount("eve")),
        (.setRule(AccessRule(.group("guests"), .root, .all)), .unknownGroup("guests")),
        (.removeRule(.anonymous, .root), .noRule(.anonymous, .root)),
    ]

    /// A refused change undoes those before it in the same commit.
    @Test(arguments: Kind.allCases, refused)
    func refusedCommitsChangeNothing(_ kind: Kind, _ refused: (change: AccountChange, error: AccountError))
        throws
    {
        try withStore(kind) { store in
            try store.commit(Self.start)
            let before = try store.contents()
            #expect(throws: refused.error) {
                try store.commit([
                    .removeAccount("ben"), .addAccount(StoredAccount(name: "ben", secret: "$x")),
                    .addGroup("others"), refused.change,
                ])
            }
            #expect(try store.contents() == before)
            try store.commit([.addGroup("others")])
        }
    }

    /// Two spellings of a name or a path that look the same are the same.
    @Test func spellingsAreOneName() throws {
        try withStore(.sqlite) { store in
            try store.commit([
                .addAccount(StoredAccount(name: Self.composed, secret: "$")), .addGroup(Self.composed),
            ])
            #expect(throws: AccountError.accountExists(Self.decomposed)) {
                try store.commit([.addAccount(StoredAccount(name: Self.decomposed, secret: "$"))])
            }
            #expect(throws: AccountError.groupExists(Self.decomposed)) {
                try store.commit([.addGroup(Self.decomposed)])
            }
            let paths = [Self.composed, Self.decomposed].map { ResourcePath(segments: [Array($0.utf8)])! }
            try store.commit([.setRule(AccessRule(.everyone, paths[0], .view))])
            try store.commit([.setRule(AccessRule(.everyone, paths[1], .edit))])
            #expect(try store.contents().rules == [AccessRule(.everyone, paths[1], .edit)])
            try store.commit([.removeRule(.everyone, paths[0])])
            #expect(try store.contents().rules.isEmpty)
        }
    }

    /// Applies random changes to the database and to the model, and compares the results and the errors.
    @Test(arguments: 1...(TestExtent.isComplete ? 200 : 12)) func randomChangesAgree(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        try withStore(.sqlite) { store in
            let model = AccountModel()
            for _ in 0..<60 {
                let changes = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    Self.randomChange(&random)
                }
                let results = [store, model].map { (store: any AccountStore) in
                    Result { () throws(AccountError) in try store.commit(changes) }.error
                }
                #expect(results[0] == results[1])
                let contents = try store.contents()
                #expect(contents == model.contents())
            }
        }
    }

    private static func randomChange(_ random: inout SeededGenerator) -> AccountChange {
        let account = ["anna", "ben", "eve"].randomElement(using: &random)!
        let group = ["editors", "guests"].randomElement(using: &random)!
        let subject: AccessRule.Subject = [.user(account), .group(group), .everyone, .anonymous]
            .randomElement(using: &random)!
        let path = [ResourcePath.root, team].randomElement(using: &random)!
        let rights = Rights(rawValue: UInt8.random(in: 0..<128, using: &random))
        let choices: [AccountChange] = [
            .addAccount(StoredAccount(name: account, secret: "$\(rights.rawValue)")),
            .addAccount(StoredAccount(name: account, secret: "$")),
            .setSecret(account: account, secret: "$\(rights)"), .addGroup(group), .addGroup(group),
            .setEnabled(account: account, isEnabled: rights.contains(.list)), .removeAccount(account),
            .removeGroup(group), .addMember(account: account, group: group),
            .addMember(account: account, group: group), .removeMember(account: account, group: group),
            .setRule(AccessRule(subject, path, rights)), .setRule(AccessRule(subject, path, rights)),
            .removeRule(subject, path),
        ]
        return choices.randomElement(using: &random)!
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
