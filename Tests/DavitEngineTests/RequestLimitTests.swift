import DavitEngine
import DavitHTTP
import DavitJournal
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// Limits on what one request can make the server read, expand or store. Each is tested at the limit and one
/// above it.
struct RequestLimitTests {
    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    // MARK: XML bodies

    /// The second limit exceeds the default limit of the XML parser.
    @Test(arguments: [false, true], [1_000, 3 << 19])
    func bodiesAreLimited(isChunked: Bool, limit: Int) async throws {
        let share = try TestShare { $0.bodyLimitBytes = limit }
        let ask = askProperty("p")
        for (count, status) in [(limit, 207), (limit + 1, 413)] as [(Int, UInt16)] {
            let body = Array((ask + Self.repeated(" ", count - ask.utf8.count)).utf8)
            let response = try await share.client.send(
                "PROPFIND", "/", [("Depth", "0")], body: SentBody(body, isChunked: isChunked))
            #expect(response.status == status)
        }
    }

    // MARK: expand-property

    private static func link(_ href: String, _ count: Int) -> String {
        setProperty("link", repeated("<D:href>\(href)</D:href>", count))
    }

    private static let expandLink = """
        <D:expand-property xmlns:D="DAV:"><D:property name="link" namespace="urn:x">\
        <D:property name="v" namespace="urn:x"/></D:property></D:expand-property>
        """

