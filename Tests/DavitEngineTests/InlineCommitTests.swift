import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Which changes run on the event loop, and which on a thread that may block.
struct InlineCommitTests {
    typealias Request = (method: String, target: String, fields: [(String, String)], body: String?)

    /// Changes of a single name; `#` is replaced by a new number each time.
    static let singleNameChanges: [Request] = [
        ("PUT", "/new#", [], "1"), ("PUT", "/file", [], "2"), ("MKCOL", "/folder#", [], nil),
        ("MOVE", "/folder", [("Destination", "/moved#")], nil),
        ("MOVE", "/old", [("Destination", "/file")], nil), ("DELETE", "/old", [], nil),
    ]

    private func makeShare(in parent: String) async throws -> TestShare {
        let share = try TestShare(TemporaryFolder(in: parent))
        try await prepare(share)
        return share
    }

    /// Recreates resources that the previous request may have removed.
    private func prepare(_ share: TestShare) async throws {
        #expect(share.shell("mkdir -p folder tree/inner; echo 1 >file; echo 1 >old") == 0)
    }

    private func send(_ request: Request, number: Int, to share: TestShare) async throws -> UInt16 {
        func filled(_ text: String) -> String { text.replacing("#", with: "\(number)") }
        return try await share.client.send(
            request.method, filled(request.target), request.fields.map { ($0.0, filled($0.1)) },
            body: request.body.map { Array($0.utf8) }
        ).status
    }

    @Test func singleNameChangesInMemoryRunInline() async throws {
        let share = try await makeShare(in: "/dev/shm")
        for request in Self.singleNameChanges {
            var hops = Int.max
            // The kernel may return EAGAIN if other names change at the same time.
            for number in 0..<1_000 where hops != 0 {
                try await prepare(share)
                let before = share.hopCount
                let status = try await send(request, number: number, to: share)
                #expect(status == 201 || status == 204, "\(request)")
                hops = share.hopCount - before
            }
            #expect(hops == 0, "\(request)")
        }
    }

