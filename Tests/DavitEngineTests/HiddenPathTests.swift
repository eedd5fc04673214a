import DavitEngine
import DavitHTTP
import DavitTesting
import Testing

/// If another handler is mounted inside a share, the share's files at that path are inaccessible and do not
/// appear in any response.
struct HiddenPathTests {
    typealias ListingRequest = (line: String, fields: [(String, String)], body: String?)

    /// Requests whose responses list members.
    static let listingRequests: [ListingRequest] = [
        ("PROPFIND /d/", [("Depth", "1")], nil), ("PROPFIND /d/", [("Depth", "infinity")], nil),
        ("PROPFIND /", [("Depth", "infinity")], nil),
        (
            "PROPFIND /", [("Depth", "infinity")],
            "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:getetag/><n:p xmlns:n=\"urn:x\"/></D:prop></D:propfind>"
        ),
        ("SEARCH /", [], query()), ("SEARCH /d/", [], query(scope: "/d/", depth: "1")),
        ("SEARCH /", [], query(order: ordered("D:getlastmodified"))),
        ("REPORT /", [], SyncClient.body(token: "")),
        ("REPORT /d/", [], SyncClient.body(token: "", level: "1")),
    ]

    static let setUp = """
        mkdir -p d/mount/in x; echo 1 | tee d/mount/secret d/mount/in/secret >d/shown
        ln -s mount d/secretlink; ln -s ../d/mount/secret x/secretlink; ln -s d/shown shown
        """

    private static func hide(_ configuration: inout ShareConfiguration) {
        configuration.hiddenPaths = [ResourcePath(segments: ["d".utf8, "mount".utf8]) ?? .root]
    }

    private static func share() throws -> TestShare {
        let share = try TestShare.live(hide)
        #expect(share.shell(setUp) == 0)
        return share
    }

    private static func mentionsHiddenPath(_ text: String) -> Bool {
        text.contains("secret") || text.contains("mount")
    }

    @Test(arguments: listingRequests)
    func listingsOmitTheHiddenPath(request: ListingRequest) async throws {
        let share = try Self.share()
        #expect(
            try await share.client.send("PROPPATCH", "/d/shown", text: setProperty("p", "1")).status == 207)
        let parts = request.line.split(separator: " ").map(String.init)
        let answer = try await share.client.send(parts[0], parts[1], request.fields, text: request.body ?? "")
        #expect(answer.status == 207, "\(answer.text)")
        #expect(answer.text.contains("/d/shown"))
        #expect(!Self.mentionsHiddenPath(answer.text), "\(answer.text)")
    }

    @Test(arguments: ["/d/mount", "/d/mount/", "/d/mount/secret", "/d/secretlink/secret", "/x/secretlink"])
    func requestsForTheHiddenPathAreNotFound(target: String) async throws {
        let share = try Self.share()
        for method in ["GET", "HEAD", "PROPFIND", "DELETE", "PROPPATCH"] {
            let body = method == "PROPPATCH" ? setProperty("p", "1") : ""
            #expect(try await share.client.send(method, target, text: body).status == 404, "\(method)")
        }
        let copy = try await share.client.send("COPY", target, [("Destination", "/out")])
        #expect(copy.status == 404)
        #expect(share.shell("test -e d/mount/secret -a ! -e out") == 0)
    }

    @Test func copiesOmitTheHiddenPath() async throws {
        let share = try Self.share()
        #expect(try await share.client.send("COPY", "/d/", [("Destination", "/copy/")]).status == 201)
        #expect(share.shell("test -f copy/shown -a ! -e copy/mount -a ! -e copy/secretlink") == 0)
    }

    @Test func eventsAndSyncOmitTheHiddenPath() async throws {
        let share = try Self.share()
        let reader = try await share.events("/?events&depth=infinity")
        var client = SyncClient(share.client)
        try await client.syncAll()
        #expect(
            share.shell(
                """
                echo 2 | tee d/mount/secret d/mount/secret2; mkdir d/mount/secret3
                rm -r d/mount/in; touch d/mount; rm -r d/mount; mkdir d/mount; rmdir d/mount; echo 2 >d/last
                """) == 0)
        var told: [String] = []
        while !told.contains("+ /d/last"), let event = try await reader.next() { told += event.lines }
        #expect(!told.contains { $0.contains("mount") || $0.contains("secret") }, "\(told)")
        try await client.syncAll()
        #expect(client.copy["/d/last"] != nil)
        #expect(!client.copy.keys.contains { Self.mentionsHiddenPath($0) }, "\(client.copy)")
        #expect(!client.told.contains { Self.mentionsHiddenPath($0) }, "\(client.told)")
    }
}
