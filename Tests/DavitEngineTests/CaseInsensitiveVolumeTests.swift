import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting
import Testing

/// Names on a volume that ignores the case of letters. The volume is simulated, because few Linux machines
/// have one.
struct CaseInsensitiveVolumeTests {
    private let folder: TemporaryFolder
    private let client: TestClient<WebDAVHandler>
    private let share: Share

    init() throws {
        folder = try TemporaryFolder(in: "/dev/shm")
        // The simulation changes the names in system calls, so each call must resolve a single name.
        share = Share(
            resources: try FileResourceStore(root: folder.path, walksComponents: true),
            state: try IndexedShareState(store: MemoryStateStore()), work: CallerThreadWork(),
            configuration: ShareConfiguration(), now: { Timestamp(seconds: 1_800_000_000) }, report: { _ in })
        client = TestClient(WebDAVHandler(share: share, page: nil))
    }

    private func names() async throws -> [String] {
        let listing = try await client.send("PROPFIND", "/", [("Depth", "1")]).text
        return listing.split(separator: "<D:href>").dropFirst(2).map {
            String($0.prefix { $0 != "<" })
        }.sorted()
    }

    @Test(arguments: [false, true], ["F", "T"])
    func caseOnlyRenameKeepsTheFile(respells: Bool, overwrite: String) async throws {
        let plan = FaultPlan(folding: CaseInsensitiveVolume(respells: respells))
        try await FileFaults.$plan.withValue(plan) { () async throws in
            #expect(try await client.send("PUT", "/foo", text: "kept").status == 201)
            #expect(try await client.send("GET", "/FOO").text == "kept")
            let set = try await client.send("PROPPATCH", "/foo", text: setProperty("a", "value"))
            #expect(set.status == 207)
            let move = [("Destination", "/Foo"), ("Overwrite", overwrite)]
            #expect(try await client.send("MOVE", "/foo", move).status == 201)
            #expect(try await names() == ["/Foo"])
            #expect(try await client.send("GET", "/Foo").text == "kept")
            let asked = try await client.send("PROPFIND", "/Foo", [("Depth", "0")], text: askProperty("a"))
            #expect(asked.text.contains(">value<"))
            // A file without dead properties or locks uses another code path.
            #expect(try await client.send("PUT", "/bar", text: "bar").status == 201)
            let back = [("Destination", "/BAR"), ("Overwrite", overwrite)]
            #expect(try await client.send("MOVE", "/bar", back).status == 201)
            #expect(try await names() == ["/BAR", "/Foo"])
            #expect(try await client.send("GET", "/bar").text == "bar")
        }
    }

    @Test(arguments: [false, true])
    func copyAndMoveOntoTheSameFileAreForbidden(respells: Bool) async throws {
        let plan = FaultPlan(folding: CaseInsensitiveVolume(respells: respells))
        try await FileFaults.$plan.withValue(plan) { () async throws in
            #expect(try await client.send("PUT", "/foo", text: "kept").status == 201)
            #expect(try await client.send("COPY", "/foo", [("Destination", "/Foo")]).status == 403)
            #expect(try await client.send("MOVE", "/foo", [("Destination", "/foo")]).status == 403)
            #expect(try await names() == ["/foo"])
        }
    }

    @Test(arguments: [false, true])
    func caseOnlyRenameKeepsTheMembersOfAFolder(respells: Bool) async throws {
        let plan = FaultPlan(folding: CaseInsensitiveVolume(respells: respells))
        try await FileFaults.$plan.withValue(plan) { () async throws in
            #expect(try await client.send("MKCOL", "/foo").status == 201)
            #expect(try await client.send("PUT", "/foo/a", text: "kept").status == 201)
            #expect(try await client.send("MOVE", "/foo", [("Destination", "/FOO/")]).status == 201)
            #expect(try await names() == ["/FOO/"])
            #expect(try await client.send("GET", "/FOO/a").text == "kept")
        }
    }

    /// Recovery replaces content with a rename, which must not remove the only name of a file.
    @Test(arguments: [false, true])
    func replacingRenameOntoTheSameFileKeepsIt(respells: Bool) async throws {
        try folder.makeFile("foo")
        let store = try FileResourceStore(root: folder.path, walksComponents: true)
        try FileFaults.$plan.withValue(FaultPlan(folding: CaseInsensitiveVolume(respells: respells))) {
            () throws in
            let (foo, other) = (
                ResourcePath.root.appending("foo".utf8), ResourcePath.root.appending("Foo".utf8)
            )
            try store.rename(#require(foo), overContent: #require(other))
        }
        #expect(try store.identity(at: #require(ResourcePath.root.appending("Foo".utf8))) != nil)
        #expect(try store.identity(at: #require(ResourcePath.root.appending("foo".utf8))) == nil)
    }
}

/// Runs work on the caller's thread, because the simulated volume is a task-local value of the test.
private struct CallerThreadWork: BlockingWorkRunner {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
}
