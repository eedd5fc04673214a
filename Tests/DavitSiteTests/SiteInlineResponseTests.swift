import DavitHTTP
import DavitServer
import DavitSite
import DavitTesting
import Testing

/// Responses without a task, and content that is compressed while it is sent.
struct SiteInlineResponseTests {
    static let long = Array((0..<20_000).map { "line \($0)\n" }.joined().utf8)

    static func folder() throws -> WebFolder {
        let folder = try WebFolder(["index.html", "docs/index.html", "404.html", "list/a"], in: "/dev/shm")
        folder.write("style.css", long)
        folder.write("style.css.gz", try Gzip.encode(long))
        folder.write("long.txt", long)
        folder.link("link", to: "index.html")
        return folder
    }

    static func request(_ line: String, _ fields: [String] = []) throws -> HTTPRequest {
        let lines = ["\(line) HTTP/1.1", "Host: localhost"] + fields
        return try HTTPRequest(parsing: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    static let rows: [(line: String, fields: [String], status: UInt16?)] = [
        ("GET /", [], 200), ("HEAD /", [], 200), ("GET /docs/", [], 200), ("GET /docs", [], 301),
        ("GET /missing", [], 404), ("GET /docs/missing", [], 404), ("GET /.hidden", [], 404),
        ("GET /", ["If-None-Match: *"], 304), ("GET /", ["Range: bytes=0-0"], 206),
        ("GET /style.css", ["Accept-Encoding: gzip"], 200), ("GET /long.txt", ["Accept-Encoding: gzip"], 200),
        // These requests need to wait.
        ("GET /list/", [], nil), ("GET /link", [], nil), ("PUT /", [], 405), ("OPTIONS /", [], 204),
    ]

    @Test(arguments: rows)
    func contentInMemoryIsSentInline(line: String, fields: [String], status: UInt16?) throws {
        let site = try Self.folder().site { $0.listsFolders = true }
        // Files stay open from the second request on.
        for _ in 0..<4 {
            let response = try site.respond(to: try Self.request(line, fields)).readyResponse
            #expect(response?.status.code == status)
        }
    }

    @Test func pathsAboveTheRootAreRefused() throws {
        let site = try Self.folder().site()
        #expect(throws: HTTPError.self) { _ = try site.respond(to: try Self.request("GET /%2e%2e/")) }
    }

    /// The file shrinks while it is compressed and sent. The connection must be closed, because the content
    /// would be incomplete.
    @Test func truncatedFileAbortsTheConnection() async throws {
        let folder = try Self.folder()
        let site = try folder.site()
        let request = try Self.request("GET /long.txt", ["Accept-Encoding: gzip"])
        let response = try await site.respond(to: request).response()
        guard case .stream(let stream) = response.body else {
            Issue.record("the body of the response is not a stream")
            return
        }
        folder.write("long.txt", Array("short".utf8))
        await #expect(throws: HTTPError.disconnected) {
            let buffer = IOBuffer(capacity: 64 << 10)
            repeat {
                buffer.removeAll()
                try await stream.next(into: buffer)
            } while buffer.count > 0
        }
    }
}
