import DavitAccess
import DavitAccounts
import DavitHTTP
import Testing

/// What an account may change within its own rights.
struct AccountEditorTests {
    private static let root = ResourcePath.root
    private static let team = ResourcePath(segments: [Array("team".utf8)])!
    private static let plan = ResourcePath(segments: [Array("team".utf8), Array("plan".utf8)])!
    /// A folder in which only a rule for everyone applies, without rights.
    private static let closed = ResourcePath(segments: [Array("closed".utf8)])!
    private static let managing: Rights = [.list, .read, .manage]

    /// anna administers; max manages `/team`, where he may only look; ben and cora have no account rights.
    private static func directory() throws -> AccountDirectory {
        let directory = try AccountDirectory(AccountModel())
        try directory.commit(
            ["anna", "max", "ben", "cora"].map { .addAccount(StoredAccount(name: $0, secret: "$")) } + [
                .addGroup("staff"), .addMember(account: "ben", group: "staff"),
                .setRule(AccessRule(.user("anna"), root, .all)),
                .setRule(AccessRule(.user("max"), team, managing)),
                .setRule(AccessRule(.group("staff"), root, .edit)),
                .setRule(AccessRule(.group("staff"), team, .none)),
                .setRule(AccessRule(.user("cora"), team, .edit)),
                .setRule(AccessRule(.everyone, closed, .none)),
                // Only logins elsewhere bring this group with them.
                .addGroup("guests"), .setRule(AccessRule(.group("guests"), root, .edit)),
                .setRule(AccessRule(.group("guests"), team, .none)),
                .setRule(AccessRule(.anonymous, root, .edit)), .setRule(AccessRule(.anonymous, team, .none)),
            ])
        return directory
    }

    /// A manager cannot slow down the server with rules, and an administrator is not limited.
    @Test func rulesOfManagersAreLimited() throws {
        let directory = try Self.directory()
        func rule(_ number: Int, _ rights: Rights = .view) -> AccountChange {
            .setRule(AccessRule(.everyone, Self.team.appending(Array("f\(number)".utf8))!, rights))
        }
        let present = directory.contents.rules.count { Self.team.contains($0.path) }
        let max = AccountEditor(Principal(.account, "max"))
        try directory.commit((present..<AccountEditor.ruleLimit).map { rule($0) }, by: max)
        let refused = AccountError.notPermitted(.tooManyRules(Self.team))
        #expect(throws: refused) { try directory.commit([rule(0)], by: max) }
        try directory.commit([rule(AccountEditor.ruleLimit - 1, .none)], by: max)
        let anna = AccountEditor(Principal(.account, "anna"))
        try directory.commit([rule(0)], by: anna)
        #expect(throws: refused) { try directory.commit([rule(1)], by: max) }
        // Rules in the trash count for managers.
        for id in [1, 2] as [Int64] {
            let folder = Self.team.appending(Array("f\(id + 10)".utf8))!
            try directory.commit([
                .beginRuleMove(RuleMove(id: id, from: .folder(folder), to: .trash(id: "t\(id)"))),
                .endRuleMove(id: id, .moved),
            ])
        }
        #expect(throws: refused) { try directory.commit([rule(1)], by: max) }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let editor: String
        let changes: [AccountChange]
        let refusal: AccountEditor.Refusal?
        var testDescription: String { "\(editor): \(name)" }
    }

    static let rows: [Row] = [
        Row(
            name: "grants own rights", editor: "max",
            changes: [.setRule(AccessRule(.user("ben"), team, .view))], refusal: nil),
        Row(
            name: "grants own rights below", editor: "max",
            changes: [.setRule(AccessRule(.everyone, plan, .view))], refusal: nil),
        Row(
            name: "takes rights away", editor: "max",
            changes: [.setRule(AccessRule(.user("cora"), team, .none))], refusal: nil),
        Row(
            name: "grants other rights", editor: "max",
            changes: [.setRule(AccessRule(.user("ben"), team, .edit))],
            refusal: .grantsMore([.create, .change, .delete], team)),
        Row(
            name: "grants itself other rights", editor: "max",
            changes: [.setRule(AccessRule(.user("max"), team, .all))],
            refusal: .grantsMore([.create, .change, .delete, .share], team)),
        Row(
            name: "removes a rule that denies what it does not have itself", editor: "max",
            changes: [.removeRule(.group("staff"), team)],
            refusal: .grantsMore([.create, .change, .delete], team)),
        Row(
            name: "removes a rule that denies users without an account", editor: "max",
            changes: [.removeRule(.group("guests"), team)],
            refusal: .grantsMore([.create, .change, .delete], team)),
        Row(
            name: "removes a rule that denies clients that have not signed in", editor: "max",
            changes: [.removeRule(.anonymous, team)],
            refusal: .grantsMore([.create, .change, .delete], team)),
        Row(
            name: "removes a rule that grants rights", editor: "max",
            changes: [.removeRule(.user("cora"), team)], refusal: nil),
        Row(
            name: "changes rules above", editor: "max",
            changes: [.setRule(AccessRule(.user("ben"), root, .none))], refusal: .notManager(root)),
        Row(
            name: "changes accounts", editor: "max", changes: [.setEnabled(account: "ben", isEnabled: false)],
            refusal: .notManager(root)),
        Row(
            name: "changes members", editor: "max", changes: [.addMember(account: "cora", group: "staff")],
            refusal: .notManager(root)),
        Row(
            name: "has no rights", editor: "ben", changes: [.setRule(AccessRule(.user("ben"), team, .none))],
            refusal: .notManager(team)),
        Row(
            name: "permitted and refused changes together", editor: "max",
            changes: [.setRule(AccessRule(.user("ben"), team, .view)), .removeAccount("ben")],
            refusal: .notManager(root)),
        Row(
            name: "changes accounts", editor: "anna",
            changes: [.setEnabled(account: "ben", isEnabled: false), .removeAccount("max")], refusal: nil),
        Row(
            name: "grants rights that a rule below takes away from itself", editor: "anna",
            changes: [.setRule(AccessRule(.user("ben"), closed, .edit))], refusal: nil),
        Row(
            name: "removes a rule that takes its rights away", editor: "anna",
            changes: [.removeRule(.everyone, closed)], refusal: nil),
        Row(
            name: "changes rules elsewhere", editor: "max", changes: [.removeRule(.everyone, closed)],
            refusal: .notManager(closed)),
        Row(
            name: "demotes itself", editor: "anna",
            changes: [.setRule(AccessRule(.user("anna"), root, .edit))],
            refusal: .lastAdministrator),
        Row(
            name: "removes its rule", editor: "anna", changes: [.removeRule(.user("anna"), root)],
            refusal: .lastAdministrator),
        Row(
            name: "removes itself", editor: "anna", changes: [.removeAccount("anna")],
            refusal: .lastAdministrator),
        Row(
            name: "disables itself", editor: "anna",
            changes: [.setEnabled(account: "anna", isEnabled: false)], refusal: .lastAdministrator),
        Row(
            name: "passes administration to another account", editor: "anna",
            changes: [.setRule(AccessRule(.user("ben"), root, .all)), .removeAccount("anna")], refusal: nil),
        Row(
            name: "passes administration to a disabled account", editor: "anna",
            changes: [
                .setEnabled(account: "ben", isEnabled: false), .setRule(AccessRule(.user("ben"), root, .all)),
                .removeAccount("anna"),
            ], refusal: .lastAdministrator),
    ]

