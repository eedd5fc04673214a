import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Testing

/// Content that is too long or does not fit is refused, before it is read if its length is declared.
struct SizeLimitTests {
    static let folders = ["/tmp", "/dev/shm"]
    private static let old = "old content"

    private func makeShare(in folder: String, maximum: Int64? = nil) async throws -> TestShare {
        let share = try TestShare(TemporaryFolder(in: folder)) { $0.maximumFileBytes = maximum }
        #expect(share.shell("printf '\(Self.old)' >a") == 0)
        return share
    }

    /// Checks that content and entity tag are unchanged, that no other files exist, and that no path is locked.
    private func expectUnchanged(_ share: TestShare, since tag: String?) async throws {
        let response = try await share.client.send("GET", "/a")
        #expect(response.text == Self.old && response["ETag"] == tag)
        #expect(share.shell("test \"$(ls -A)\" = a") == 0)
        #expect(share.share.pathLocks.count == 0)
    }

    /// The number of bytes, whether they are chunked, the length announced in X-Expected-Entity-Length, how
    /// many bytes may be read, and the status.
    static let lengths:
        [(count: Int, isChunked: Bool, expected: String?, read: ClosedRange<Int>, status: UInt16)] = [
            (100_000, false, nil, 100_000...100_000, 204), (100_001, false, nil, 0...0, 413),
            (1_000_000, false, nil, 0...0, 413),
            (100_000, true, nil, 100_000...100_000, 204), (100_001, true, nil, 100_001...100_001, 413),
            // Refused while reading: at most one more piece of 1 MiB is read.
            (5_000_000, true, nil, 100_001...1_200_000, 413),
            // A hint is sufficient to refuse content, but not to limit it.
            (1_000_000, true, "1000000", 0...0, 413), (10, true, "100001", 0...0, 413),
            (100_001, true, "5", 100_001...100_001, 413), (100_000, true, "5", 100_000...100_000, 204),
            (10, true, "x", 10...10, 204), (10, false, "100001", 10...10, 204),
        ]

    @Test(arguments: lengths, folders)
    func contentLengthIsLimited(
        row: (count: Int, isChunked: Bool, expected: String?, read: ClosedRange<Int>, status: UInt16),
        folder: String
    ) async throws {
        let share = try await makeShare(in: folder, maximum: 100_000)
        let tag = try await share.client.send("HEAD", "/a")["ETag"]
        let body = SentBody(bytes(row.count), isChunked: row.isChunked)
        let fields = row.expected.map { [("X-Expected-Entity-Length", $0)] } ?? []
        let response = try await share.client.send("PUT", "/a", fields, body: body)
        #expect(response.status == row.status)
        #expect(row.read.contains(body.readCount))
        if row.status == 413 {
            try await expectUnchanged(share, since: tag)
        } else {
            #expect(try await share.client.send("GET", "/a").body.count == row.count)
        }
    }

    /// Partial updates of stored content of 11 bytes, and added members, with a limit of 100 bytes. If the
    /// announced length is too large, nothing is read.
    static let parts:
        [(method: String, field: (String, String), count: Int, isChunked: Bool, isRead: Bool, status: UInt16)] =
            [
                ("PATCH", ("X-Update-Range", "append"), 89, false, true, 204),
                ("PATCH", ("X-Update-Range", "append"), 90, false, false, 413),
                ("PATCH", ("X-Update-Range", "append"), 90, true, true, 413),
                ("PATCH", ("X-Update-Range", "bytes=100-"), 1, false, false, 413),
                ("PATCH", ("X-Update-Range", "bytes=99-"), 1, false, true, 204),
                ("PUT", ("Content-Range", "bytes 11-99/100"), 89, false, true, 204),
                ("PUT", ("Content-Range", "bytes 11-20/101"), 10, false, false, 413),
                ("PUT", ("Content-Range", "bytes 11-100/*"), 90, false, false, 413),
                ("POST", ("Slug", "b"), 101, false, false, 413),
                ("POST", ("Slug", "b"), 101, true, true, 413),
            ]

    @Test(arguments: parts, folders)
    func resultingLengthOfPartialUpdatesIsLimited(
        row: (
            method: String, field: (String, String), count: Int, isChunked: Bool, isRead: Bool, status: UInt16
        ),
        folder: String
    ) async throws {
        let share = try await makeShare(in: folder, maximum: 100)
        let tag = try await share.client.send("HEAD", "/a")["ETag"]
        let body = SentBody(bytes(row.count), isChunked: row.isChunked)
        let coding = row.isChunked ? [("Transfer-Encoding", "chunked")] : []
        let response = try await share.client.send(
            row.method, row.method == "POST" ? "/?add-member" : "/a",
            [PartialUpdateTests.type, row.field] + coding, body: body)
        #expect(response.status == row.status)
        #expect((body.readCount > 0) == row.isRead)
        if row.status == 413 { try await expectUnchanged(share, since: tag) }
    }

