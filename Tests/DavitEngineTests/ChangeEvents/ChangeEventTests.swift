import DavitEngine
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// GET with `?events`: which changes are reported to which clients, and in which format.
struct ChangeEventTests {
    typealias Event = EventReader.Event

    @Test func changesByClientsAndOtherProgramsAreReported() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir d") == 0)
        let reader = try await share.events("/?events")
        #expect(try await share.client.send("PUT", "/a", text: "1").status == 201)
        #expect(try await reader.next() == Event("change", "+ /a"))
        #expect(share.shell("mkdir b") == 0)
        #expect(try await reader.next() == Event("change", "+ /b/"))
        #expect(share.shell("rmdir b") == 0)
        #expect(try await reader.next() == Event("change", "- /b/"))
        #expect(try await share.client.send("MKCOL", "/c").status == 201)
        #expect(try await reader.next() == Event("change", "+ /c/"))
        // Changes inside member collections are not reported.
        #expect(share.shell("mkdir d/inner; rmdir c") == 0)
        #expect(try await reader.next() == Event("change", "- /c/"))
    }

    /// Every name fits on one line and is percent-encoded, so that clients can request it unmodified.
    static let names: [(shell: String, line: String)] = [
        (#"touch "$(printf 'a\nb')""#, "+ /d%20%25/a%0Ab"),
        (#"touch "$(printf 'x\377')""#, "+ /d%20%25/x%FF"),
        (#"touch "$(printf 'data: \033')""#, "+ /d%20%25/data%3A%20%1B"),
        (#"touch 'a+b&c;d?e#f%20'"#, "+ /d%20%25/a%2Bb%26c%3Bd%3Fe%23f%2520"),
        (#"mkdir é"#, "+ /d%20%25/%C3%A9/"),
    ]

    @Test(arguments: names)
    func everyNameIsEscaped(shell: String, line: String) async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir 'd %'") == 0)
        let reader = try await share.events("/d%20%25?events")
        #expect(share.shell("cd 'd %'; \(shell)") == 0)
        #expect(try await reader.next() == Event("change", line))
    }

    @Test func oneStreamCanWatchSeveralFolders() async throws {
        let share = try TestShare.live()
        #expect(share.shell(#"mkdir -p a/x 'b c' "$(printf 'z\377')" other"#) == 0)
        let reader = try await share.events("/?events&in=a/x/&in=b%20c&in=z%FF/&in=gone/&in=a/x")
        #expect(try await reader.next() == Event("gone", "/gone/"))
        #expect(
            share.shell(
                #"mkdir a/x/1 other/1 a/1; cd 'b c'; mkdir 2; cd ..; cd "$(printf 'z\377')"; mkdir 3"#) == 0)
        var told: Set<String> = []
        while told.count < 3, let event = try await reader.next() { told.formUnion(event.lines) }
        #expect(told == ["+ /a/x/1/", "+ /b%20c/2/", "+ /z%FF/3/"])
        // Removing one folder ends only its own watch.
        #expect(share.shell("rm -r a; mkdir 'b c/4'") == 0)
        var last: [String] = []
        while last.count < 2, let event = try await reader.next() {
            last += event.lines.map { event.name + " " + $0 }.filter { !$0.hasSuffix("/1/") }
        }
        #expect(Set(last) == ["gone /a/x/", "change + /b%20c/4/"])
    }

    @Test func infiniteDepthReportsAllDescendants() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir -p a/b/c e") == 0)
        let reader = try await share.events("/a/?events&depth=infinity")
        #expect(share.shell("mkdir e/1 a/b/c/d") == 0)
        #expect(try await reader.next() == Event("change", "+ /a/b/c/d/"))
        #expect(share.shell("rm -r a/b/c") == 0)
        var told: [String] = []
        while !told.contains("- /a/b/c/"), let event = try await reader.next() { told += event.lines }
        #expect(told.last == "- /a/b/c/")
    }

    /// The folder or one of its ancestors is removed or renamed, or something else takes its name.
    @Test(arguments: [
        "rmdir a/b", "mv a/b a/c", "mv a c", "rm -r a", "rmdir a/b; echo 1 > a/b", "rmdir a/b; ln -s . a/b",
    ])
    func streamEndsWhenItsFolderIsRemoved(commands: String) async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir -p a/b") == 0)
        let reader = try await share.events("/a/b/?events")
        #expect(share.shell(commands) == 0)
        #expect(try await reader.next() == Event("gone", "/a/b/"))
        #expect(try await reader.next() == nil)
    }

    @Test func streamContinuesOrEndsWhenItsFolderIsReplaced() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir -p a n; touch a/old n/new") == 0)
        let reader = try await share.events("/a/?events")
        #expect(share.shell("mv -T a o; mv -T n a") == 0)
        var told: [Event] = []
        while let event = try await reader.next() {
            told.append(event)
            if event.lines.contains("+ /a/new") || event.name == "gone" { break }
        }
        // The feed may have read the folder at a moment when it was missing.
        #expect(told.last == Event("gone", "/a/") || told.last?.lines.contains("+ /a/new") == true)
    }

    @Test func hiddenNamesAreNotReported() async throws {
        let share = try TestShare.live {
            $0.rules.allowsHiddenItems = false
            $0.rules.allowedExtensions = ["txt"]
        }
        let reader = try await share.events("/?events")
        #expect(share.shell("touch .h a.exe; mkdir .d; rm .h a.exe; touch a.txt") == 0)
        #expect(try await reader.next() == Event("change", "+ /a.txt"))
    }

    @Test func hrefsIncludeTheMountPrefix() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir d; ln -s d link") == 0)
        let router = Router { $0.mount("/x/files", WebDAVHandler(share: share.share, page: nil)) }
        let client = TestClient(router)
        for (target, href) in [
            ("/x/f%69les?events&in=d/", "/x/f%69les/d/"), ("/x/files/link/?events", "/x/files/link/"),
            ("/x/files/?events&in=link", "/x/files/link/"),
        ] {
            let reader = try await share.events(target, client)
            #expect(share.shell("mkdir d/a") == 0)
            #expect(try await reader.next() == Event("change", "+ \(href)a/"))
            #expect(share.shell("rmdir d/a") == 0)
            #expect(try await reader.next() == Event("change", "- \(href)a/"))
        }
    }

    // MARK: Locks

    @Test func lockChangesAreReported() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir -p d/e; touch d/a d/e/b f") == 0)
        let reader = try await share.events("/d/?events")
        func lock(_ target: String, depth: String = "0", _ fields: [(String, String)] = []) async throws
            -> String
        {
            let answer = try await share.client.send(
                "LOCK", target, [("Depth", depth), ("Timeout", "Second-60")] + fields,
                text: lockBody(scope: "shared"))
            #expect(answer.status == 200)
            return answer["Lock-Token"] ?? ""
        }
        let first = try await lock("/d/a")
        #expect(try await reader.next() == Event("locks", "/d/a"))
        // Refreshing a lock is not reported, and neither are locks elsewhere.
        #expect(try await share.client.send("LOCK", "/d/a", [("If", "(\(first))")]).status == 200)
        _ = try await lock("/f")
        _ = try await lock("/d/e/b")
        _ = try await lock("/")
        #expect(try await share.client.send("UNLOCK", "/d/a", [("Lock-Token", first)]).status == 204)
        #expect(try await reader.next() == Event("locks", "/d/a"))
        _ = try await lock("/d/e", depth: "infinity")
        #expect(try await reader.next() == Event("locks", "/d/e/"))
        // Lock an ancestor, which also covers the folder.
        let outer = try await lock("/", depth: "infinity")
        #expect(try await reader.next() == Event("locks", "/d/"))
        #expect(try await share.client.send("UNLOCK", "/", [("Lock-Token", outer)]).status == 204)
        #expect(try await reader.next() == Event("locks", "/d/"))
        _ = try await lock("/d/")
        #expect(try await reader.next() == Event("locks", "/d/"))
        // The locks expire.
        share.wait(seconds: 3600)
        #expect(share.share.changeEvents?.poll() == true)
        var told: Set<String> = []
        while told.count < 2, let event = try await reader.next() { told.formUnion(event.lines) }
        #expect(told == ["/d/", "/d/e/"])
        #expect(!share.state.hasLocks)
    }

    @Test func lockOnANewNameReportsNameAndLock() async throws {
        let share = try TestShare.live()
        let reader = try await share.events("/?events")
        let answer = try await share.client.send("LOCK", "/new", text: lockBody(scope: "exclusive"))
        #expect(answer.status == 201)
        var told: Set<Event> = []
        while told.count < 2, let event = try await reader.next() { told.insert(event) }
        #expect(told == [Event("locks", "/new"), Event("change", "+ /new")])
    }
}
