import Davit
import DavitCommand
import DavitControl
import DavitSystem
import DavitTesting
import Synchronization
import Testing

/// `davit locks`, with and without a server.
struct LocksCommandTests {
    private let folder: TemporaryFolder
    private let share: String
    private let state: String
    private let lines = Lines()

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    init() throws { (folder, share, state) = try TemporaryFolder.withSharedFolder() }

    /// Runs `body` while a server shares the folder.
    private func withServer(_ body: (ChangeEventClient) throws -> Void) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .warning
        configuration.logSink = .custom { [lines] entry in lines.all.withLock { $0.append(entry.text) } }
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        let server = try WebServer(WebDAVShare(share, stateFolder: state), configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private func text(_ action: LocksOptions.Action) throws -> String {
        try LocksCommand(options: LocksOptions(action, folder: share, stateFolder: state)).text()
    }

    private func locks() throws -> [ListedLock] {
        try LocksCommand(options: LocksOptions(.list, folder: share, stateFolder: state)).locks()
    }

    @discardableResult
    private func lock(_ client: ChangeEventClient, _ target: String, owner: String = "me") throws -> String {
        let body = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype>\
            <D:owner><D:href>\(owner)</D:href></D:owner></D:lockinfo>
            """
        let answer = try client.send("LOCK \(target)", ["Depth: 0"], content: body)
        #expect(answer.status == 200 || answer.status == 201)
        return String((answer["Lock-Token"] ?? "").dropFirst().dropLast())
    }

    @Test func locksAreListedAndEndedByTheRunningServer() throws {
        try withServer { client throws in
            #expect(try text(.list) == "no locks\n")
            let token = try lock(client, "/a%1B%0Ab", owner: "Anna&#x85;[2J \u{202E}x")
            let list = try text(.list)
            #expect(
                list.hasPrefix(
                    "/a\\x1B\\x0Ab\n  shared, depth 0\n  owner: Anna\\xC2\\x85[2J \\xE2\\x80\\xAEx\n  created 20"
                ))
            #expect(list.hasSuffix("\n  token: \(token)\n"))
            #expect(list.contains("Z, expires 20"))
            #expect(try text(.end(.token(token))) == "removed lock: /a\\x1B\\x0Ab  \(token)\n")
            #expect(try client.send("PUT /a%1B%0Ab", content: "1").status == 204)
            #expect(try text(.list) == "no locks\n")
            // The log entry contains all details, without control characters.
            let said = lines.all.withLock { $0 }.filter { $0.contains("lock forcibly removed") }
            try #require(said.count == 1)
            #expect(
                said[0].contains(token) && said[0].contains("Anna") && said[0].contains("a command of user "))
            #expect(said[0].utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        }
    }

    @Test func locksAreListedAndEndedWithoutAServer() throws {
        var tokens: [String] = []
        try withServer { client throws in
            for target in ["/a", "/d%C3%A9", "/a"] { tokens.append(try lock(client, target)) }
        }
        let locks = try locks()
        #expect(locks.map(\.token) == [tokens[0], tokens[2], tokens[1]])
        #expect(locks.map(\.owner) == ["me", "me", "me"])
        #expect(locks.allSatisfy { $0.created != nil && !$0.isDeep && !$0.isExclusive })
        #expect(
            try text(.end(.path(Array("a".utf8))))
                == "removed lock: /a  \(tokens[0])\nremoved lock: /a  \(tokens[2])\n")
        #expect(throws: CommandFailure.noLock("/a", folder: share)) {
            try text(.end(.path(Array("/a".utf8))))
        }
        #expect(throws: CommandFailure.noLock("..", folder: share)) {
            try text(.end(.path(Array("..".utf8))))
        }
        try withServer { client throws in
            #expect(try client.send("PUT /a", content: "1").status == 204)
            #expect(try client.send("PUT /d%C3%A9", content: "1").status == 423)
            #expect(try text(.end(.path(Array("/dé".utf8)))).hasPrefix("removed lock: /dé  "))
            #expect(try client.send("PUT /d%C3%A9", content: "1").status == 204)
        }
    }

    /// The locks do not fit into one response of the server.
    @Test func manyLocksAreAllListed() throws {
        try withServer { client throws in
            for number in 0..<220 { try lock(client, "/\(number)") }
            #expect(try Set(locks().map(\.path)).count == 220)
        }
        #expect(try locks().count == 220)
    }

    @Test func printedLinesAreParsedUnchanged() throws {
        try withServer { client throws in
            try lock(client, "/%FF%20-", owner: "-")
            let lock = try #require(try locks().first)
            #expect(lock.path == [0xFF, 0x20, 0x2D] && lock.owner == "-" && lock.principal == nil)
            #expect(ListedLock(line: lock.line) == lock)
        }
        for line in ["", "a", "= = shared 0 - - - x", "= = shared 1 - - - 5", "= =  0 - - - 5"] {
            #expect(ListedLock(line: line) == nil)
        }
    }

    @Test func missingStateIsAnError() throws {
        #expect(throws: CommandFailure.noState(state, share: share)) { try text(.list) }
    }

    static let words: [(words: [String], invocation: Invocation)] = [
        (["list", "/srv"], .locks(LocksOptions(.list, folder: "/srv"))),
        (
            ["list", "--state-dir", "/s", "/srv"],
            .locks(LocksOptions(.list, folder: "/srv", stateFolder: "/s"))
        ),
        (["break", "/srv", "/a b"], .locks(LocksOptions(.end(.path(Array("/a b".utf8))), folder: "/srv"))),
        (["break", "/srv", "--", "-a"], .locks(LocksOptions(.end(.path(Array("-a".utf8))), folder: "/srv"))),
        (
            ["break", "/srv", "opaquelocktoken:1"],
            .locks(LocksOptions(.end(.token("opaquelocktoken:1")), folder: "/srv"))
        ),
        (["--help"], .help(.locks)), (["list", "-h"], .help(.locks)),
    ]

    @Test(arguments: words)
    func commandLinesAreParsed(words: [String], invocation: Invocation) throws {
        #expect(try Arguments.parse(["locks"] + words) == invocation)
    }

    static let wrong: [(words: [String], error: UsageError)] = [
        (["list"], .missingFolder), (["break", "/srv"], .missingLock),
        (["lst", "/srv"], .unknownCommand("locks lst", nearest: "locks list")),
        (["list", "/srv", "/other"], .unexpectedArgument("/other")),
        (["break", "/srv", "a", "b"], .unexpectedArgument("b")),
        (["list", "/srv", "--state-di"], .unknownOption("--state-di", nearest: "--state-dir")),
    ]

    @Test(arguments: wrong)
    func invalidCommandLinesAreRefused(words: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(["locks"] + words) }
    }
}