    @Test(arguments: folders)
    func limitAppliesToShortContent(folder: String) async throws {
        let share = try await makeShare(in: folder, maximum: 3)
        let tag = try await share.client.send("HEAD", "/a")["ETag"]
        #expect(try await share.client.send("PUT", "/a", text: "1234").status == 413)
        #expect(try await share.client.send("PUT", "/b", text: "1234").status == 413)
        try await expectUnchanged(share, since: tag)
        #expect(try await share.client.send("PUT", "/a", text: "123").status == 204)
    }

    /// The framing determines the length of the content, not `X-Expected-Entity-Length`.
    @Test(arguments: folders, ["0", "1", "70000", "99999999999999999999", "-1", "", "x"])
    func receivedLengthOverridesTheExpectedLength(folder: String, expected: String) async throws {
        let share = try await makeShare(in: folder)
        for count in [0, 10, 70_000] {
            let body = SentBody(bytes(count), isChunked: true)
            let response = try await share.client.send(
                "PUT", "/a", [("X-Expected-Entity-Length", expected)], body: body)
            #expect(response.status == 204)
            #expect(try await share.client.send("GET", "/a").body == bytes(count))
        }
    }

    static let full: [(error: StoreError, condition: String)] = [
        (.outOfSpace, "<D:sufficient-disk-space/>"), (.quotaExceeded, "<D:quota-not-exceeded/>"),
    ]

    /// RFC 4331 §6: a full disk and an exceeded quota are reported with different conditions.
    @Test(arguments: full, folders)
    func fullDiskIsReportedBeforeContentIsRead(full: (error: StoreError, condition: String), folder: String)
        async throws
    {
        for (isChunked, fields) in [(false, []), (true, [("X-Expected-Entity-Length", "100000")])] {
            let share = try await makeShare(in: folder)
            let tag = try await share.client.send("HEAD", "/a")["ETag"]
            share.resources.watch { $0 == .stageContent ? full.error : nil }
            for target in ["/a", "/b"] {
                let body = SentBody(bytes(100_000), isChunked: isChunked)
                let response = try await share.client.send("PUT", target, fields, body: body)
                #expect(response.status == 507 && response.text.contains(full.condition))
                #expect(body.readCount == 0)
            }
            try await expectUnchanged(share, since: tag)
        }
    }

    /// The configured free space is preserved by all changes; changes that need no space succeed.
    @Test(arguments: folders)
    func reservedSpaceStaysFree(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder), keepsFree: .max)
        #expect(share.shell("printf '\(Self.old)' >a; mkdir d; printf x >d/f") == 0)
        try await share.play(
            Scenario(
                "kept free",
                [
                    step("PUT /a", [], "1", 507, holds: ["<D:quota-not-exceeded/>"]),
                    step("PUT /b", [], String(repeating: "x", count: 100_000), 507),
                    step("COPY /a", [("Destination", "/b")], nil, 507, holds: ["<D:quota-not-exceeded/>"]),
                    step("COPY /d", [("Destination", "/e")], nil, 507),
                    step("GET /a", [], nil, 200, holds: [Self.old]),
                    step("PUT /empty", [], "", 201), step("MKCOL /e", [], nil, 201), lock("/a"),
                    step("MOVE /d", [("Destination", "/g")], nil, 201), step("DELETE /g", [], nil, 204),
                    step(
                        "PROPFIND /", [("Depth", "0")],
                        "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:quota-available-bytes/></D:prop></D:propfind>",
                        207,
                        holds: [">0</D:quota-available-bytes>"]),
                ]))
        #expect(share.shell("test \"$(ls -A)\" = \"$(printf 'a\\ne\\nempty')\"") == 0)
    }

    /// RFC 4331 §2: the quota properties are returned if requested by name, for collections and files; the
    /// names used by early versions of the Finder are not supported.
    @Test func quotaIsReturnedOnRequest() async throws {
        let share = try await makeShare(in: "/tmp")
        for target in ["/", "/a"] {
            let text = try await share.client.send(
                "PROPFIND", target, [("Depth", "0")],
                text: """
                    <D:propfind xmlns:D="DAV:"><D:prop><D:quota-available-bytes/><D:quota-used-bytes/><D:quota/><D:quotaused/>\
                    </D:prop></D:propfind>
                    """
            ).text
            #expect(text.firstMatch(of: /<D:quota-available-bytes>\d+</) != nil)
            #expect(text.firstMatch(of: /<D:quota-used-bytes>\d+</) != nil)
            #expect(text.contains("<D:quota/><D:quotaused/></D:prop><D:status>HTTP/1.1 404"))
        }
    }
}
