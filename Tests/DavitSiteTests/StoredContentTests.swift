import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitServer
import DavitSite
import DavitStore
import DavitSystem
import DavitTesting
import Testing

/// Stored content follows the same rules in a share, a route with a file, and a website.
struct StoredContentTests {
    enum Sender: CaseIterable, Sendable { case share, route, site }

    typealias Send =
        @Sendable (_ method: String, _ fields: [(String, String)]) async throws -> TestResponse

    /// Returns a function that requests the file `a.txt` of this folder.
    static func sender(_ kind: Sender, _ folder: WebFolder) throws -> Send {
        switch kind {
        case .share:
            let share = Share(
                resources: try FileResourceStore(root: folder.path),
                state: try IndexedShareState(store: MemoryStateStore()),
                work: PooledWorkRunner(pool: BlockingPool()),
                configuration: ShareConfiguration(), now: { WebFolder.now }, report: { _ in })
            let client = TestClient(WebDAVHandler(share: share, page: nil))
            return { try await client.send($0, "/a.txt", $1) }
        case .route:
            let path = folder.path + "/a.txt"
            let client = TestClient(Router { $0.get("/a.txt") { try await .file(path, for: $0) } })
            return { try await client.send($0, "/a.txt", $1) }
        case .site:
            let client = try folder.client()
            return { try await client.send($0, "/a.txt", $1) }
        }
    }

