import Davit
import DavitAccess
import DavitAccounts
import DavitControl
import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Servers with a home folder for each account.
@Suite(.timeLimit(.minutes(15)))
struct HomeFolderTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path + "/state" }
    /// The warnings of the server.
    private final class Warnings: LogSink {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func write(_ entry: LogEntry) {
            lines.withLock { $0.append(entry.text) }
        }
    }

    private let warnings = Warnings()
    private static let secret = try? Accounts.scryptText(password: "secret")

    init() throws {
        folder = try TemporaryFolder()
        for name in ["share", "homes", "state"] { _ = try ExclusiveFolder(path: folder.path + "/" + name) }
    }

    private func path(_ text: String) throws -> ResourcePath {
        try #require(ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))))
    }

    private func account(_ name: String) throws -> AccountChange {
        .addAccount(StoredAccount(name: name, secret: try #require(Self.secret)))
    }

    /// Sends a request as an account, and returns the status.
    private typealias Send = (_ line: String, _ name: String, _ fields: [String]) throws ->
        ChangeEventClient.Answer

    private func serve(_ changes: [AccountChange], _ body: (Send) throws -> Void) throws {
        try SQLiteAccountStore(folder: state).commit(changes)
        let server = try server()
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        let client = ChangeEventClient(address: try #require(addresses.first))
        try body { line, name, fields in
            let credentials = "Authorization: Basic " + Base64.encode(Array("\(name):secret".utf8))
            return try client.send(
                line, [credentials] + fields, content: line.hasPrefix("PUT") ? "text" : "")
        }
    }

    private func server() throws(ServerError) -> WebServer {
        var share = WebDAVShare(folder.path + "/share", stateFolder: state)
        share.homes = .init("/home", folder: folder.path + "/homes")
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .warning
        configuration.logSink = warnings
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        return try WebServer(share, configuration: configuration)
    }

    private func status(_ name: String) -> stat? {
        var status = stat()
        return unsafe lstat(folder.path + "/homes/" + name, &status) == 0 ? status : nil
    }

    /// Without rights, every account could use the home folders of all others.
    @Test func homesRequireAnAccountDatabase() {
        #expect(throws: ServerError.homesWithoutAccounts) { try server() }
    }

    @Test func homeFolderIsCreatedAtTheFirstRequestOfItsAccount() throws {
        try serve([account("anna"), account("ben")]) { send throws in
            #expect(status("anna") == nil)
            #expect(try send("PROPFIND /", "anna", ["Depth: 1"]).content.contains("<D:href>/home/</D:href>"))
            #expect(status("anna").map { $0.st_mode & 0o777 } == 0o700)
            #expect(status("ben") == nil)
            #expect(try send("PUT /home/ben/a", "ben", []).status == 201)
            #expect(status("ben") != nil)
            // An account that could not sign in has no folder.
            #expect(try send("PROPFIND /", "zoe", ["Depth: 1"]).status == 401)
            #expect(status("zoe") == nil)
        }
    }

    @Test func accountMayChangeOnlyItsOwnHomeFolder() throws {
        try serve([account("anna"), account("ben")]) { send throws in
            #expect(try send("PUT /home/anna/a", "anna", []).status == 201)
            #expect(try send("PUT /home/ben/b", "ben", []).status == 201)
            let listing = try send("PROPFIND /", "anna", ["Depth: infinity"]).content
            #expect(listing.contains("<D:href>/home/anna/a</D:href>") && !listing.contains("ben"))
            #expect(try send("GET /home/ben/b", "anna", []).status == 404)
            #expect(try send("PUT /home/ben/c", "anna", []).status == 403)
            #expect(try send("MKCOL /home/other", "anna", []).status == 403)
            #expect(try send("MOVE /home/anna/a", "anna", ["Destination: /home/ben/a"]).status == 403)
            #expect(try send("COPY /home/ben/b", "anna", ["Destination: /home/anna/b"]).status == 404)
            #expect(try send("MOVE /home/anna/a", "anna", ["Destination: /home/anna/c"]).status == 201)
            // The rights would refer to nothing, or to what is created there later.
            #expect(try send("DELETE /home/anna", "anna", []).status == 403)
            #expect(try send("MOVE /home/anna", "anna", ["Destination: /home/anna2"]).status == 403)
        }
    }

    /// What DELETE and MOVE refuse with 403 is not offered.
    @Test func homeFoldersAreShownAsFixed() throws {
        try serve([account("anna")]) { send throws in
            #expect(try send("MKCOL /home/anna/d", "anna", []).status == 201)
            for path in ["/home/", "/home/anna/"] {
                let allow = try #require(try send("OPTIONS \(path)", "anna", [])["Allow"])
                #expect(!allow.contains("DELETE") && !allow.contains("MOVE"), "\(path)")
            }
            let allow = try #require(try send("OPTIONS /home/anna/d/", "anna", [])["Allow"])
            #expect(allow.contains("DELETE") && allow.contains("MOVE"))
            // All rights of `edit` and `share`, and fixed: 63 + 128.
            #expect(
                try send("GET /home/anna/", "anna", ["Accept: text/html"]).content.contains("\"rights\":191"))
            #expect(
                try send("GET /home/anna/d/", "anna", ["Accept: text/html"]).content.contains("\"rights\":63")
            )
        }
    }

    @Test func rulesInHomeFoldersApplyAsUsual() throws {
        let rules: [AccountChange] = try [
            // Rights to the root do not include the home folders of others.
            .setRule(AccessRule(.everyone, .root, .edit)),
            .setRule(AccessRule(.user("admin"), path("home"), .all)),
            .setRule(AccessRule(.user("ben"), path("home/ben"), .view)),
        ]
        try serve([account("anna"), account("ben"), account("admin")] + rules) { send throws in
            #expect(try send("PUT /home/anna/a", "anna", []).status == 201)
            #expect(try send("GET /home/anna/a", "ben", []).status == 404)
            #expect(try send("GET /home/anna/a", "admin", []).status == 200)
            #expect(try send("PUT /home/ben/a", "ben", []).status == 403)
            let share = AccountChange.setRule(AccessRule(.user("ben"), try path("home/anna"), .view))
            #expect(try ControlClient.ask(.accounts(.change([share])), in: state) == .lines([]))
            #expect(try send("GET /home/anna/a", "ben", []).status == 200)

            let explained = try ControlClient.ask(
                .accounts(.explain(ExplainedClient(account: "anna"), path("home/anna/a"))), in: state)
            let rights = Rights.edit.union(.share)
            let own = AccessRule(.user("anna"), try path("home/anna"), rights)
            #expect(
                explained
                    == .lines([AccountListLine.rights(rights).text, AccountListLine.homeRule(own).text]))
            let foreign = try ControlClient.ask(
                .accounts(.explain(ExplainedClient(account: "ben"), path("home/admin"))), in: state)
            let none = AccessRule(.everyone, try path("home"), .none)
            #expect(
                foreign == .lines([AccountListLine.rights(.none).text, AccountListLine.homeRule(none).text]))
            let explicit = try ControlClient.ask(
                .accounts(.explain(ExplainedClient(account: "ben"), path("home/ben"))), in: state)
            let view = AccessRule(.user("ben"), try path("home/ben"), .view)
            #expect(
                explicit == .lines([AccountListLine.rights(.view).text, AccountListLine.rule(view).text]))
        }
    }

    /// Names that are not valid names of folders, or that belong to the server.
    @Test(arguments: ["..", "a/b", ".davit-trashofthisshare", String(repeating: "x", count: 256)])
    func accountWhoseNameIsNoFolderNameHasNoHomeFolder(name: String) throws {
        try serve([account(name), account("anna")]) { send throws in
            #expect(try send("PROPFIND /", name, ["Depth: 1"]).status == 207)
            #expect(try send("PROPFIND /", "anna", ["Depth: 1"]).status == 207)
        }
        #expect(SmallFiles.names(folder.path + "/homes").filter { $0 != "lock" } == ["anna"])
    }

    /// Other programs can remove a home folder at any time.
    @Test func homeFolderIsCreatedAgainAfterItsRemoval() throws {
        try serve([account("anna")]) { send throws in
            #expect(try send("PUT /home/anna/a", "anna", []).status == 201)
            for line in ["PUT /home/anna/b", "PROPFIND /home/anna/", "GET /"] {
                #expect(unsafe system("rm -r '\(folder.path)/homes/anna'") == 0)
                #expect(try send(line, "anna", ["Depth: 1"]).status < 300)
                #expect(status("anna").map { $0.st_mode & 0o777 } == 0o700)
            }
        }
    }

    @Test func failureToCreateAHomeFolderIsReported() throws {
        try SmallFiles.write("text", to: folder.path + "/homes/ben")
        try serve([account("ben"), account("anna")]) { send throws in
            for line in ["PUT /home/ben/a", "PROPFIND /home/ben/", "GET /home/be%6E"] {
                let answer = try send(line, "ben", ["Depth: 1"])
                #expect(answer.status == 500)
                #expect(answer.content.contains("Your home folder cannot be created."))
            }
            #expect(try send("PROPFIND /", "ben", ["Depth: 1"]).status == 207)
            #expect(try send("PROPFIND /home/", "ben", ["Depth: 1"]).status == 207)
            #expect(try send("PUT /home/anna/a", "anna", []).status == 201)
            #expect(unsafe system("rm '\(folder.path)/homes/ben'") == 0)
            #expect(try send("PUT /home/ben/a", "ben", []).status == 201)
        }
        let reports = warnings.all.filter { $0.contains("cannot create home folder") }
        #expect(reports.count == 1 && reports.first?.contains("ben") == true)
    }

    /// An existing folder in another spelling is the home folder; something else is not replaced.
    @Test func existingResourceIsUsedOrLeftAlone() throws {
        _ = try ExclusiveFolder(path: folder.path + "/homes/e\u{301}ve")
        try SmallFiles.write("text", to: folder.path + "/homes/ben")
        try serve([account("\u{E9}ve"), account("ben")]) { send throws in
            #expect(try send("PUT /home/%C3%A9ve/a", "\u{E9}ve", []).status == 201)
            #expect(try send("PROPFIND /", "ben", ["Depth: 1"]).status == 207)
        }
        #expect(try SmallFiles.read(folder.path + "/homes/e\u{301}ve/a") == Array("text".utf8))
        #expect(try SmallFiles.read(folder.path + "/homes/ben") == Array("text".utf8))
    }
}
