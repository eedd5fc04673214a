import DavitEngine
import DavitSQLite
import DavitStore
import DavitTesting
import Testing

/// The effects of changes by other programs, of time, and of restarts.
struct OutsideChangeTests {
    static let scenarios: [Scenario] = [
        Scenario(
            "A file that replaces another inherits neither its properties nor its lock",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], setProperty("p", "one"), 207),
                lock("/a", depth: "0"), shell("echo new > b && mv b a"), step("PUT /a", [], "y", 204),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, lacks: [">one</", "$1"]),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 409), lock("/a", depth: "0"),
                step("PUT /a", [("If", "(<$2>)")], "z", 204),
            ]),
        Scenario(
            "A file that is edited in place keeps its properties and its lock",
            [
                step("PUT /a", [], "x", 201), step("PROPPATCH /a", [], setProperty("p", "one"), 207),
                lock("/a", depth: "0"), step("PUT /a", [("If", "(<$1>)")], "y", 204),
                shell("echo more >> a"), step("PUT /a", [], "z", 423),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: [">one</", "$1"]),
                step("PUT /a", [("If", "(<$1>)")], "z", 204),
                step("PUT /a", [("If", "(<$1>)")], "zz", 204),
                step("PROPFIND /a", [("Depth", "0")], nil, 207, holds: [">one</", "$1"]),
            ]),
        Scenario(
            "The lock of a collection renamed by another program has no effect",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                step("PROPPATCH /d/a", [], setProperty("p", "one"), 207), lock("/d"), shell("mv d e"),
                step("PUT /e/a", [], "y", 204), step("MKCOL /d", [], nil, 201),
                step("PUT /d/a", [], "new", 201),
                step("PROPFIND /d", [], nil, 207, lacks: [">one</", "$1"]),
                step("MOVE /d", [("Destination", "/f")], nil, 201),
                step("PROPFIND /f", [], nil, 207, lacks: [">one</"]),
            ]),
        Scenario(
            "A new resource does not inherit the rows of a removed one",
            [
                step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                step("PROPPATCH /d/a", [], setProperty("p", "old"), 207), shell("rm d/a"),
                step("PUT /b", [], "x", 201), step("PROPPATCH /b", [], setProperty("p", "new"), 207),
                step("COPY /b", [("Destination", "/d/a")], nil, 201),
                step("PROPFIND /d/a", [("Depth", "0")], nil, 207, holds: [">new</"], lacks: [">old</"]),
                shell("rm d/a"), step("MOVE /b", [("Destination", "/d/a")], nil, 201),
                step("PROPFIND /d/a", [("Depth", "0")], nil, 207, holds: [">new</"], lacks: [">old</"]),
                step("COPY /d", [("Destination", "/e")], nil, 201),
                step("PROPFIND /e", [], nil, 207, holds: [">new</"]),
            ]),
        Scenario(
            "RFC 4918 §6.6: an expired lock has no effect, and its token is invalid",
            [
                step("PUT /a", [], "x", 201), lock("/a", depth: "0", fields: [("Timeout", "Second-100")]),
                later(seconds: 99), step("PUT /a", [], "y", 423),
                step("LOCK /a", [("If", "(<$1>)"), ("Timeout", "Second-100")], nil, 200),
                later(seconds: 99), step("PUT /a", [], "y", 423), later(seconds: 1),
                step("LOCK /a", [("If", "(<$1>)")], nil, 412), step("PUT /a", [("If", "(<$1>)")], "y", 412),
                step("UNLOCK /a", [("Lock-Token", "<$1>")], nil, 409), step("PUT /a", [], "y", 204),
                lock("/a", depth: "0"), later(seconds: -1000), step("PUT /a", [("If", "(<$1>)")], "z", 412),
                step("PUT /a", [("If", "(<$2>)")], "z", 204),
            ]),
    ]

    @Test(arguments: scenarios)
    func responsesMatchTheScenario(_ scenario: Scenario) async throws {
        try await TestShare.play(scenario)
    }

    @Test func expiredLocksAreRemovedFromTheStore() async throws {
        let store = MemoryStateStore()
        let share = try TestShare(state: store)
        try await share.play(
            Scenario(
                "RFC 4918 §6.6",
                [
                    step("PUT /a", [], "x", 201),
                    lock("/a", depth: "0", fields: [("Timeout", "Second-100")]),
                    later(seconds: 100), step("PUT /b", [], "x", 201),
                ]))
        #expect(try store.locks().isEmpty)
        #expect(!share.state.hasLocks)
    }

    @Test func tokenOfALockThatExpiresDuringAnUploadIsRefused() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "old")
        let body = lockBody(scope: "exclusive")
        let fields = [("Depth", "0"), ("Timeout", "Second-100")]
        let first = try await share.client.send("LOCK", "/a", fields, text: body)["Lock-Token"] ?? ""
        let stalled = StalledBody(first: [UInt8](repeating: 1, count: 100_000))
        async let slow = share.client.send("PUT", "/a", [("If", "(\(first))")], body: stalled)
        await stalled.isWaiting.wait()
        share.wait(seconds: 200)
        // Another client holds the lock now.
        let second = try await share.client.send("LOCK", "/a", fields, text: body)
        #expect(second.status == 200)
        stalled.mayEnd.open()
        #expect(try await slow.status == 412)
        #expect(try await share.client.send("GET", "/a").text == "old")
    }

    @Test func locksAndPropertiesSurviveARestart() async throws {
        let (folder, stateFolder) = (try TemporaryFolder(), try TemporaryFolder())
        let first = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
        try await first.play(
            Scenario(
                "before",
                [
                    step("MKCOL /d", [], nil, 201), step("PUT /d/a", [], "x", 201),
                    step("PROPPATCH /d/a", [], setProperty("p", "one"), 207),
                    step("PUT /d/a", [], "y", 204),
                    step("MOVE /d", [("Destination", "/e")], nil, 201),
                    step("COPY /e", [("Destination", "/f")], nil, 201), lock("/e/a", depth: "0"),
                    step("PUT /e/a", [("If", "(<$1>)")], "z", 204),
                ]))
        let second = try TestShare(folder, state: SQLiteStateStore(folder: stateFolder.path))
        try await second.play(
            Scenario(
                "after",
                [
                    step("PROPFIND /e/a", [("Depth", "0")], nil, 207, holds: [">one</", "Second-1800"]),
                    step("PROPFIND /f/a", [("Depth", "0")], nil, 207, holds: [">one</"]),
                    step("PUT /e/a", [], "no", 423), step("PUT /f/a", [], "yes", 204),
                ]))
    }
}