    /// Changes on the event loop first assume that a name is free; a wrong assumption must not affect the
    /// response.
    @Test(
        arguments: [
            ("MKCOL", "/file", [], nil, 405), ("MKCOL", "/folder", [], nil, 405),
            ("MKCOL", "/link", [], nil, 403),
            ("MKCOL", "/none/a", [], nil, 409), ("MKCOL", "/new", [("If-Match", "*")], nil, 412),
            ("MKCOL", "/file", [("If-None-Match", "*")], nil, 405), ("MKCOL", "/new", [], "x", 415),
            ("DELETE", "/none", [], nil, 404), ("DELETE", "/file", [("If-Match", "\"x\"")], nil, 412),
            ("DELETE", "/file/", [], nil, 404), ("PUT", "/folder", [], "x", 405),
            ("PUT", "/file", [("If-None-Match", "*")], "x", 412), ("PUT", "/none/a", [], "x", 409),
            ("MOVE", "/old", [("Destination", "/file"), ("Overwrite", "F")], nil, 412),
            ("MOVE", "/old", [("Destination", "/none/a")], nil, 409),
            ("MOVE", "/old", [("Destination", "/old")], nil, 403),
            ("MOVE", "/old", [("Destination", "http://elsewhere/a")], nil, 502),
            ("MOVE", "/none", [("Destination", "/file")], nil, 404), ("MOVE", "/old", [], nil, 400),
        ] as [(String, String, [(String, String)], String?, UInt16)])
    func refusalIsTheSameInMemoryAndOnDisk(
        method: String, target: String, fields: [(String, String)], body: String?, status: UInt16
    ) async throws {
        for parent in ["/dev/shm", "/tmp"] {
            let share = try await makeShare(in: parent)
            #expect(share.shell("ln -s nowhere link") == 0)
            #expect(
                try await send((method, target, fields, body), number: 0, to: share) == status, "\(parent)")
            #expect(share.shell("[ -d folder ] && [ ! -e new ] && cmp file old") == 0, "\(parent)")
            #expect(share.share.pathLocks.count == 0)
        }
    }

    @Test func changesOnDiskRunOnAnotherThread() async throws {
        let share = try await makeShare(in: "/tmp")
        for request in Self.singleNameChanges {
            try await prepare(share)
            let before = share.hopCount
            #expect(try await send(request, number: 0, to: share) < 300, "\(request)")
            #expect(share.hopCount == before + 1, "\(request)")
        }
    }

    /// Content that arrives after the head, for example because the client waits for 100 Continue.
    private final class LateContent: RequestBody {
        private var rest: [UInt8]
        private let whenRead: () -> Void
        let declaredLength: Int64?

        init(_ text: String, _ whenRead: @escaping () -> Void) {
            rest = Array(text.utf8)
            declaredLength = Int64(rest.count)
            self.whenRead = whenRead
        }

        var isPresent: Bool { true }

        func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
            whenRead()
            let count = buffer.append(rest)
            rest = []
            return count
        }
    }

    /// The lookup and the checks are repeated when the content has arrived, at the time of its arrival.
    @Test(arguments: ["/dev/shm", "/tmp"], [false, true])
    func contentThatArrivesLaterIsCommittedAtItsArrival(parent: String, isAnnounced: Bool) async throws {
        let fields = isAnnounced ? [("Expect", "100-continue")] : []
        let share = try await makeShare(in: parent)
        let first = LateContent("2") { #expect(share.shell("rmdir folder; ln -s tree folder") == 0) }
        #expect(try await share.client.send("PUT", "/folder/a", fields, body: first).status == 201)
        #expect(share.shell("[ \"$(cat tree/a)\" = 2 ]") == 0)

        let lock = try await share.client.send(
            "LOCK", "/file", [("Timeout", "Second-60")], text: lockBody(scope: "exclusive"))
        let condition = ("If", "(\(try #require(lock["Lock-Token"])))")
        let locked = LateContent("3") {}
        #expect(
            try await share.client.send("PUT", "/file", fields + [condition], body: locked).status == 204)
        let late = LateContent("4") { share.wait(seconds: 61) }
        #expect(try await share.client.send("PUT", "/file", fields + [condition], body: late).status == 412)
        #expect(share.shell("[ \"$(cat file)\" = 3 ]") == 0)

        let other = try await share.client.send(
            "LOCK", "/old", [("Timeout", "Second-60")], text: lockBody(scope: "exclusive"))
        #expect(other.status == 200)
        let unlocked = LateContent("5") { share.wait(seconds: 61) }
        let status = try await share.client.send("PUT", "/old", fields, body: unlocked).status
        #expect(status == (isAnnounced ? 423 : 204))
        #expect(share.share.pathLocks.count == 0)
    }

    /// Changes in one folder belong to one sequence, whether they run as one job or in a task.
    @Test func changesInOneFolderBelongToOneSequence() async throws {
        let share = try await makeShare(in: "/tmp")
        for target in ["/a", "/b", "/folder/a", "/folder/b", "/tree/a"] {
            #expect(try await send(("PUT", target, [], "1"), number: 0, to: share) == 201)
        }
        let large = String(repeating: "x", count: 100_000)
        #expect(try await send(("PUT", "/folder/c", [], large), number: 0, to: share) == 201)
        let found = share.sequences
        try #require(found.count == 6)
        #expect(found[0] == found[1])
        #expect(found[2] == found[3] && found[3] == found[5])
        #expect(Set(found).count == 3)
    }

    /// Changes that wait for the disk share the wait.
    @Test func changesThatAreSyncedBelongToNoSequence() async throws {
        for sync in [SyncLevel.data, .full] {
            let share = try TestShare(TemporaryFolder(in: "/tmp"), sync: sync)
            #expect(try await send(("PUT", "/a", [], "1"), number: 0, to: share) == 201)
            #expect(share.hopCount > 0)
            #expect(share.sequences.isEmpty)
        }
    }

    /// The steps of a change that cannot run on the event loop run in one job, also with a lock.
    @Test(arguments: ["/dev/shm", "/tmp"])
    func changesOfLockedFilesRunInOneJob(parent: String) async throws {
        let share = try await makeShare(in: parent)
        let answer = try await share.client.send("LOCK", "/file", text: lockBody(scope: "exclusive"))
        let token = try #require(answer["Lock-Token"])
        let before = share.hopCount
        #expect(
            try await send(("PUT", "/file", [("If", "(\(token))")], "2"), number: 0, to: share) == 204)
        #expect(share.hopCount == before + 1)
        #expect(try await send(("PUT", "/file", [], "3"), number: 0, to: share) == 423)
        #expect(share.hopCount <= before + 2)
        #expect(share.shell("[ \"$(cat file)\" = 2 ]") == 0)
        #expect(share.share.pathLocks.count == 0)
    }

    /// Copies, and changes of collections with members, of large content, and of resources with stored rows.
    @Test func longChangesRunOnAnotherThread() async throws {
        let share = try await makeShare(in: "/dev/shm")
        #expect(share.shell("head -c 2000000 /dev/zero >large; cp large larger; mkdir rows") == 0)
        let patch: Request = ("PROPPATCH", "/rows/a", [], setProperty("p", "1"))
        let requests: [Request] = [
            ("PUT", "/large", [], "1"), ("DELETE", "/larger", [], nil), ("DELETE", "/tree", [], nil),
            ("PUT", "/rows/a", [], "1"), ("MOVE", "/rows", [("Destination", "/rows2")], nil),
            ("COPY", "/file", [("Destination", "/copy")], nil), ("DELETE", "/rows2/a", [], nil),
        ]
        #expect(try await send(("PUT", "/rows/a", [], "0"), number: 0, to: share) == 201)
        #expect(try await send(patch, number: 0, to: share) == 207)
        for request in requests {
            let before = share.hopCount
            #expect(try await send(request, number: 0, to: share) < 300, "\(request)")
            #expect(share.hopCount > before, "\(request)")
        }
    }
}
