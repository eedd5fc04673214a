import Davit
import DavitAccess
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
                == "group:editors has in /team: edit (list,read,create,change,delete)\n")
        #expect(
            try run("access list FOLDER") == """
                /  user:ben  view (list,read)
                /team  group:editors  edit (list,read,create,change,delete)

                """)
        #expect(
            try run("access explain FOLDER anna team/new") == """
                anna has in /team/new: edit (list,read,create,change,delete)
                  from: /team  group:editors  edit (list,read,create,change,delete)

                """)
        #expect(
            try run("access explain FOLDER anna /") == "anna has in /: none\n  no rule applies\n")
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

    static let useless: [(line: String, message: String)] = [
        ("account add FOLDER anna", "account 'anna' exists"),
        ("account add FOLDER a:b", "invalid account 'a:b': names must not be empty or contain a colon"),
        ("account password FOLDER eve", "there is no account 'eve'"),
        ("account remove FOLDER eve", "there is no account 'eve'"),
        ("group join FOLDER guests anna", "there is no group 'guests'"),
        ("access set FOLDER user:eve /team view", "there is no account 'eve'"),
        ("access set FOLDER everyone /nowhere view", "/nowhere is not a folder in the share"),
        (
            "access set FOLDER anonymous / view",
            "clients must sign in, so a rule for clients without an account has no effect"
        ),
        ("access remove FOLDER everyone /team", "there is no rule for everyone in /team"),
        ("access explain FOLDER eve /team", "there is no account 'eve'"),
    ]

    /// Changes that mean nothing are refused with a reason, and change nothing.
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
