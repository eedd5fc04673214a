import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitTesting
import Testing

/// What every ``AccountStore`` guarantees.
struct AccountStoreTests {
    /// The stores that must behave alike.
    enum Kind: CaseIterable { case sqlite, model }

    private func withStore(
        _ kind: Kind, ruleLimit: Int = AccountContents.ruleLimit, _ body: (any AccountStore) throws -> Void
    ) throws {
        switch kind {
        case .model: try body(AccountModel(ruleLimit: ruleLimit))
        case .sqlite:
            let folder = try TemporaryFolder()
            try body(try SQLiteAccountStore(folder: folder.path, ruleLimit: ruleLimit))
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
        .setRule(AccessRule(.everyone, team, .view)), .addAppPassword(password("p1", of: "anna")),
    ]

    private static func password(
        _ id: String, of account: String, label: String = "phone", limit: AccessLimit? = nil,
        expiry: Int64? = nil
    ) -> StoredAppPassword {
        StoredAppPassword(
            id: id, account: account, label: label, secret: "$app$\(id)", limit: limit, created: 1_000,
            expiry: expiry)
    }

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
                ], appPasswords: ["anna": [Self.password("p1", of: "anna")]])
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
            #expect(contents.appPasswords.isEmpty)
            // An account that is created later under the name does not inherit anything.
            try store.commit([
                .addAccount(StoredAccount(name: "anna", secret: "$c")), .removeGroup("editors"),
            ])
            contents = try store.contents()
            #expect(contents.groups.isEmpty && contents.appPasswords.isEmpty)
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

    private static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    /// Where the rules are after each end of a move from `/team`.
    struct Move: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var destination: RuleLocation?
        var retainedID: String?
        /// The folders with rules, and the entries in the trash, during the move and after each outcome.
        var during: [String]
        var moved: [String]
        var notMoved = ["", "team", "team/x"]
    }

    static let moves = [
        Move(
            testDescription: "to another folder", destination: .folder(path("a/b")),
            during: ["", "a/b", "a/b/x", "team", "team/x"], moved: ["", "a/b", "a/b/x"]),
        Move(
            testDescription: "to the trash", destination: .trash(id: "t"),
            during: ["", "team", "team/x", "t"], moved: ["", "t"]),
        Move(testDescription: "nowhere", during: ["", "team", "team/x"], moved: [""]),
        Move(
            testDescription: "to another folder, retained", destination: .folder(path("a")), retainedID: "r",
            during: ["", "a", "a/x", "team", "team/x", "r"], moved: ["", "a", "a/x", "r"]),
    ]

    @Test(arguments: Kind.allCases, moves) func rulesAreAtBothEndsDuringAMove(_ kind: Kind, _ row: Move)
        throws
    {
        for outcome in RuleMove.Outcome.allCases {
            try withStore(kind) { store in
                func places() throws -> [String] {
                    let contents = try store.contents()
                    let folders = Set(contents.rules.map { String(decoding: $0.path.bytes, as: UTF8.self) })
                    return folders.sorted() + contents.trashedRules.keys.sorted()
                }
                try store.commit(Self.start + [.setRule(AccessRule(.everyone, Self.path("team/x"), .none))])
                let move = RuleMove(
                    id: 1, from: .folder(Self.team), to: row.destination, retainedAs: row.retainedID)
                try store.commit([.beginRuleMove(move)])
                #expect(try places() == row.during)
                #expect(try store.contents().ruleMoves == [1: move])
                for changed in [Self.team, Self.path("team/x")] {
                    #expect(throws: AccountError.isMoving(changed)) {
                        try store.commit([.setRule(AccessRule(.everyone, changed, .all))])
                    }
                }
                #expect(throws: AccountError.moveConflict) {
                    try store.commit([.beginRuleMove(RuleMove(id: 2, from: .folder(Self.team), to: nil))])
                }
                try store.commit([.endRuleMove(id: 1, outcome)])
                let expected = [.moved: row.moved, .notMoved: row.notMoved, .unknown: row.during][outcome]
                #expect(try places() == expected, "\(outcome)")
                #expect(try store.contents().ruleMoves.isEmpty)
            }
        }
    }

    @Test(arguments: Kind.allCases) func rulesReturnFromTheTrash(_ kind: Kind) throws {
        try withStore(kind) { store in
            try store.commit(Self.start)
            let before = try store.contents()
            try store.commit([
                .beginRuleMove(RuleMove(id: 1, from: .folder(Self.team), to: .trash(id: "t"))),
                .endRuleMove(id: 1, .moved),
            ])
            let trashed = try store.contents().trashedRules
            #expect(trashed["t"]?.folder == Self.team && trashed["t"]?.rules.count == 2)
            try store.commit([.beginRuleMove(RuleMove(id: 2, from: .trash(id: "t"), to: .folder(Self.team)))])
            try store.commit([.endRuleMove(id: 2, .moved)])
            #expect(try store.contents() == before)
            // Rules of subjects that no longer exist do not return.
            try store.commit([
                .beginRuleMove(RuleMove(id: 3, from: .folder(Self.team), to: .trash(id: "t"))),
                .endRuleMove(id: 3, .moved), .removeGroup("editors"),
            ])
            #expect(
                try store.contents().trashedRules["t"]?.rules == [AccessRule(.everyone, .root, .view)])
            try store.commit([.removeTrashedRules(id: "t"), .removeTrashedRules(id: "t")])
            #expect(try store.contents().trashedRules.isEmpty)
        }
    }

    /// Rules in the trash have a limit of their own. A rule that replaces another one does not count.
    @Test(arguments: Kind.allCases) func rulesAreLimited(_ kind: Kind) throws {
        try withStore(kind, ruleLimit: 4) { store in
            try store.commit(Self.start)
            func set(_ path: String, _ rights: Rights = .view) throws {
                try store.commit([.setRule(AccessRule(.anonymous, Self.path(path), rights))])
            }
            try set("a")
            #expect(throws: AccountError.tooManyRules) { try set("b") }
            try set("a", .none)
            try store.commit([
                .beginRuleMove(RuleMove(id: 1, from: .folder(Self.path("a")), to: .trash(id: "t"))),
                .endRuleMove(id: 1, .moved),
            ])
            try set("b")
            #expect(throws: AccountError.tooManyRules) {
                try store.commit([
                    .beginRuleMove(RuleMove(id: 2, from: .trash(id: "t"), to: .folder(Self.path("a"))))
                ])
            }
            // A move between folders does not change the number of rules, unless some are retained.
            func move(_ id: Int64, _ retainedID: String) throws {
                let (from, to) = id % 2 == 0 ? ("b", "c") : ("c", "b")
                try store.commit([
                    .beginRuleMove(
                        RuleMove(
                            id: id, from: .folder(Self.path(from)), to: .folder(Self.path(to)),
                            retainedAs: retainedID)),
                    .endRuleMove(id: id, .moved),
                ])
            }
            for id in 2...4 { try move(Int64(id), "r\(id)") }
            #expect(throws: AccountError.tooManyRules) { try move(5, "r5") }
            #expect(try store.contents().trashedRules.count == 4)
        }
    }

    private static let factor = StoredSecondFactor(
        secret: [1, 2], createdAt: 3, usedStep: 4, recoveryHashes: [[1], [2]])

    @Test(arguments: Kind.allCases) func codesAreUsedOnce(_ kind: Kind) throws {
        try withStore(kind) { store in
            try store.commit(Self.start)
            try store.commit([.setSecondFactor(account: "anna", Self.factor, keepingSession: nil)])
            #expect(try store.contents().secondFactors == ["anna": Self.factor])
            try store.commit([
                .useCode(account: "anna", step: 5), .useRecoveryCode(account: "anna", hash: [1]),
            ])
            for used in [
                AccountChange.useCode(account: "anna", step: 5), .useCode(account: "anna", step: 4),
                .useRecoveryCode(account: "anna", hash: [1]), .useRecoveryCode(account: "anna", hash: [9]),
            ] {
                #expect(throws: AccountError.codeNotUsable("anna")) { try store.commit([used]) }
            }
            var factor = Self.factor
            factor.usedStep = 5
            factor.recoveryHashes = [[2]]
            #expect(try store.contents().secondFactors == ["anna": factor])
            // Another one replaces it with its recovery codes.
            factor.recoveryHashes = [[7]]
            try store.commit([.setSecondFactor(account: "anna", factor, keepingSession: nil)])
            #expect(try store.contents().secondFactors == ["anna": factor])
            try store.commit([.removeAccount("anna"), .addAccount(StoredAccount(name: "anna", secret: "$"))])
            #expect(try store.contents().secondFactors.isEmpty)
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
        (.endRuleMove(id: 7, .moved), .unknownMove(id: 7)),
        (
            .beginRuleMove(RuleMove(id: 1, from: .folder(path("a")), to: .folder(team))), .moveConflict
        ),
        (
            .beginRuleMove(RuleMove(id: 1, from: .folder(team), to: .folder(path("team/x")))), .moveConflict
        ),
        (.addAppPassword(password("p2", of: "eve")), .unknownAccount("eve")),
        (.addAppPassword(password("p1", of: "ben")), .appPasswordExists(id: "p1")),
        (.addAppPassword(password("p2", of: "anna", label: "")), .badLabel),
        (.addAppPassword(password("p2", of: "anna", label: "a\nb")), .badLabel),
        (
            .addAppPassword(password("p2", of: "anna", label: String(repeating: "l", count: 101))), .badLabel
        ),
        (.removeAppPassword(account: "eve", id: "p1"), .unknownAccount("eve")),
        (.removeAppPassword(account: "ben", id: "p1"), .unknownAppPassword(account: "ben", id: "p1")),
        (.setSecondFactor(account: "eve", factor, keepingSession: nil), .unknownAccount("eve")),
        (.setSecondFactor(account: "ben", nil, keepingSession: nil), .noSecondFactor("ben")),
        (.useCode(account: "ben", step: 9), .codeNotUsable("ben")),
        (.useRecoveryCode(account: "ben", hash: [1]), .codeNotUsable("ben")),
    ]

    @Test(arguments: Kind.allCases) func appPasswordsAreStored(_ kind: Kind) throws {
        try withStore(kind) { store in
            try store.commit(Self.start)
            let limit = AccessLimit(path: Self.team, rights: [.list, .share])
            let label = String(repeating: "l", count: StoredAppPassword.labelLimitBytes)
            var limited = Self.password("p0", of: "anna", label: label, limit: limit, expiry: 2_000)
            let atRoot = Self.password("p2", of: "ben", limit: AccessLimit(path: .root, rights: .none))
            try store.commit([.addAppPassword(limited), .addAppPassword(atRoot)])
            let use = StoredAppPassword.Use(time: 1_500, address: "192.0.2.1")
            try store.commit([
                .recordUse(account: "anna", id: "p0", use), .recordUse(account: "anna", id: "gone", use),
            ])
            limited.lastUse = use
            let first = Self.password("p1", of: "anna")
            #expect(try store.contents().appPasswords == ["anna": [limited, first], "ben": [atRoot]])
            try store.commit([.removeAppPassword(account: "anna", id: "p0")])
            #expect(try store.contents().appPasswords == ["anna": [first], "ben": [atRoot]])
        }
    }

    @Test(arguments: Kind.allCases) func appPasswordsOfAnAccountAreLimited(_ kind: Kind) throws {
        try withStore(kind) { store in
            try store.commit(Self.start)
            let more = (2...StoredAppPassword.limitPerAccount).map { Self.password("p\($0)", of: "anna") }
            try store.commit(more.map { .addAppPassword($0) })
            #expect(throws: AccountError.tooManyAppPasswords(account: "anna")) {
                try store.commit([.addAppPassword(Self.password("q", of: "anna"))])
            }
            try store.commit([.addAppPassword(Self.password("q", of: "ben"))])
            try store.commit([
                .removeAppPassword(account: "anna", id: "p7"),
                .addAppPassword(Self.password("r", of: "anna")),
            ])
        }
    }

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
            // Changes find accounts and groups under every spelling, and store the first one.
            try store.commit([
                .setSecret(account: Self.decomposed, secret: "$new"),
                .addMember(account: Self.decomposed, group: Self.decomposed),
                .setRule(AccessRule(.user(Self.decomposed), .root, .view)),
                .addAppPassword(Self.password("p1", of: Self.decomposed)),
            ])
            #expect(throws: AccountError.isMember(account: Self.composed, group: Self.composed)) {
                try store.commit([.addMember(account: Self.composed, group: Self.composed)])
            }
            #expect(try store.contents().accounts.map(\.secret) == ["$new"])
            #expect(
                try store.contents().appPasswords.keys.first?.utf8.elementsEqual(Self.composed.utf8) == true)
            try store.commit([.removeRule(.user(Self.composed), .root), .removeAccount(Self.decomposed)])
            #expect(try store.contents().accounts.isEmpty && store.contents().appPasswords.isEmpty)
            try store.commit([.addAccount(StoredAccount(name: Self.decomposed, secret: "$"))])
        }
    }

    /// Applies random changes to the database, to the model and to a directory, and compares the results and the errors.
    /// The directory applies changes to its contents in memory, which must stay those of its store.
    @Test(arguments: 1...(TestExtent.isComplete ? 200 : 12)) func randomChangesAgree(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        try withStore(.sqlite) { store in
            let model = AccountModel()
            let stored = AccountModel()
            let directory = try AccountDirectory(stored)
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
                _ = try? directory.commit(changes)
                #expect(directory.contents == stored.contents())
            }
        }
    }

    private static func randomChange(_ random: inout SeededGenerator) -> AccountChange {
        let account = ["anna", "ben", "eve"].randomElement(using: &random)!
        let group = ["editors", "guests"].randomElement(using: &random)!
        let subject: AccessRule.Subject = [.user(account), .group(group), .everyone, .anonymous]
            .randomElement(using: &random)!
        let path = [ResourcePath.root, team, Self.path("team/x"), Self.path("a")].randomElement(
            using: &random)!
        let place: RuleLocation = [.folder(path), .trash(id: "t"), .trash(id: "u")].randomElement(
            using: &random)!
        let move = Int64.random(in: 1...2, using: &random)
        let rights = Rights(rawValue: UInt8.random(in: 0..<128, using: &random))
        let id = ["p1", "p2", "p3"].randomElement(using: &random)!
        let choices: [AccountChange] = [
            .addAccount(StoredAccount(name: account, secret: "$\(rights.rawValue)")),
            .addAccount(StoredAccount(name: account, secret: "$")),
            .setSecret(account: account, secret: "$\(rights)"), .addGroup(group), .addGroup(group),
            .setEnabled(account: account, isEnabled: rights.contains(.list)), .removeAccount(account),
            .removeGroup(group), .addMember(account: account, group: group),
            .addMember(account: account, group: group), .removeMember(account: account, group: group),
            .setRule(AccessRule(subject, path, rights)), .setRule(AccessRule(subject, path, rights)),
            .removeRule(subject, path),
            .beginRuleMove(
                RuleMove(
                    id: move, from: .folder(team), to: [place, nil].randomElement(using: &random)!,
                    retainedAs: ["u", nil].randomElement(using: &random)!)),
            .beginRuleMove(RuleMove(id: move, from: place, to: .folder(path))),
            .endRuleMove(id: move, RuleMove.Outcome.allCases.randomElement(using: &random)!),
            .endRuleMove(id: move, .moved), .removeTrashedRules(id: "t"),
            .addAppPassword(password(id, of: account)), .addAppPassword(password(id, of: account)),
            .removeAppPassword(account: account, id: id),
            .recordUse(
                account: account, id: id,
                StoredAppPassword.Use(time: Int64(rights.rawValue), address: "192.0.2.1")),
            .setSecondFactor(
                account: account, Bool.random(using: &random) ? factor : nil, keepingSession: nil),
            .useCode(account: account, step: Int64(rights.rawValue)),
            .useRecoveryCode(account: account, hash: [rights.rawValue % 3]),
        ]
        return choices.randomElement(using: &random)!
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