    static let content: [UInt8] = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }

    enum Expected: Sendable {
        case whole, unmodified, failed, unsatisfiable
        case part(Range<Int>)
        case parts([Range<Int>])
    }

    /// `$e` is the entity tag, `$d` the date of the file.
    static let rows: [(method: String, fields: [String], expected: Expected)] = [
        ("GET", [], .whole), ("HEAD", [], .whole),
        // RFC 9110 §13.1.1
        ("GET", ["If-Match: $e"], .whole), ("GET", ["If-Match: \"x\", $e"], .whole),
        ("GET", ["If-Match: *"], .whole), ("GET", ["If-Match: \"x\""], .failed),
        ("GET", ["If-Match: W/$e"], .failed), ("HEAD", ["If-Match: \"x\""], .failed),
        // §13.1.2
        ("GET", ["If-None-Match: $e"], .unmodified), ("HEAD", ["If-None-Match: $e"], .unmodified),
        ("GET", ["If-None-Match: W/$e"], .unmodified), ("GET", ["If-None-Match: \"x\", $e"], .unmodified),
        ("GET", ["If-None-Match: \"x\"", "If-None-Match: $e"], .unmodified),
        ("GET", ["If-None-Match: *"], .unmodified), ("GET", ["If-None-Match: \"x\""], .whole),
        ("GET", ["If-None-Match: $e, x"], .whole),
        // §13.1.3
        ("GET", ["If-Modified-Since: $d"], .unmodified), ("HEAD", ["If-Modified-Since: $d"], .unmodified),
        ("GET", ["If-Modified-Since: Sun, 13 Sep 2020 12:26:39 GMT"], .whole),
        ("GET", ["If-Modified-Since: Sun, 13 Sep 2020 12:26:41 GMT"], .unmodified),
        ("GET", ["If-Modified-Since: Sunday, 13-Sep-20 12:26:40 GMT"], .unmodified),
        ("GET", ["If-Modified-Since: Sun Sep 13 12:26:40 2020"], .unmodified),
        ("GET", ["If-Modified-Since: today"], .whole),
        ("GET", ["If-None-Match: \"x\"", "If-Modified-Since: $d"], .whole),
        // §13.1.4
        ("GET", ["If-Unmodified-Since: $d"], .whole),
        ("GET", ["If-Unmodified-Since: Sun, 13 Sep 2020 12:26:39 GMT"], .failed),
        ("GET", ["If-Match: $e", "If-Unmodified-Since: Sun, 13 Sep 2020 12:26:39 GMT"], .whole),
        // §13.2.2
        ("GET", ["If-Match: \"x\"", "If-None-Match: $e"], .failed),
        ("GET", ["If-Match: $e", "If-None-Match: $e"], .unmodified),
        ("GET", ["If-None-Match: $e", "Range: bytes=0-1"], .unmodified),
        // §14.1.2, §14.2
        ("GET", ["Range: bytes=0-0"], .part(0..<1)), ("GET", ["Range: bytes=10-19"], .part(10..<20)),
        ("GET", ["Range: bytes=990-"], .part(990..<1000)), ("GET", ["Range: bytes=-5"], .part(995..<1000)),
        ("GET", ["Range: bytes=-5000"], .part(0..<1000)),
        ("GET", ["Range: bytes=900-5000"], .part(900..<1000)),
        ("GET", ["Range: BYTES=0-0"], .part(0..<1)),
        ("GET", ["Range: bytes=0-99, 50-149"], .part(0..<150)),
        ("GET", ["Range: bytes=0-9, 500-509"], .parts([0..<10, 500..<510])),
        ("GET", ["Range: bytes=500-509,0-9,-1"], .parts([0..<10, 500..<510, 999..<1000])),
        ("GET", ["Range: bytes=1000-"], .unsatisfiable), ("GET", ["Range: bytes=-0"], .unsatisfiable),
        ("GET", ["Range: bytes=5000-5001,2000-"], .unsatisfiable),
        ("GET", ["Range: bytes=1000-, 0-0"], .part(0..<1)), ("GET", ["Range: lines=0-1"], .whole),
        ("GET", ["Range: bytes=5-1"], .whole), ("GET", ["Range: bytes=a-b"], .whole),
        ("GET", ["Range: bytes=0-0", "Range: bytes=1-1"], .whole), ("HEAD", ["Range: bytes=0-0"], .whole),
        // §13.1.5
        ("GET", ["Range: bytes=0-0", "If-Range: $e"], .part(0..<1)),
        ("GET", ["Range: bytes=0-0", "If-Range: W/$e"], .whole),
        ("GET", ["Range: bytes=0-0", "If-Range: \"x\""], .whole),
        ("GET", ["Range: bytes=0-0", "If-Range: $d"], .part(0..<1)),
        ("GET", ["Range: bytes=0-0", "If-Range: Sun, 13 Sep 2020 12:26:41 GMT"], .whole),
        ("GET", ["Range: bytes=1000-", "If-Range: \"x\""], .whole), ("GET", ["If-Range: $e"], .whole),
    ]

    @Test(arguments: Sender.allCases, rows)
    func preconditionsAndRangesAreTheSameForEverySender(
        _ kind: Sender, _ row: (method: String, fields: [String], expected: Expected)
    ) async throws {
        let folder = try WebFolder()
        folder.write("a.txt", Self.content)
        let send = try Self.sender(kind, folder)
        let plain = try await send("GET", [])
        let tag = try #require(plain["ETag"])
        let date = try #require(plain["Last-Modified"])
        #expect(date == "Sun, 13 Sep 2020 12:26:40 GMT")
        let fields = try row.fields.map { line -> (String, String) in
            let colon = try #require(line.firstIndex(of: ":"))
            let value = String(line[line.index(colon, offsetBy: 2)...])
                .replacing("$e", with: tag).replacing("$d", with: date)
            return (String(line[..<colon]), value)
        }
        try Self.check(try await send(row.method, fields), row.expected, tag: tag)
    }

    private static func check(_ response: TestResponse, _ expected: Expected, tag: String) throws {
        if case .failed = expected {
            #expect(response.status == 412)
            return
        }
        #expect(response["ETag"] == tag)
        switch expected {
        case .whole:
            #expect(response.status == 200)
            #expect(response["Content-Range"] == nil)
            #expect(response["Accept-Ranges"] == "bytes")
            #expect(response["Content-Type"] == "text/plain; charset=utf-8")
            #expect(response["X-Content-Type-Options"] == "nosniff")
            #expect(response.body == content)
        case .unmodified:
            #expect(response.status == 304)
            #expect(response["Content-Type"] == nil)
            #expect(response.body.isEmpty)
        case .failed: break
        case .unsatisfiable:
            #expect(response.status == 416)
            #expect(response["Content-Range"] == "bytes */1000")
            #expect(response["Content-Type"] == nil)
            #expect(response.body.isEmpty)
        case .part(let range):
            #expect(response.status == 206)
            #expect(response["Content-Range"] == Self.contentRange(range))
            #expect(response["Content-Type"] == "text/plain; charset=utf-8")
            #expect(response.body == Array(content[range]))
        case .parts(let ranges):
            #expect(response.status == 206)
            #expect(response["Content-Range"] == nil)
            let type = try #require(response["Content-Type"])
            #expect(type.hasPrefix("multipart/byteranges; boundary="))
            let boundary = type.split(separator: "=").last ?? ""
            var whole: [UInt8] = []
            for (index, range) in ranges.enumerated() {
                whole += (index == 0 ? "" : "\r\n").utf8
                whole += "--\(boundary)\r\nContent-Type: text/plain; charset=utf-8\r\n".utf8
                whole += "Content-Range: \(Self.contentRange(range))\r\n\r\n".utf8 + content[range]
            }
            #expect(response.body == whole + "\r\n--\(boundary)--\r\n".utf8)
        }
    }

    private static func contentRange(_ range: Range<Int>) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/1000"
    }

    /// §14.1.2: empty content has no satisfiable range.
    @Test(arguments: Sender.allCases)
    func emptyContentIsSentCompletely(_ kind: Sender) async throws {
        let folder = try WebFolder()
        folder.write("a.txt", [])
        let send = try Self.sender(kind, folder)
        #expect(try await send("GET", []).status == 200)
        #expect(try await send("GET", [("Range", "bytes=0-")]).status == 416)
        #expect(try await send("GET", [("Range", "bytes=-1")]).status == 200)
    }

    /// HTML stored by clients must not run scripts in the origin of the server; HTML of the site owner may.
    @Test func onlySharesSandboxActiveContent() async throws {
        let folder = try WebFolder(["a.html"])
        let share = Share(
            resources: try FileResourceStore(root: folder.path),
            state: try IndexedShareState(store: MemoryStateStore()),
            work: PooledWorkRunner(pool: BlockingPool()),
            configuration: ShareConfiguration(), now: { WebFolder.now }, report: { _ in })
        let shared = try await TestClient(WebDAVHandler(share: share, page: nil)).send("GET", "/a.html")
        #expect(shared["Content-Security-Policy"] == "sandbox")
        let site = try await folder.client().send("GET", "/a.html")
        #expect(site["Content-Security-Policy"] == nil)
        #expect(site["X-Content-Type-Options"] == "nosniff")
    }
}
