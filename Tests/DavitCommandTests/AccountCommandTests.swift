import Davit
import DavitAccess
import DavitAccounts
import DavitCommand
import DavitHTTP
import DavitSystem
import DavitTesting
import Testing

/// `davit account`, `davit group` and `davit access` without a server.
@Suite struct AccountCommandTests {
    private let folder: TemporaryFolder
    private let share: String

    init() throws {
        folder = try TemporaryFolder()
        share = folder.path + "/share"
        _ = try ExclusiveFolder(path: share + "/team")
    }

    /// Parses and runs a command; `FOLDER` stands for the shared folder.
    private func run(_ line: String, password: String = "") throws -> String {
        let words = line.split(separator: " ").map { $0 == "FOLDER" ? share : String($0) }
        guard
            case .account(let options) = try Arguments.parse(words + ["--state-dir", folder.path + "/state"])
        else { throw CommandFailure.other("another command") }
        return try AccountCommand(options: options).text(password: Array(password.utf8))
    }

    private func failure(_ line: String) -> String? {
        do {
            _ = try run(line, password: "secret")
            return nil
        } catch {
            return (error as? CommandFailure)?.message
        }
    }

    @Test func sessionsAreListedAndEnded() throws {
        _ = try run("account add FOLDER anna", password: "secret")
        #expect(try run("account sessions FOLDER") == "no sessions\n")
        let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
        try SQLiteAccountStore(folder: folder.path + "/state").commitSessions([
            .add(
                StoredSession(
                    id: 7, tokenHash: [1], account: "anna", createdAt: 1_700_000_000, usedAt: 1_700_000_060,
                    address: "192.0.2.1", agent: agent))
        ])
        let line =
            "7  anna  Firefox, Linux  last used 2023-11-14 22:14 UTC from 192.0.2.1  signed in 2023-11-14 22:13 UTC\n"
        #expect(try run("account sessions FOLDER") == line)
        #expect(try run("account sessions FOLDER anna") == line)
        #expect(try run("account sessions FOLDER ben") == "no sessions\n")
        #expect(try run("account end-session FOLDER 7") == "ended session 7\n")
        #expect(try run("account sessions FOLDER") == "no sessions\n")
        #expect(failure("account end-session FOLDER 7")?.contains("there is no session '7'") == true)
    }

