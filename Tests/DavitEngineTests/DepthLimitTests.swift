import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// No change creates folders deeper than `ShareConfiguration.maximumDepth`.
struct DepthLimitTests {
    private static let limit = 6

    private func makeShare(
        _ folder: TemporaryFolder? = nil, hasTrash: Bool = false
    ) throws -> TestShare {
        let share = try TestShare(folder) {
            $0.maximumDepth = Self.limit
            if hasTrash { $0.trash = TrashLimits() }
        }
        #expect(share.shell("mkdir -p \(Self.chain(Self.limit))") == 0)
        return share
    }

    /// The path `d1/d2/…` with `levels` segments.
    private static func chain(_ levels: Int) -> String {
        (1...levels).map { "d\($0)" }.joined(separator: "/")
    }

    private func transfer(
        _ method: String, _ source: String, to destination: String, in share: TestShare
    ) async throws -> TestResponse {
        try await share.client.send(method, source, [("Destination", destination)])
    }

    /// Counts how often the height of a tree is measured from now on.
    private func countMeasurements(of share: TestShare) -> Counter {
        let counter = Counter()
        share.resources.watch { call in
            if call == .measureHeight { counter.count.add(1, ordering: .relaxed) }
            return nil
        }
        return counter
    }

    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
    }

    typealias Request = (
        name: String, method: String, query: String, fields: [(String, String)], body: String?, status: UInt16
    )

    /// Requests that create `new` in a collection. The target is the name `new`, or the collection itself for
    /// the tus upload and for a request with a query.
    static let requests: [Request] = [
        ("MKCOL", "MKCOL", "", [], nil, 201),
        (
            "extended MKCOL", "MKCOL", "", [("Content-Type", "application/xml")],
            "<D:mkcol xmlns:D=\"DAV:\"><D:set><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:set></D:mkcol>",
            201
        ),
        ("PUT", "PUT", "", [], "x", 201),
        ("large PUT", "PUT", "", [], String(repeating: "x", count: 100_000), 201),
        ("POST", "POST", "?add-member", [("Slug", "new")], "x", 201),
        (
            "LOCK", "LOCK", "", [],
            "<D:lockinfo xmlns:D=\"DAV:\"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>",
            201
        ),
        ("upload", "PUT", "", [("Upload-Complete", "?0"), ("Upload-Length", "11")], "hel", 201),
        (
            "tus upload", "POST", "",
            [("Tus-Resumable", "1.0.0"), ("Upload-Length", "11"), ("Upload-Metadata", "filename bmV3")], nil,
            201
        ),
    ]

    @Test(arguments: requests.indices, ["/tmp", "/dev/shm"])
    func resourcesCanBeCreatedUpToTheDepthLimit(index: Int, parent: String) async throws {
        let request = Self.requests[index]
        let share = try makeShare(TemporaryFolder(in: parent))
        for (levels, status) in [(Self.limit - 1, request.status), (Self.limit, 403)] {
            let collection = "/\(Self.chain(levels))/"
            let isToCollection = !request.query.isEmpty || request.name == "tus upload"
            let target = collection + (isToCollection ? request.query : "new")
            let response = try await share.client.send(
                request.method, target, request.fields, body: request.body.map { Array($0.utf8) })
            #expect(response.status == status, "\(request.name) at \(levels + 1): \(response.text)")
            if status == 403 { #expect(response.text.contains("nested deeper than this share allows")) }
        }
        #expect(share.shell("[ -z \"$(ls -A \(Self.chain(Self.limit)))\" ]") == 0)
    }

    /// `tree` contains two levels of members.
    @Test(arguments: ["COPY", "MOVE"], ["/tmp", "/dev/shm"])
    func treesCanBeCopiedAndMovedUpToTheDepthLimit(method: String, parent: String) async throws {
        let share = try makeShare(TemporaryFolder(in: parent))
        #expect(share.shell("mkdir -p tree/in/.hidden tree/empty; echo x > tree/in/file") == 0)
        let tooDeep = try await transfer(
            method, "/tree", to: "/\(Self.chain(Self.limit - 2))/new", in: share)
        #expect(tooDeep.status == 403)
        #expect(tooDeep.text.contains("nested deeper than this share allows"))
        #expect(share.shell("[ $(find . -name '.davit*' | wc -l) = 0 ] && [ -f tree/in/file ]") == 0)
        let deep = try await transfer(
            method, "/tree", to: "/\(Self.chain(Self.limit - 3))/new", in: share)
        #expect(deep.status == 201)
        #expect(share.shell("[ -f \(Self.chain(Self.limit - 3))/new/in/file ]") == 0)
    }

    /// The limit also applies if a tree replaces another.
    @Test(arguments: ["COPY", "MOVE"])
    func treesThatReplaceOthersAreChecked(method: String) async throws {
        let share = try makeShare()
        #expect(share.shell("mkdir -p tree/in/in; mkdir \(Self.chain(Self.limit - 3))/old") == 0)
        #expect(
            try await transfer(method, "/tree", to: "/\(Self.chain(Self.limit - 2))", in: share).status == 204
        )
        #expect(share.shell("mkdir -p other/in/in") == 0)
        #expect(
            try await transfer(method, "/other", to: "/\(Self.chain(Self.limit - 3))/old", in: share).status
                == 204)
        #expect(share.shell("mkdir -p third/in/in/in") == 0)
        #expect(
            try await transfer(method, "/third", to: "/\(Self.chain(Self.limit - 3))/old", in: share).status
                == 403)
        let old = "\(Self.chain(Self.limit - 3))/old"
        #expect(share.shell("[ -d third/in/in/in ] && [ -d \(old)/in/in ] && [ ! -d \(old)/in/in/in ]") == 0)
    }

    /// A tree that does not move to a deeper level cannot exceed the limit, so it is not measured.
    @Test(arguments: ["/tmp", "/dev/shm"])
    func onlyTreesThatMoveDeeperAreMeasured(parent: String) async throws {
        let share = try makeShare(TemporaryFolder(in: parent))
        #expect(share.shell("mkdir -p a/b/c; echo x > f") == 0)
        let measurements = countMeasurements(of: share)
        for (source, destination) in [("/a/b", "/a/x"), ("/a/x", "/b"), ("/f", "/a/f")] {
            #expect(try await transfer("MOVE", source, to: destination, in: share).status == 201)
        }
        #expect(measurements.value == 0)
        #expect(try await transfer("MOVE", "/b", to: "/a/b", in: share).status == 201)
        #expect(measurements.value == 1)
    }

    /// No request names a deep path, but each MOVE adds a level to the tree.
    @Test func repeatedMovesCannotExceedTheLimit() async throws {
        let share = try makeShare()
        #expect(share.shell("mkdir t") == 0)
        var levels = 1
        while true {
            #expect(try await share.client.send("MKCOL", "/u").status == 201)
            let response = try await transfer("MOVE", "/t", to: "/u/t", in: share)
            guard response.status == 201 else {
                #expect(response.status == 403)
                break
            }
            levels += 1
            #expect(try await transfer("MOVE", "/u", to: "/t", in: share).status == 201)
            try #require(levels <= Self.limit)
        }
        #expect(levels == Self.limit)
    }

    @Test func foldersCreatedBeyondTheLimitByOtherProgramsRemainUsable() async throws {
        let share = try makeShare()
        let deep = "x/" + Self.chain(Self.limit + 3)
        #expect(share.shell("mkdir -p \(deep)/last; echo text > \(deep)/file") == 0)
        #expect(try await share.client.send("GET", "/\(deep)/file").text == "text\n")
        let listing = try await share.client.send("PROPFIND", "/x/", [("Depth", "infinity")])
        #expect(listing.text.contains("/\(deep)/last/"))
        // Content can be replaced, names can be changed, and everything can be moved up, but nothing new can
        // be created.
        #expect(try await share.client.send("PUT", "/\(deep)/file", text: "new").status == 204)
        #expect(try await transfer("MOVE", "/\(deep)/file", to: "/\(deep)/other", in: share).status == 201)
        #expect(try await transfer("MOVE", "/x/d1", to: "/x/e1", in: share).status == 201)
        #expect(try await transfer("MOVE", "/x/e1", to: "/e1", in: share).status == 201)
        #expect(try await transfer("MOVE", "/e1", to: "/x/d1", in: share).status == 403)
        #expect(try await transfer("COPY", "/e1", to: "/e2", in: share).status == 403)
        #expect(try await share.client.send("DELETE", "/e1").status == 204)
    }

    @Test func deletedTreeIsRestoredBeyondTheLimit() async throws {
        let share = try makeShare(hasTrash: true)
        let deep = Self.chain(Self.limit + 2)
        #expect(share.shell("mkdir -p \(deep)/tree/in") == 0)
        let gone = try await share.client.send("DELETE", "/\(deep)/tree")
        #expect(gone.status == 204)
        #expect(try await share.restore(gone["Davit-Trash"]).status == 201)
        #expect(share.shell("[ -d \(deep)/tree/in ]") == 0)
    }

    /// A link can lead to a deeper level than the folder that it replaced.
    @Test func restoreThroughALinkRespectsTheLimit() async throws {
        let share = try makeShare(hasTrash: true)
        #expect(share.shell("mkdir -p a/tree/in a/flat") == 0)
        let tree = try await share.client.send("DELETE", "/a/tree")
        let flat = try await share.client.send("DELETE", "/a/flat")
        #expect(share.shell("rmdir a; ln -s \(Self.chain(Self.limit - 1)) a") == 0)
        #expect(try await share.restore(tree["Davit-Trash"]).status == 403)
        #expect(try await share.restore(flat["Davit-Trash"]).status == 201)
        #expect(share.shell("[ -d \(Self.chain(Self.limit - 1))/flat ]") == 0)
    }
}