    @Test(arguments: rows)
    func changesNeedTheRightsOfTheEditor(row: Row) throws {
        let directory = try Self.directory()
        let before = directory.contents
        let editor = AccountEditor(Principal(.account, row.editor))
        if let refusal = row.refusal {
            #expect(throws: AccountError.notPermitted(refusal)) {
                try directory.commit(row.changes, by: editor)
            }
            #expect(directory.contents == before)
        } else {
            try directory.commit(row.changes, by: editor)
            #expect(directory.contents != before)
        }
    }

    @Test func accountsChangeTheirOwnAppPasswords() throws {
        let directory = try Self.directory()
        let password = StoredAppPassword(id: "a", account: "ben", label: "phone", secret: "$", created: 0)
        let (ben, cora) = (Principal(.account, "ben"), Principal(.account, "cora"))
        #expect(throws: AccountError.notPermitted(.notManager(Self.root))) {
            try directory.commit([.addAppPassword(password)], by: AccountEditor(cora))
        }
        #expect(throws: AccountError.notPermitted(.notManager(Self.root))) {
            try directory.commit(
                [.addAppPassword(password)], by: AccountEditor(Principal(.appPassword, "ben")))
        }
        try directory.commit([.addAppPassword(password)], by: AccountEditor(ben))
        #expect(throws: AccountError.notPermitted(.notManager(Self.root))) {
            try directory.commit([.removeAppPassword(account: "ben", id: "a")], by: AccountEditor(cora))
        }
        try directory.commit([.removeAppPassword(account: "ben", id: "a")], by: AccountEditor(ben))
    }

    @Test func limitedCredentialsLimitChanges() throws {
        let directory = try Self.directory()
        let limit = AccessLimit(path: Self.root, rights: .edit)
        let editor = AccountEditor(Principal(.appPassword, "anna", limit: limit))
        #expect(throws: AccountError.notPermitted(.notManager(Self.root))) {
            try directory.commit([.removeAccount("ben")], by: editor)
        }
    }

    /// The owner of the server, who uses the command, is not limited.
    @Test func ownerMayRemoveTheLastAdministrator() throws {
        let directory = try Self.directory()
        try directory.commit([.removeAccount("anna")])
        #expect(!directory.contents.accounts.contains { $0.name == "anna" })
    }

    /// A request can wait for the commit that disables its account.
    @Test func disabledAccountsChangeNothing() throws {
        let directory = try Self.directory()
        try directory.commit([.setEnabled(account: "anna", isEnabled: false)])
        let before = directory.contents
        let password = StoredAppPassword(id: "a", account: "anna", label: "phone", secret: "$", created: 0)
        for change in [
            AccountChange.setEnabled(account: "anna", isEnabled: true), .addAppPassword(password),
            .setRule(AccessRule(.user("ben"), Self.team, .view)),
        ] {
            #expect(throws: AccountError.notPermitted(.notManager(Self.root))) {
                try directory.commit([change], by: AccountEditor(Principal(.account, "anna")))
            }
        }
        #expect(directory.contents == before)
    }

    /// Administrators can be users whose group only their login brings with it.
    @Test func administratorsKnownElsewhereDoNotDemoteThemselves() throws {
        let directory = try AccountDirectory(AccountModel())
        try directory.commit([.addGroup("admins"), .setRule(AccessRule(.group("admins"), Self.root, .all))])
        let editor = AccountEditor(Principal(.account, "dora", groups: ["admins"]))
        for change in [AccountChange.removeGroup("admins"), .removeRule(.group("admins"), Self.root)] {
            #expect(throws: AccountError.notPermitted(.lastAdministrator)) {
                try directory.commit([change], by: editor)
            }
        }
        try directory.commit([.addGroup("others")], by: editor)
    }
}
