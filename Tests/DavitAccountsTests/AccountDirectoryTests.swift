import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitTesting
import Synchronization
import Testing

@Suite struct AccountDirectoryTests {
    private let anna = Principal(.account, "anna")
    private let team = ResourcePath(segments: [Array("team".utf8)])!

    @Test func rightsFollowEachChange() throws {
        let directory = try AccountDirectory(AccountModel())
        #expect(directory.decide(anna, .read, at: team) == .hide)
        try directory.commit([
            .addAccount(StoredAccount(name: "anna", secret: "$")), .addGroup("editors"),
            .setRule(AccessRule(.group("editors"), team, .edit)),
        ])
        #expect(directory.decide(anna, .read, at: team) == .hide)
        try directory.commit([.addMember(account: "anna", group: "editors")])
        #expect(directory.decide(anna, .change, at: team) == .allow)
        #expect(directory.isPlace(team))
        #expect(directory.explain(anna, at: team) == [AccessRule(.group("editors"), team, .edit)])
        try directory.commit([.setRule(AccessRule(.user("anna"), team, .view))])
        #expect(directory.decide(anna, .change, at: team) == .forbid)
        try directory.commit([.removeAccount("anna"), .removeGroup("editors")])
        #expect(directory.decide(anna, .read, at: team) == .hide)
        #expect(!directory.isPlace(team))
    }

