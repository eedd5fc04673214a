import DavitHTTP
import DavitServer
import DavitSite
import DavitTesting
import Testing

struct FileResponseTests {
    static func get(
        _ path: String, _ fields: [(String, String)] = [], attachment: String? = nil,
        _ configure: @escaping @Sendable (inout HTTPResponse.FileOptions) -> Void = { _ in }
    ) async throws -> TestResponse {
        let router = Router { routes in
            routes.get("/") { request in
                var options = HTTPResponse.FileOptions()
                configure(&options)
                return try await .file(path, for: request, attachment: attachment, options: options)
            }
        }
        return try await TestClient(router).send("GET", "/", fields)
    }

    /// A single file, as an attachment, with a cache age and ranges (W031 in
    /// docs/coming-from-gcdwebserver.md).
    @Test func w031FileIsSentAsConfigured() async throws {
        let folder = try WebFolder(["a.pdf"])
        let path = folder.path + "/a.pdf"
        let plain = try await Self.get(path)
        #expect(plain.text == "a.pdf")
        #expect(plain["Content-Type"] == "application/pdf")
        #expect(plain["Content-Disposition"] == nil)
        #expect(plain["Cache-Control"] == "no-cache")
        let response = try await Self.get(path, [("Range", "bytes=2-4")], attachment: "Bericht ö.pdf") {
            $0.cacheAgeSeconds = 60
        }
        #expect(response.status == 206)
        #expect(response.text == "pdf")
        #expect(response["Cache-Control"] == "max-age=60")
        #expect(
            response["Content-Disposition"]
                == "attachment; filename=\"Bericht _.pdf\"; filename*=UTF-8''Bericht%20%C3%B6.pdf")
    }

    /// The media type depends on the extension and can be overridden, the entity tag is that of the file, and
    /// the last segment of the path must not be a link (W063 in docs/coming-from-gcdwebserver.md).
    @Test func w063FileHasItsTypeAndEntityTag() async throws {
        let folder = try WebFolder(["a.svg", "b"])
        #expect(try await Self.get(folder.path + "/b")["Content-Type"] == "application/octet-stream")
        let typed = try await Self.get(folder.path + "/a.svg") { $0.type = "image/x-own" }
        #expect(typed["Content-Type"] == "image/x-own")
        let tag = try #require(typed["ETag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
        folder.write("a.svg", Array("a.svg".utf8), modified: WebFolder.modified + 1)
        #expect(try await Self.get(folder.path + "/a.svg", [("If-None-Match", tag)]).status == 200)
    }

    static let types: [(name: String, type: String)] = [
        ("a.log", "text/x-log"), ("a.LOG", "text/x-log"), ("a.b.log", "text/x-log"),
        ("log", "application/octet-stream"),
        (".log", "application/octet-stream"), ("a.html", "application/x-own"),
        ("a.htm", "text/html; charset=utf-8"), ("a.txt", "text/plain; charset=utf-8"),
        ("a.", "application/octet-stream"),
    ]

    /// The media type for a file name, with overrides (W067 in docs/coming-from-gcdwebserver.md).
    @Test(arguments: types)
    func w067ExtensionDeterminesTheType(name: String, type: String) async throws {
        let types = MediaTypes(["log": "text/x-log", "HTML": "application/x-own"])
        #expect(types.type(forName: name) == type)
        let folder = try WebFolder([name])
        #expect(try await Self.get(folder.path + "/" + name) { $0.types = types }["Content-Type"] == type)
    }

    @Test func onlyRegularFilesAreSent() async throws {
        let folder = try WebFolder(["a", "sub/b"])
        folder.makeSpecial("fifo")
        folder.link("link", to: "a")
        folder.link("dangling", to: "nothing")
        folder.link("folder", to: "sub")
        folder.link("fifolink", to: "fifo")
        for name in [
            "fifo", "link", "dangling", "sub", "sub/", "missing", "a/", "a/b", "folder", "", "fifolink",
        ] {
            #expect(try await Self.get(folder.path + "/" + name).status == 404, "\(name)")
        }
        for path in ["/dev/zero", "", "/", ".", "a\0b", String(repeating: "x", count: 300)] {
            #expect(try await Self.get(path).status == 404, "\(path.prefix(20))")
        }
        // Links in parent folders are part of the path that the program configured.
        #expect(try await Self.get(folder.path + "/folder/b").text == "sub/b")
        #expect(try await Self.get(folder.path + "/link") { $0.followsLink = true }.text == "a")
        for name in ["dangling", "folder", "fifolink"] {
            #expect(try await Self.get(folder.path + "/" + name) { $0.followsLink = true }.status == 404)
        }
    }

    struct Busy: BlockingWorkRunner {
        func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { nil }
    }

    @Test func busyThreadPoolReturns503() async throws {
        let folder = try WebFolder(["a"])
        let path = folder.path + "/a"
        let router = Router { $0.get("/") { try await .file(path, for: $0, work: Busy()) } }
        let response = try await TestClient(router).send("GET", "/")
        #expect(response.status == 503)
        #expect(response["Retry-After"] == "1")
    }

    @Test func notModifiedResponseHasNoContentDisposition() async throws {
        let folder = try WebFolder(["a"])
        let tag = try #require(try await Self.get(folder.path + "/a")["ETag"])
        let response = try await Self.get(folder.path + "/a", [("If-None-Match", tag)], attachment: "b")
        #expect(response.status == 304)
        #expect(response["Content-Disposition"] == nil)
        #expect(response["Cache-Control"] == "no-cache")
    }
}
