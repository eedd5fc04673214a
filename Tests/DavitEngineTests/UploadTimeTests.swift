import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization
import Testing

/// The fields `X-OC-MTime` and `X-OC-CTime`, which set times of uploaded files.
struct UploadTimeTests {
    static let folders = ["/tmp", "/dev/shm"]

    private static func ask(_ property: String) -> String {
        "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:\(property)/></D:prop></D:propfind>"
    }

    static let times: [(value: String, shown: String?)] = [
        ("1700000000", "Tue, 14 Nov 2023 22:13:20 GMT"), ("1700000000.999", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ("1700000000.", "Tue, 14 Nov 2023 22:13:20 GMT"), ("  1700000000 ", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ("0", "Thu, 01 Jan 1970 00:00:00 GMT"), ("-1", "Wed, 31 Dec 1969 23:59:59 GMT"),
        ("-1.5", "Wed, 31 Dec 1969 23:59:58 GMT"), ("-1.0", "Wed, 31 Dec 1969 23:59:59 GMT"),
        ("2000000000", "Wed, 18 May 2033 03:33:20 GMT"),
        // If the time is invalid or unsupported, the content is stored with the time of the upload.
        ("", nil), ("-", nil), ("abc", nil), ("0x65", nil), ("1e9", nil), ("+5", nil), ("1,5", nil),
        ("1.2.3", nil),
        ("1700000000, 1700000001", nil), ("99999999999", nil), ("9223372036854775807", nil),
        ("-9223372036854775808", nil), ("184467440737095516160", nil),
    ]

    @Test(arguments: times, folders)
    func contentGetsTheRequestedModificationTime(time: (value: String, shown: String?), folder: String)
        async throws
    {
        let share = try TestShare(TemporaryFolder(in: folder))
        for name in ["X-OC-Mtime", "x-oc-mtime", "X-OC-MTIME"] {
            let response = try await share.client.send("PUT", "/a", [(name, time.value)], text: "1")
            #expect(response.status < 300)
            #expect(response["X-OC-Mtime"] == (time.shown == nil ? nil : "accepted"))
            let shown = try await share.client.send("PROPFIND", "/a", text: Self.ask("getlastmodified")).text
            if let expected = time.shown {
                #expect(response["Last-Modified"] == expected && shown.contains(">\(expected)<"))
            }
            let head = try await share.client.send("HEAD", "/a")
            #expect(head["Last-Modified"] == response["Last-Modified"] && head["ETag"] == response["ETag"])
        }
    }

    /// Partial updates and added members can specify times, too.
    @Test(arguments: folders)
    func everyKindOfUploadCanSetTheTime(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        let times = [("X-OC-Mtime", "1700000000"), ("X-OC-Ctime", "1600000000")]
        var tags: Set<String> = []
        for (method, target, fields) in [
            ("PUT", "/a", [("Content-Range", "bytes 0-0/9")]), ("PATCH", "/a", ShareHooksTests.append),
            ("PUT", "/a", [("Content-Range", "bytes 0-0/9")]), ("POST", "/?add-member", [("Slug", "a")]),
        ] {
            let response = try await share.client.send(method, target, fields + times, text: "x")
            #expect(response.status < 300, "\(method)")
            #expect(response["X-OC-Mtime"] == "accepted" && response["X-OC-Ctime"] == "accepted", "\(method)")
            #expect(response["Last-Modified"] == "Tue, 14 Nov 2023 22:13:20 GMT")
            tags.insert(response["ETag"] ?? "")
            let created = try await share.client.send(
                "PROPFIND", response["Location"] ?? "/a", text: Self.ask("creationdate"))
            #expect(created.text.contains(">2020-09-13T12:26:40"), "\(created.text)")
        }
        #expect(tags.count == 4)
    }

    /// Entity tags differ even if times and lengths are equal and an inode is reused.
    @Test(arguments: folders, [0, 100_000])
    func equalTimesAndLengthsHaveDifferentTags(folder: String, length: Int) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        var tags: Set<String> = []
        for number in 0..<60 {
            let body = SentBody(bytes(length), isChunked: number % 2 == 0, pieceLength: 50_000)
            let response = try await share.client.send("PUT", "/a", [("X-OC-Mtime", "5")], body: body)
            tags.insert(try #require(response["ETag"]))
            #expect(response["X-OC-Mtime"] == "accepted")
            if number % 3 == 0 { _ = try await share.client.send("DELETE", "/a") }
        }
        #expect(tags.count == 60)
    }

    @Test(arguments: folders)
    func laterPutSetsTheCurrentTime(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        _ = try await share.client.send("PUT", "/a", [("X-OC-Mtime", "5")], text: "1")
        let later = try await share.client.send("PUT", "/a", text: "1")
        #expect(later["X-OC-Mtime"] == nil)
        #expect(later["Last-Modified"]?.contains("1970") == false)
    }

    /// Fields that describe content are ignored if a request has no content.
    @Test(arguments: folders)
    func otherMethodsDoNotChangeTimes(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        _ = try await share.client.send("PUT", "/a", [("X-OC-Mtime", "1000000000")], text: "1")
        let fields = [("Destination", "/b"), ("X-OC-Mtime", "5"), ("X-OC-CTime", "x")]
        let moved = try await share.client.send("MOVE", "/a", fields)
        #expect(moved.status == 201 && moved["X-OC-Mtime"] == nil)
        #expect(
            try await share.client.send("HEAD", "/b")["Last-Modified"] == "Sun, 09 Sep 2001 01:46:40 GMT")
        let copied = try await share.client.send("COPY", "/b", [("Destination", "/a"), ("X-OC-Mtime", "5")])
        #expect(copied.status == 201 && copied["X-OC-Mtime"] == nil)
        #expect(try await share.client.send("HEAD", "/a")["Last-Modified"]?.contains("1970") == false)
    }

    /// On a volume with a limited range of times, the response does not report an unsupported time as
    /// accepted.
    @Test func timeOutsideTheRangeOfTheVolumeIsNotAccepted() async throws {
        let share = try TestShare(TemporaryFolder(in: "/dev/shm"))
        let response = try await share.client.send("PUT", "/a", [("X-OC-Mtime", "9000000000")], text: "1")
        let isHeld = response["Last-Modified"] == "Wed, 14 Mar 2255 16:00:00 GMT"
        #expect(response["X-OC-Mtime"] == (isHeld ? "accepted" : nil))
    }

    static let creations: [(value: String, shown: String?)] = [
        ("1000000000", "2001-09-09T01:46:40Z"), ("1000000000.5", "2001-09-09T01:46:40Z"),
        ("-1", "1969-12-31T23:59:59Z"), ("x", nil), ("", nil), ("99999999999", nil),
    ]

    @Test(arguments: creations, folders)
    func creationTimeIsSetOnRequest(time: (value: String, shown: String?), folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        for _ in 0..<2 {
            let response = try await share.client.send("PUT", "/a", [("X-OC-CTime", time.value)], text: "1")
            #expect(response.status < 300)
            #expect(response["X-OC-CTime"] == (time.shown == nil ? nil : "accepted"))
            for depth in ["0", "1"] {
                for body in [Self.ask("creationdate"), ""] {
                    let target = depth == "0" ? "/a" : "/"
                    let text = try await share.client.send(
                        "PROPFIND", target, [("Depth", depth)], text: body
                    ).text
                    if let shown = time.shown { #expect(text.contains(">\(shown)<")) }
                    // The property occurs once in each response: it is not also reported as a dead property.
                    #expect(text.components(of: "<D:creationdate>") == (depth == "0" ? 1 : 2))
                    #expect(text.components(of: ":creationdate") == (depth == "0" ? 2 : 4))
                }
            }
        }
    }

    @Test(arguments: folders)
    func creationTimeMovesWithTheResource(folder: String) async throws {
        let share = try TestShare(TemporaryFolder(in: folder))
        let made = ">2001-09-09T01:46:40Z<"
        func created(_ target: String) async throws -> String {
            try await share.client.send("PROPFIND", target, text: Self.ask("creationdate")).text
        }
        _ = try await share.client.send("PUT", "/a", [("X-OC-CTime", "1000000000")], text: "1")
        _ = try await share.client.send("PUT", "/a", text: "2")
        #expect(try await created("/a").contains(made))
        _ = try await share.client.send("MOVE", "/a", [("Destination", "/b")])
        #expect(try await created("/b").contains(made))
        // RFC 4918 §15.1: the creation time of a copy is the time of the COPY.
        _ = try await share.client.send("COPY", "/b", [("Destination", "/c")])
        #expect(try await !created("/c").contains(made))
        share.resources.watch { call in
            if case .rename = call { return .crossVolume }
            return call == .exchange ? .crossVolume : nil
        }
        #expect(try await share.client.send("MOVE", "/b", [("Destination", "/d")]).status == 201)
        #expect(try await created("/d").contains(made))
        #expect(share.shell("rm d; echo 3 >d") == 0)
        #expect(try await !created("/d").contains(made))
    }

    /// The content is stored, and the response does not report metadata that could not be stored.
    @Test func timeThatCannotBeStoredIsNotAccepted() async throws {
        let store = FullStore()
        let share = try TestShare(state: store)
        store.commitsLeft.store(0, ordering: .sequentiallyConsistent)
        let response = try await share.client.send(
            "PUT", "/a", [("X-OC-CTime", "5"), ("X-OC-Mtime", "5")], text: "1")
        #expect(response.status == 201)
        #expect(response["X-OC-CTime"] == nil && response["X-OC-Mtime"] == "accepted")
        #expect(try await share.client.send("GET", "/a").text == "1")
    }
}