    @Test func accountsAndRightsAreChangedAndListed() throws {
        #expect(
            try run("account add FOLDER anna", password: "secret").hasPrefix(
                "added account anna, without rights"))
        #expect(
            try run("account add FOLDER ben --rights view", password: "x")
                == "added account ben with the rights view (list,read)\n")
        #expect(try run("account list FOLDER") == "anna\nben\n")
        #expect(try run("group list FOLDER") == "no groups\n")
        _ = try run("group add FOLDER editors")
        #expect(try run("group list FOLDER") == "editors: no members\n")
        _ = try run("group join FOLDER editors anna")
        _ = try run("group join FOLDER editors ben")
        #expect(try run("group list FOLDER") == "editors: anna, ben\n")
        #expect(
            try run("access set FOLDER group:editors /team/ edit")
                == "rights of group:editors in /team: edit (list,read,create,change,delete)\n")
        #expect(
            try run("access list FOLDER") == """
                /  user:ben  view (list,read)
                /team  group:editors  edit (list,read,create,change,delete)

                """)
        #expect(
            try run("access explain FOLDER anna team/new") == """
                rights of anna in /team/new: edit (list,read,create,change,delete)
                  from: /team  group:editors  edit (list,read,create,change,delete)

                """)
        #expect(
            try run("access explain FOLDER anna /") == "rights of anna in /: none\n  no rule applies\n")
        _ = try run("account disable FOLDER ben")
        #expect(try run("account list FOLDER") == "anna\nben (disabled)\n")
        _ = try run("account enable FOLDER ben")
        _ = try run("group leave FOLDER editors ben")
        _ = try run("access remove FOLDER group:editors team")
        _ = try run("account remove FOLDER ben")
        _ = try run("group remove FOLDER editors")
        #expect(try run("account list FOLDER") == "anna\n")
        #expect(try run("access list FOLDER") == "no rules\n")
    }

    #if TLS
    @Test func appPasswordsAreCreatedListedAndRevoked() throws {
        _ = try run("account add FOLDER anna --rights edit", password: "secret")
        #expect(try run("app-password list FOLDER") == "no app passwords\n")
        let password = try run("app-password add FOLDER anna phone --path team/ --rights view --expires 30")
        #expect(password.utf8.count == 24 && password.hasSuffix("\n"))
        let other = try run("app-password add FOLDER anna laptop")
        #expect(other != password)
        let list = try run("app-password list FOLDER anna").split(separator: "\n").map(String.init)
        #expect(list.count == 2)
        let limited = try #require(list.first { $0.contains("  phone  ") })
        #expect(limited.contains("  anna  phone  /team: view  expires 2"))
        #expect(limited.hasSuffix("  not used"))
        #expect(
            try #require(list.first { $0.contains("  laptop  ") }).contains("  unlimited  does not expire  "))
        #expect(!list.joined().contains(password.dropLast()))
        let id = String(limited.prefix { $0 != " " })
        #expect(
            try run("access explain FOLDER anna team --app-password \(id)") == """
                rights of anna with app password \(id) in /team: view (list,read)
                  from: /  user:anna  edit (list,read,create,change,delete)

                """)
        #expect(
            try run("access explain FOLDER anna / --app-password \(id)").hasPrefix(
                "rights of anna with app password \(id) in /: none\n"))
        #expect(try run("app-password revoke FOLDER anna \(id)") == "revoked app password \(id) of anna\n")
        #expect(try run("app-password list FOLDER").split(separator: "\n").count == 1)
    }
    #endif

    @Test func rightsOfGroupsAndAnonymousClientsAreExplained() throws {
        _ = try run("account add FOLDER anna", password: "secret")
        _ = try run("group add FOLDER staff")
        _ = try run("access set FOLDER group:staff /team view")
        _ = try run("access set FOLDER anonymous /team list")
        #expect(try run("access explain FOLDER anna /team").hasPrefix("rights of anna in /team: none\n"))
        #expect(
            try run("access explain FOLDER user:anna /team --group staff")
                == "rights of anna in /team: view (list,read)\n  from: /team  group:staff  view (list,read)\n"
        )
        // A user of a directory, without an account.
        #expect(
            try run("access explain FOLDER dirk /team --group staff")
                == "rights of dirk in /team: view (list,read)\n  from: /team  group:staff  view (list,read)\n"
        )
        #expect(failure("access explain FOLDER dirk /team") == "there is no account 'dirk'")
        #expect(
            try run("access explain FOLDER anonymous /team/x")
                == "rights of anonymous in /team/x: list\n  from: /team  anonymous  list\n")
    }

    /// Each line names a rule, account or app password without effect.
    @Test func accessCheckListsWhatHasNoEffect() throws {
        _ = try run("account add FOLDER anna --rights edit", password: "secret")
        #expect(try run("access check FOLDER") == "nothing found\n")
        _ = try run("account add FOLDER ben", password: "secret")
        _ = try run("group add FOLDER empty")
        for folder in ["gone", "other"] { _ = try ExclusiveFolder(path: "\(share)/\(folder)") }
        for line in [
            "group:empty /other view", "user:anna /team edit", "user:ben /gone none", "everyone /gone drop",
        ] {
            _ = try run("access set FOLDER \(line)")
        }
        #expect(ShellCommand.run("rm -r '\(share)/gone'")?.status == 0)
        #expect(
            try run("access check FOLDER") == """
                /gone everyone drop: the folder does not exist
                /gone user:ben none: the folder does not exist
                /other group:empty view: the group has no members
                /team user:anna edit: has no effect; the same rights apply without it
                account ben: has no rights

                """)
    }

    static let useless: [(line: String, message: String)] = [
        ("account add FOLDER anna", "account 'anna' exists"),
        ("account add FOLDER a:b", "invalid account 'a:b': names must not be empty or contain a colon"),
        ("account password FOLDER eve", "there is no account 'eve'"),
        ("account remove FOLDER eve", "there is no account 'eve'"),
        ("group join FOLDER guests anna", "there is no group 'guests'"),
        ("access set FOLDER user:eve /team view", "there is no account 'eve'"),
        (
            "access set FOLDER everyone /nowhere view",
            "/nowhere is not a folder in the share: create it first"
        ),
        ("app-password add FOLDER eve phone", "there is no account 'eve'"),
        (
            "app-password add FOLDER anna phone --path /nowhere",
            "/nowhere is not a folder in the share: create it first"
        ),
        ("app-password list FOLDER eve", "there is no account 'eve'"),
        ("app-password revoke FOLDER anna x", "'anna' has no app password 'x'"),
        ("access explain FOLDER anna / --app-password x", "'anna' has no app password 'x'"),
        ("access remove FOLDER everyone /team", "there is no rule for everyone in /team"),
        ("access explain FOLDER eve /team", "there is no account 'eve'"),
    ]

    /// Changes without effect are refused with a reason, and change nothing.
    @Test(arguments: useless)
    func uselessChangesAreRefused(line: String, message: String) throws {
        _ = try run("account add FOLDER anna --rights edit", password: "secret")
        #expect(failure(line) == message)
        #expect(try run("account list FOLDER") == "anna\n")
        #expect(
            try run("access list FOLDER") == "/  user:anna  edit (list,read,create,change,delete)\n")
    }

    /// More accounts, members and rules than one response has lines.
    @Test func longListsAreComplete() throws {
        _ = try run("account add FOLDER anna", password: "x")
        _ = try run("group add FOLDER g")
        for number in 100..<203 {
            _ = try run("group add FOLDER g\(number)")
            _ = try ExclusiveFolder(path: "\(share)/f\(number)")
            _ = try run("access set FOLDER everyone f\(number) view")
        }
        #expect(try run("group list FOLDER").split(separator: "\n").count == 104)
        #expect(try run("access list FOLDER").split(separator: "\n").count == 103)
    }

    /// Questions about a folder without state create nothing.
    @Test func listsCreateNothing() throws {
        #expect(failure("account list FOLDER")?.hasPrefix("no state for ") == true)
        #expect(failure("group add FOLDER g")?.hasPrefix("no state for ") == true)
        #expect(TemporaryFolder.names(in: folder.path) == ["share"])
    }

    /// With a database without accounts, no client could sign in.
    @Test func theFirstChangeAddsAnAccount() throws {
        _ = try WebServer(WebDAVShare(share, stateFolder: folder.path + "/state"))
        #expect(try run("account list FOLDER") == "no accounts\n")
        for line in ["group add FOLDER g", "account remove FOLDER anna", "access set FOLDER everyone / view"]
        {
            #expect(failure(line) == "there are no accounts yet; add one first: davit account add")
        }
        #expect(!TemporaryFolder.names(in: folder.path + "/state").contains("accounts.sqlite"))
    }
}
