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

    @Test func eachCommitIsReportedOnceItIsInEffect() throws {
        let directory = try AccountDirectory(AccountModel())
        let seen = Mutex<[[String]]>([])
        directory.onChange { [weak directory] in
            let names = directory?.contents.accounts.map(\.name) ?? []
            seen.withLock { $0.append(names) }
        }
        try directory.commit([.addAccount(StoredAccount(name: "anna", secret: "$"))])
        #expect(throws: AccountError.unknownGroup("g")) { try directory.commit([.removeGroup("g")]) }
        try directory.commit([.removeAccount("anna")])
        #expect(seen.withLock { $0 } == [["anna"], []])
    }
}