    @Test func expandedResourcesAreLimited() async throws {
        let share = try TestShare()
        #expect(share.shell("touch a b") == 0)
        for (count, status) in [(1_000, 207), (1_001, 403)] as [(Int, UInt16)] {
            #expect(
                try await share.client.send("PROPPATCH", "/a", text: Self.link("/b", count)).status == 207)
            let response = try await share.client.send("REPORT", "/a", text: Self.expandLink)
            #expect(response.status == status)
            #expect(response.text.contains("<D:number-of-matches-within-limits/>") == (status == 403))
        }
    }

    /// The bytes of the expanded responses are counted, each as a separate document such as PROPFIND returns.
    @Test func expandedBytesAreLimited() async throws {
        let share = try TestShare()
        #expect(share.shell("touch a b") == 0)
        #expect(try await share.client.send("PROPPATCH", "/a", text: Self.link("/b", 4)).status == 207)
        func size(_ count: Int) async throws -> Int {
            let set = setProperty("v", Self.repeated("x", count))
            #expect(try await share.client.send("PROPPATCH", "/b", text: set).status == 207)
            let found = try await share.client.send(
                "PROPFIND", "/b", [("Depth", "0")], text: askProperty("v"))
            return found.body.count
        }
        let most = (2 << 20) / 4
        let count = most - (try await size(1) - 1)
        for (added, status) in [(0, 207), (1, 403)] as [(Int, UInt16)] {
            #expect(try await size(count + added) == most + added)
            let response = try await share.client.send("REPORT", "/a", text: Self.expandLink)
            #expect(response.status == status)
            #expect(response.text.contains("<D:number-of-matches-within-limits/>") == (status == 403))
        }
    }

    // MARK: Fields

    @Test func contentLanguageIsLimited() async throws {
        let share = try TestShare()
        let most = Self.repeated("a,", 127) + "aa"
        #expect(most.utf8.count == 256)
        #expect(
            try await share.client.send("PUT", "/a", [("Content-Language", most)], text: "1").status == 201)
        #expect(
            try await share.client.send("PUT", "/b", [("Content-Language", most + "a")], text: "1").status
                == 400)
        #expect(share.names() == ["a"])
    }

    @Test func fieldsOfUploadsAreLimitedToTheByte() async throws {
        let metadata = ("Upload-Metadata", "filename \(Base64.encode(Array("n".utf8)))")
        let count = "\(metadata.0): \(metadata.1)\r\n".utf8.count
        for (limit, status) in [(count, 201), (count - 1, 431)] as [(Int, UInt16)] {
            let share = try TestShare { $0.uploadFieldLimitBytes = limit }
            let response = try await share.client.send(
                "POST", "/", [TestShare.tus, ("Upload-Length", "5"), metadata])
            #expect(response.status == status)
        }
    }

    @Test func lockTimeoutsAreLimited() async throws {
        let share = try TestShare { $0.maximumLockSeconds = 2_000 }
        #expect(share.shell("touch a b c d") == 0)
        let rows = [
            ("/a", "Second-2000", "Second-2000"), ("/b", "Second-2001", "Second-2000"),
            ("/c", "Infinite", "Second-2000"), ("/d", "Second-1999", "Second-1999"),
        ]
        for (target, asked, granted) in rows {
            let response = try await share.client.send(
                "LOCK", target, [("Timeout", asked)], text: lockBody(scope: "exclusive"))
            #expect(response.text.contains("<D:timeout>\(granted)</D:timeout>"), "\(response.text)")
        }
    }

    // MARK: Paths

    @Test func namesAreLimited() async throws {
        let share = try TestShare()
        for method in ["PUT", "MKCOL"] {
            #expect(
                try await share.client.send(method, "/\(method)" + Self.repeated("n", 255 - method.count))
                    .status
                    == 201)
            let tooLong = "/\(method)" + Self.repeated("n", 256 - method.count)
            #expect(try await share.client.send(method, tooLong).status == 414)
            #expect(try await share.client.send("GET", tooLong).status == 404)
        }
    }

    /// Several spellings of a resource count several times, but repetitions of one do not.
    @Test func taggedResourcesAreLimited() async throws {
        let share = try TestShare()
        _ = try await share.client.send("PUT", "/a", text: "x")
        for (count, status) in [(64, 412), (65, 431)] as [(Int, UInt16)] {
            let field = (0..<count).map { "</a\($0)> (<x:>)" }.joined(separator: " ")
            for method in ["GET", "PUT", "DELETE", "PROPFIND"] {
                let body = method == "PUT" ? Array("y".utf8) : nil
                let repeated = field + " </a1> (<y:>)"
                let response = try await share.client.send(method, "/a", [("If", repeated)], body: body)
                #expect(response.status == status, "\(method)")
            }
        }
    }

    // MARK: Events

    /// Up to 1,024 names that changed since an event ID are sent; for more, the client must list the folder
    /// again.
    @Test func missedNamesAreLimited() async throws {
        for (count, name) in [(1_024, "change"), (1_025, "reset")] {
            let share = try TestShare.live()
            let id = try await share.events("/?events").id
            #expect(share.shell("touch $(seq \(count))") == 0)
            let event = try await share.events("/?events", since: id).next()
            #expect(event?.name == name)
            if name == "change" { #expect(event?.lines.count == count) }
        }
    }

    @Test func foldersOfAnEventStreamAreLimited() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir $(seq 65)") == 0)
        for (count, status) in [(64, 200), (65, 400)] as [(Int, UInt16)] {
            let target = "/?events&" + (1...count).map { "in=\($0)/" }.joined(separator: "&")
            #expect(try await share.client.begin("GET", target).status.code == status)
        }
    }

    /// The paths that a stream keeps for its folders have at most 64 KiB.
    @Test func pathsOfAnEventStreamAreLimited() async throws {
        let share = try TestShare.live()
        let deep = Array(repeating: String(repeating: "d", count: 250), count: 12).joined(separator: "/")
        #expect(share.shell("mkdir -p \(deep); cd \(deep); mkdir $(seq 10 40)") == 0)
        for (count, status) in [(21, 200), (22, 400)] as [(Int, UInt16)] {
            let target = "/\(deep)/?events&" + (10..<10 + count).map { "in=\($0)/" }.joined(separator: "&")
            #expect(try await share.client.begin("GET", target).status.code == status)
        }
    }

    /// Each change in a folder costs as much as the number of its addresses in a stream.
    @Test func addressesOfAWatchedFolderAreLimited() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir d; for l in 1 2 3 4; do ln -s d $l; done") == 0)
        for (names, status) in [(["d", "1", "2", "3"], 200), (["d", "1", "2", "3", "4"], 400)]
            as [([String], UInt16)]
        {
            let target = "/?events&" + names.map { "in=\($0)/" }.joined(separator: "&")
            #expect(try await share.client.begin("GET", target).status.code == status)
        }
        let reader = try await share.events("/?events&in=d/&in=1/")
        #expect(try await share.client.send("PUT", "/d/a", text: "x").status == 201)
        #expect(try await reader.next()?.lines.sorted() == ["+ /1/a", "+ /d/a"])
    }

    /// A change is reported once to a stream that watches a folder with everything below it, and folders in it.
    @Test func changesInNestedFoldersAreReportedOnce() async throws {
        let share = try TestShare.live()
        #expect(share.shell("mkdir -p a/b/c") == 0)
        let reader = try await share.events("/?events&depth=infinity&in=a/b/&in=a/&in=a/b/c/&in=missing/")
        #expect(try await reader.next() == EventReader.Event("gone", "/missing/"))
        #expect(try await share.client.send("PUT", "/a/b/c/d", text: "x").status == 201)
        #expect(try await reader.next() == EventReader.Event("change", "+ /a/b/c/d"))
        // A link is another address.
        #expect(share.shell("ln -s a/b l") == 0)
        let other = try await share.events("/?events&depth=infinity&in=l/&in=a/")
        #expect(try await share.client.send("PUT", "/a/b/e", text: "x").status == 201)
        #expect(try await other.next()?.lines.sorted() == ["+ /a/b/e", "+ /l/e"])
    }

    /// One client cannot use up the streams of a share.
    @Test func eventStreamsOfAClientAreLimited() async throws {
        let share = try TestShare.live { $0.eventStreamLimitPerClient = 2 }
        func begin(_ principal: String) async throws -> HTTPResponse {
            try await share.client.begin("GET", "/?events", principal: principal)
        }
        let first = try await begin("anna")
        var second: HTTPResponse? = try await begin("anna")
        #expect(first.status == .ok && second?.status == .ok)
        let third = try await begin("anna")
        #expect(third.status == .serviceUnavailable && third.fields.contains(.retryAfter))
        #expect(try await begin("bert").status == .ok)
        second = nil
        #expect(try await begin("anna").status == .ok)
    }

    /// The names of queued events have at most 128 KiB, encoded.
    @Test func queuedBytesOfASlowReaderAreLimited() async throws {
        for (count, name) in [(170, "change"), (180, "reset")] {
            let share = try TestShare.live()
            let slow = try await share.events("/?events")
            let fast = try await share.events("/?events")
            // 85 characters of three bytes each.
            let suffix = String(repeating: "\u{20AC}", count: 84)
            #expect(share.shell("for n in $(seq 100 \(99 + count)); do touch $n\(suffix); done") == 0)
            var names: Set<String> = []
            while names.count < count, let event = try await fast.next(), event.name == "change" {
                names.formUnion(event.lines)
            }
            #expect(try await slow.next()?.name == name)
        }
    }

    /// Up to 1,024 changed names are queued for a client that does not read; for more, it must list the folder
    /// again.
    @Test func queuedNamesOfASlowReaderAreLimited() async throws {
        for (count, name) in [(1_024, "change"), (1_025, "reset")] {
            let share = try TestShare.live()
            let slow = try await share.events("/?events")
            let fast = try await share.events("/?events")
            #expect(share.shell("touch $(seq \(count))") == 0)
            // Once one reader has received its events, those of all readers are queued.
            var names: Set<String> = []
            while names.count < count, let event = try await fast.next(), event.name == "change" {
                names.formUnion(event.lines)
            }
            let event = try await slow.next()
            #expect(event?.name == name)
            if name == "change" { #expect(event?.lines.count == count) }
        }
    }

    /// The same limit applies to names whose locks have changed.
    @Test func queuedLocksOfASlowReaderAreLimited() async throws {
        for (count, names) in [(1_024, ["locks"]), (1_025, ["reset"])] {
            let share = try TestShare.live()
            #expect(share.shell("touch $(seq \(count))") == 0)
            let slow = try await share.events("/?events")
            for number in 1...count {
                let lock = lockBody(scope: "shared")
                #expect(try await share.client.send("LOCK", "/\(number)", text: lock).status == 200)
            }
            let event = try #require(try await slow.next())
            #expect([event.name] == names)
            if names == ["locks"] { #expect(event.lines.count == count) }
        }
    }

    // MARK: Forms

    private static func mkcol(_ rest: String) -> [UInt8] { Array(("name=n&" + rest).utf8) }

    @Test func formsAreLimited() async throws {
        for (count, status) in [(4 << 20, 201), (4 << 20 + 1, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let form = Self.mkcol("p=" + Self.repeated("x", count - "name=n&p=".utf8.count))
            #expect(form.count == count)
            let response = try await share.client.send("POST", "/?action=mkcol", ownForm, body: form)
            #expect(response.status == status)
        }
    }

    @Test func fieldsOfFormsAreLimited() async throws {
        for (count, status) in [(100_000, 201), (100_001, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let form = Self.mkcol(Self.repeated("p&", count - 1))
            let response = try await share.client.send("POST", "/?action=mkcol", ownForm, body: form)
            #expect(response.status == status)
        }
    }

    @Test func partsOfFormsAreLimited() async throws {
        let head = "---x-\r\nContent-Disposition: form-data; name="
        for (count, status) in [(100_000, 201), (100_001, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let parts = Self.repeated("\(head)p\r\n\r\n\r\n", count - 1)
            let form = "\(head)name\r\n\r\nn\r\n\(parts)---x---\r\n"
            let response = try await share.client.send(
                "POST", "/?action=mkcol", FormUploadTests.fields, text: form)
            #expect(response.status == status)
        }
    }

    @Test func fieldBytesInFormsWithFilesAreLimited() async throws {
        for (count, status) in [(65_536, 201), (65_537, 413)] as [(Int, UInt16)] {
            let share = try TestShare()
            let form = FormUploadTests.form(.field("name", "n"), .field("p", Self.repeated("x", count)))
            let response = try await share.client.send(
                "POST", "/?action=mkcol", FormUploadTests.fields, body: form)
            #expect(response.status == status)
        }
    }

    @Test func uploadLifetimeIsLimited() async throws {
        let share = try TestShare { $0.uploadSeconds = 100 }
        let upload = try await share.createUpload("/a")
        share.wait(seconds: 99)
        #expect(try await share.client.send("HEAD", upload).status == 204)
        share.wait(seconds: 1)
        #expect(try await share.client.send("HEAD", upload).status == 410)
        UploadEngine(share: share.share).removeExpired()
        #expect(try await share.client.send("HEAD", upload).status == 404)
        #expect(ShareConfiguration().uploadSeconds == 7 * 86_400)
    }

    // MARK: The trash

    @Test func trashBytesAreLimited() async throws {
        for (bytes, kept) in [(8, ["deleted /a 4", "deleted /b 4"]), (7, ["deleted /b 4"])]
            as [(Int64, [String])]
        {
            let share = try TestShare.keeping { $0.trash?.bytes = bytes }
            for name in ["/a", "/b"] {
                #expect(try await share.client.send("PUT", name, text: "1234").status == 201)
                #expect(try await share.client.send("DELETE", name).status == 204)
            }
            #expect(try share.trash() == kept)
        }
    }

    /// Entries without content count, too.
    @Test func trashEntriesAreLimited() async throws {
        let share = try TestShare.keeping { $0.trash?.entries = 2 }
        for name in ["/a", "/b", "/c"] {
            #expect(try await share.client.send("PUT", name, body: []).status == 201)
            #expect(try await share.client.send("DELETE", name).status == 204)
        }
        #expect(try share.trash() == ["deleted /b 0", "deleted /c 0"])
    }

    @Test func trashDaysAreLimited() async throws {
        for (seconds, kept) in [(2 * 86_400, ["deleted /a 1"]), (2 * 86_400 + 1, [])]
            as [(Int64, [String])]
        {
            let share = try TestShare.keeping { $0.trash?.days = 2 }
            #expect(try await share.client.send("PUT", "/a", text: "1").status == 201)
            #expect(try await share.client.send("DELETE", "/a").status == 204)
            share.wait(seconds: seconds)
            share.share.trashMaintenance.run()
            #expect(try share.trash() == kept)
        }
    }

    @Test func versionIntervalIsEnforced() async throws {
        for (seconds, count) in [(299, 1), (300, 2)] as [(Int64, Int)] {
            let share = try TestShare.keeping()
            for text in ["1", "22"] { _ = try await share.client.send("PUT", "/a", text: text) }
            #expect(try share.trash().count == 1)
            share.wait(seconds: seconds)
            #expect(try await share.client.send("PUT", "/a", text: "333").status == 204)
            #expect(try share.trash().count == count)
        }
    }

    // MARK: Memory

    /// Above the limit all entries are dropped; the only effect is that the trash may keep one more version of
    /// each path.
    @Test func recentVersionsAreLimited() throws {
        let versions = RecentVersions()
        let tag = EntityTag(opaque: Array("t".utf8))
        func path(_ number: Int) throws -> ResourcePath {
            try #require(ResourcePath.root.appending(Array("\(number)".utf8)))
        }
        func record(_ number: Int) throws {
            versions.record(try path(number), by: nil, now: Timestamp(seconds: 0), content: tag)
        }
        for number in 0..<RecentVersions.limit { try record(number) }
        #expect(versions.contains(tag, at: try path(0)))
        try record(RecentVersions.limit)
        #expect(!versions.contains(tag, at: try path(0)))
        #expect(versions.contains(tag, at: try path(RecentVersions.limit)))
    }
}