    /// Single changes are applied to the rules in memory, which must be those that all contents result in.
    @Test(arguments: 1...20) func singleChangesHaveTheResultOfAll(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let directory = try AccountDirectory(AccountModel())
        let names = ["anna", "ben"]
        try directory.commit(
            names.map { .addAccount(StoredAccount(name: $0, secret: "$")) } + [
                .addGroup("g"), .addGroup("h"),
            ])
        let paths = ["", "a", "a/b", "a/b/c", "d"].map {
            ResourcePath(segments: $0.split(separator: "/").map(\.utf8))!
        }
        for _ in 0..<40 {
            let path = paths.randomElement(using: &random)!
            let subject = [AccessRule.Subject.user("anna"), .group("g"), .group("h"), .everyone, .anonymous]
                .randomElement(using: &random)!
            let group = ["g", "h"].randomElement(using: &random)!
            let name = names.randomElement(using: &random)!
            let rights = Rights(rawValue: UInt8.random(in: 0..<128, using: &random))
            let changes: [AccountChange] = [
                .setRule(AccessRule(subject, path, rights)), .setRule(AccessRule(subject, path, rights)),
                .removeRule(subject, path), .addMember(account: name, group: group),
                .removeMember(account: name, group: group),
            ]
            try? directory.commit([changes.randomElement(using: &random)!])
            let contents = directory.contents
            let expected = try AccessRules(contents.rules, groups: contents.groups)
            for path in paths {
                #expect(directory.isPlace(path) == expected.isPlace(path))
                #expect(directory.entries(at: path) == expected.entries(at: path))
                for principal in names.map({ Principal(.account, $0) }) + [.anonymous] {
                    #expect(
                        directory.view(of: principal).rights(at: path)
                            == expected.view(of: principal).rights(at: path))
                    #expect(
                        Set(directory.explain(principal, at: path))
                            == Set(expected.explain(principal, at: path)))
                }
            }
        }
    }

    /// What follows from home folders is shown like rules.
    @Test func impliedRulesAreListed() throws {
        let homes = ResourcePath(segments: ["home".utf8])!
        let (own, other) = (homes.appending("anna".utf8)!, homes.appending("ben".utf8)!)
        let directory = try AccountDirectory(AccountModel(), homes: homes)
        try directory.commit([
            .addAccount(StoredAccount(name: "anna", secret: "$")),
            .addAccount(StoredAccount(name: "ben", secret: "$")),
            .setRule(AccessRule(.user("ben"), other, .view)),
            .setRule(AccessRule(.user("anna"), .root, .all)),
        ])
        let rights = Rights.edit.union(.share)
        #expect(
            directory.impliedRules == [
                AccessRule(.everyone, homes, .none), AccessRule(.anonymous, homes, .none),
                AccessRule(.user("anna"), own, rights),
            ])
        let entries = directory.entries(at: own)
        #expect(
            entries == [
                AccessControlEntry(subject: .user("anna"), effect: .grant(rights), place: own),
                AccessControlEntry(subject: .user("anna"), effect: .deny, place: own),
                AccessControlEntry(subject: .anonymous, effect: .deny, place: homes),
                AccessControlEntry(subject: .everyone, effect: .deny, place: homes),
            ])
        // Below a home folder, the same applies; a rule for the owner replaces what is implied.
        #expect(directory.entries(at: own.appending("x".utf8)!) == entries)
        #expect(directory.entries(at: other).first?.effect == .grant(.view))
    }

    @Test func eachCommitIsReportedOnceItIsInEffect() throws {
        let directory = try AccountDirectory(AccountModel())
        let seen = Mutex<[[String]]>([])
        let changed = Mutex<[Set<String>]>([])
        directory.onChange { [weak directory] accounts in
            let names = directory?.contents.accounts.map(\.name) ?? []
            seen.withLock { $0.append(names) }
            changed.withLock { $0.append(accounts) }
        }
        try directory.commit([.addAccount(StoredAccount(name: "anna", secret: "$"))])
        #expect(throws: AccountError.unknownGroup("g")) { try directory.commit([.removeGroup("g")]) }
        try directory.commit([.setRule(AccessRule(.everyone, team, .view))])
        try directory.commit([.beginRuleMove(RuleMove(id: 1, from: .folder(team), to: nil))])
        try directory.commit([.endRuleMove(id: 1, .notMoved)])
        try directory.commit([.removeAccount("anna")])
        #expect(seen.withLock { $0 } == [["anna"], ["anna"], []])
        // Only the credentials of these accounts can have changed.
        #expect(changed.withLock { $0 } == [["anna"], [], ["anna"]])
    }

    /// A request that was admitted with an old password must not add an app password or a session.
    @Test func nothingIsAddedWithACredentialThatHasChanged() throws {
        let store = AccountModel()
        let directory = try AccountDirectory(store)
        try directory.commit([.addAccount(StoredAccount(name: "anna", secret: "$old"))])
        let password = StoredAppPassword(id: "p", account: "anna", label: "phone", secret: "$", created: 1)
        let session = StoredSession(
            id: 1, tokenHash: [1], account: "anna", createdAt: 1, usedAt: 1, address: "::1", agent: "")
        func isOld() -> Bool { directory.credentials(of: "anna")?.account.secret == "$old" }
        try directory.commit([.addAppPassword(password)], if: isOld)
        #expect(try directory.add(session, removing: [], if: isOld))
        try directory.commit([.setSecret(account: "anna", secret: "$new")])
        #expect(throws: AccountError.credentialChanged) {
            try directory.commit([.addAppPassword(password)], if: isOld)
        }
        #expect(try !directory.add(session, removing: [], if: isOld))
        #expect(store.contents().appPasswords["anna"]?.isEmpty != false && store.sessions().isEmpty)
        #expect(directory.contents.appPasswords["anna"]?.isEmpty != false)
    }

    @Test func changesOfRulesAreCounted() throws {
        let directory = try AccountDirectory(AccountModel())
        var counts: [UInt64] = []
        func commit(_ change: AccountChange) throws {
            try directory.commit([change])
            counts.append(try #require(directory.changes).current)
        }
        try commit(.addAccount(StoredAccount(name: "anna", secret: "$")))
        let start = counts[0]
        try commit(.addGroup("editors"))
        try commit(.setRule(AccessRule(.group("editors"), team, .edit)))
        try commit(.addMember(account: "anna", group: "editors"))
        try commit(.removeMember(account: "anna", group: "editors"))
        try commit(.removeRule(.group("editors"), team))
        try commit(.removeAccount("anna"))
        #expect(zip(counts.dropFirst(2), counts.dropFirst(3)).allSatisfy { $0 < $1 }, "\(counts)")
        #expect(counts[2] > start)
    }

    @Test func usesAreStoredLater() throws {
        let store = AccountModel()
        let directory = try AccountDirectory(store)
        let password = StoredAppPassword(id: "p", account: "anna", label: "phone", secret: "$", created: 1)
        try directory.commit([
            .addAccount(StoredAccount(name: "anna", secret: "$")), .addAppPassword(password),
        ])
        let uses = (1...2).map { StoredAppPassword.Use(time: $0, address: "192.0.2.\($0)") }
        for use in uses { directory.recordUse(account: "anna", id: "p", use) }
        directory.recordUse(account: "ben", id: "gone", uses[0])
        #expect(store.contents().appPasswords["anna"]?.first?.lastUse == nil)
        try directory.storeUses()
        #expect(store.contents().appPasswords["anna"]?.first?.lastUse == uses[1])
        #expect(directory.contents == store.contents())
    }

    private final class FailingStore: AccountStore {
        let model = AccountModel()
        let isFailing = Mutex(false)

        func contents() -> AccountContents { model.contents() }
        func commit(
            _ changes: [AccountChange], check: () throws(AccountError) -> Void
        ) throws(AccountError) {
            if isFailing.withLock({ $0 }) { throw .failed(reason: "full") }
            try model.commit(changes, check: check)
        }
        func sessions() -> [StoredSession] { model.sessions() }
        func commitSessions(_ changes: [SessionChange]) throws(AccountError) {
            try model.commitSessions(changes)
        }
    }

    @Test func usesThatCannotBeStoredAreKept() throws {
        let store = FailingStore()
        let directory = try AccountDirectory(store)
        try directory.commit([
            .addAccount(StoredAccount(name: "anna", secret: "$")),
            .addAppPassword(
                StoredAppPassword(id: "p", account: "anna", label: "x", secret: "$", created: 1)),
        ])
        let use = StoredAppPassword.Use(time: 5, address: "192.0.2.1")
        directory.recordUse(account: "anna", id: "p", use)
        store.isFailing.withLock { $0 = true }
        #expect(throws: AccountError.failed(reason: "full")) { try directory.storeUses() }
        store.isFailing.withLock { $0 = false }
        try directory.storeUses()
        #expect(store.contents().appPasswords["anna"]?.first?.lastUse == use)
    }
}
