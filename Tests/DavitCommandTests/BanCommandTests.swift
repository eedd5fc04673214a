import Davit
import DavitCommand
import DavitControl
import DavitServer
import DavitSystem
import DavitTesting
import Testing

/// `davit ban`, with and without a server.
struct BanCommandTests {
    private let folder: TemporaryFolder
    private let share: String
    private let state: String

    init() throws { (folder, share, state) = try TemporaryFolder.withSharedFolder() }

    /// Runs `body` while a server shares the folder. Its clients are those of a proxy on this machine.
    private func withServer(_ body: (ChangeEventClient) throws -> Void) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.proxies.trusted = ["127.0.0.1"]
        configuration.bans.exempt = ["10.0.0.0/8"]
        let server = try WebServer(WebDAVShare(share, stateFolder: state), configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private func command(_ action: BanOptions.Action) -> BanCommand {
        BanCommand(options: BanOptions(action, folder: share, stateFolder: state))
    }

    private func text(_ action: BanOptions.Action) throws -> String { try command(action).text() }

    private func status(_ client: ChangeEventClient, _ address: String) throws -> Int {
        try client.send("OPTIONS /", ["X-Forwarded-For: \(address)"]).status
    }

    @Test func bansAreAddedAndRemovedWithAndWithoutAServer() throws {
        try withServer { client throws in
            #expect(try text(.list) == "no bans\n")
            #expect(try status(client, "192.0.2.1") == 200)
            #expect(
                try text(.add(address: "192.0.2.1", minutes: 60)).hasPrefix("banned 192.0.2.1 until 2"))
            #expect(try status(client, "192.0.2.1") == 403)
            #expect(throws: CommandFailure.other("this address is never banned")) {
                try text(.add(address: "10.1.2.3", minutes: 60))
            }
        }
        // The ban is stored.
        #expect(try text(.list).hasPrefix("192.0.2.1  until 2"))
        #expect(
            try text(.add(address: "2001:db8::1", minutes: 1)).hasPrefix("banned 2001:db8:0:0::/64 until"))
        #expect(try command(.list).bans().map(\.network) == ["2001:db8:0:0::/64", "192.0.2.1"])
        #expect(throws: CommandFailure.other("this address is never banned")) {
            try text(.add(address: "127.0.0.1", minutes: 60))
        }
        try withServer { client throws in
            #expect(try status(client, "2001:db8::ffff") == 403)
            #expect(try text(.remove(address: "192.0.2.1")) == "removed ban: 192.0.2.1\n")
            #expect(try status(client, "192.0.2.1") == 200)
            #expect(throws: CommandFailure.other("this address is not banned")) {
                try text(.remove(address: "192.0.2.1"))
            }
            #expect(
                throws: CommandFailure.other(
                    "'example.com' is not an IPv4 address, an IPv6 address or an IPv6 /64 network, such as 192.0.2.7 or "
                        + "2001:db8::/64")
            ) {
                try text(.add(address: "example.com", minutes: 60))
            }
        }
        #expect(try text(.remove(address: "2001:db8:0:0::/64")) == "removed ban: 2001:db8:0:0::/64\n")
        #expect(try text(.list) == "no bans\n")
    }

    /// The bans do not fit into one response of the server.
    @Test func manyBansAreAllListed() throws {
        try withServer { _ throws in
            for number in 0..<220 { _ = try text(.add(address: "192.0.2.\(number)", minutes: 60)) }
            #expect(try Set(command(.list).bans().map(\.network)).count == 220)
        }
        #expect(try command(.list).bans().count == 220)
    }

    @Test func printedLinesAreParsedUnchanged() {
        let ban = Ban(network: "2001:db8:0:0::/64", count: 3, since: 5, until: .max, reason: .failedLogins)
        #expect(ListedBan(line: ListedBan(ban).line)?.ban == ban)
        for line in ["", "a", "a 1 2 3 other", "a 01 2 3 command", " 1 2 3 command", "a 1 2 3 command "] {
            #expect(ListedBan(line: line) == nil)
        }
    }

    static let words: [(words: [String], invocation: Invocation)] = [
        (["list", "/srv"], .ban(BanOptions(.list, folder: "/srv"))),
        (
            ["add", "/srv", "192.0.2.1"],
            .ban(BanOptions(.add(address: "192.0.2.1", minutes: 1440), folder: "/srv"))
        ),
        (
            ["add", "--minutes=5", "/srv", "::1", "--state-dir", "/s"],
            .ban(BanOptions(.add(address: "::1", minutes: 5), folder: "/srv", stateFolder: "/s"))
        ),
        (["remove", "/srv", "a"], .ban(BanOptions(.remove(address: "a"), folder: "/srv"))),
        (["list", "--help"], .help(.ban)),
    ]

    @Test(arguments: words)
    func commandLinesAreParsed(words: [String], invocation: Invocation) throws {
        #expect(try Arguments.parse(["ban"] + words) == invocation)
    }

    static let wrong: [(words: [String], error: UsageError)] = [
        (["list"], .missingFolder), (["add", "/srv"], .missingArgument("ADDRESS")),
        (["remove", "/srv"], .missingArgument("ADDRESS")),
        (["lst", "/srv"], .unknownCommand("ban lst", nearest: "ban list")),
        (["list", "/srv", "/other"], .unexpectedArgument("/other")),
        (["add", "/srv", "a", "b"], .unexpectedArgument("b")),
        (["list", "/srv", "--minutes", "5"], .useless(option: "--minutes", without: "'davit ban add'")),
        (
            ["add", "/srv", "a", "--minutes", "0"],
            .badNumber("0", option: "--minutes", range: 1...5_256_000)
        ),
        (["add", "/srv", "--minute=5", "a"], .unknownOption("--minute", nearest: "--minutes")),
    ]

    @Test(arguments: wrong)
    func invalidCommandLinesAreRefused(words: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(["ban"] + words) }
    }
}
