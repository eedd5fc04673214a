import DavitEngine
import DavitHTTP
import DavitJournal
import DavitServer
import DavitStore
import DavitTesting
import Testing

/// Limits of what one request can cause the server to read, expand or store: at the limit, and one above it.
struct RequestLimitTests {
    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    // MARK: XML bodies

    @Test(arguments: [false, true])
    func bodiesAreLimited(isChunked: Bool) async throws {
        let share = try TestShare { $0.bodyLimitBytes = 1_000 }
        let ask = askProperty("p")
        for (count, status) in [(1_000, 207), (1_001, 413)] as [(Int, UInt16)] {
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

    // MARK: Events

    /// Up to 1,024 changed names are sent since an event ID; for more, the client must list the folder again.
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
        share.share.expireUploads()
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

    /// Above the limit all entries are dropped, so that the trash keeps one more version.
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
