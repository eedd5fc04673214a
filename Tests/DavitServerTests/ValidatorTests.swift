import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Validators set by a handler, and the evaluation of preconditions (W044 in
/// docs/coming-from-gcdwebserver.md).
struct ValidatorTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    static let modified = Timestamp(seconds: 784_111_777)

    static let client = RouterTests.client { routes in
        routes.get("/both") { _ in
            .text("x").entityTag("v 1").lastModified(modified).cacheAge(60).attachment(named: "a.txt")
        }
        routes.get("/tag") { _ in .text("x").entityTag("v1", isWeak: true) }
        routes.get("/time") { _ in .text("x").lastModified(modified) }
        routes.get("/neither") { _ in .text("x") }
        routes.get("/gone") { _ in .text("x", status: .gone).entityTag("v1") }
        routes.post("/both") { _ in .text("x").entityTag("v 1") }
        routes.get(matching: { /\/pattern/ }) { _, _ in .text("x").entityTag("v1") }
        routes.on(where: { $0.path == "/condition" }) { _ in .text("x").entityTag("v1") }
        routes.mount("/mount", Always())
    }

    /// Ignores preconditions.
    struct Always: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            .ready(HTTPResponse.text("x").entityTag("v1"))
        }
    }

    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"

    static let rows: [(request: String, fields: [(String, String)], status: UInt16)] = [
        ("GET /both", [], 200), ("GET /both", [("If-None-Match", "\"v%201\"")], 304),
        ("HEAD /both", [("If-None-Match", "W/\"v%201\"")], 304),
        ("GET /both", [("If-None-Match", "\"v1\"")], 200),
        ("GET /both", [("If-None-Match", "*")], 304), ("GET /both", [("If-Modified-Since", date)], 304),
        ("GET /both", [("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT")], 304),
        ("GET /both", [("If-Modified-Since", earlier)], 200),
        ("GET /both", [("If-None-Match", "\"v1\""), ("If-Modified-Since", date)], 200),
        ("GET /both", [("If-Match", "\"v%201\"")], 200), ("GET /both", [("If-Match", "\"v1\"")], 412),
        ("GET /both", [("If-Unmodified-Since", earlier)], 412),
        ("GET /both", [("If-Unmodified-Since", date)], 200),
        ("GET /tag", [("If-None-Match", "\"v1\"")], 304), ("GET /tag", [("If-Match", "W/\"v1\"")], 412),
        // RFC 9110 §13.1.3, §13.1.4: these preconditions are ignored without a modification time.
        ("GET /tag", [("If-Modified-Since", date)], 200),
        ("GET /tag", [("If-Unmodified-Since", earlier)], 200),
        ("GET /tag", [("If-Match", "*"), ("If-Modified-Since", date)], 200),
        ("GET /time", [("If-Modified-Since", date)], 304), ("GET /time", [("If-None-Match", "\"v1\"")], 200),
        ("GET /time", [("If-Match", "\"v1\"")], 412), ("GET /neither", [("If-None-Match", "*")], 200),
        // §13.2.1
        ("GET /gone", [("If-None-Match", "\"v1\"")], 410),
        // Preconditions of POST are ignored, because the change has already been made.
        ("POST /both", [("If-None-Match", "*")], 200), ("POST /both", [("If-Match", "\"v1\"")], 200),
        ("GET /pattern", [("If-None-Match", "\"v1\"")], 304),
        ("GET /condition", [("If-None-Match", "\"v1\"")], 304),
        ("GET /mount/a", [("If-None-Match", "\"v1\"")], 200),
    ]

    @Test(arguments: rows)
    func w044PreconditionsOfARequestAreEvaluated(
        request: String, fields: [(String, String)], status: UInt16
    ) async throws {
        let words = request.split(separator: " ").map { String($0) }
        let response = try await Self.client.send(words[0], words[1], fields)
        #expect(response.status == status)
        if status == 304 { #expect(response.body.isEmpty) }
    }

    /// RFC 9110 §15.4.5
    @Test func notModifiedHasNoContentFields() async throws {
        let response = try await Self.client.send("GET", "/both", [("If-None-Match", "*")])
        #expect(response["ETag"] == "\"v%201\"")
        #expect(response["Cache-Control"] == "max-age=60")
        for name in ["Content-Type", "Content-Disposition", "Last-Modified"] {
            #expect(response[name] == nil, "\(name)")
        }
        let time = try await Self.client.send("GET", "/time", [("If-Modified-Since", Self.date)])
        #expect(time["Last-Modified"] == Self.date)
    }

    static let tags: [(version: String, field: String)] = [
        ("abc", "\"abc\""), ("", "\"\""), ("a\"b", "\"a%22b\""), ("a b%", "\"a%20b%25\""),
        ("ö", "\"%C3%B6\""),
        ("a\r\nb", "\"a%0D%0Ab\""), ("W/x", "\"W/x\""),
    ]

    /// RFC 9110 §8.8.3
    @Test(arguments: tags)
    func anyTextMakesAValidTag(version: String, field: String) throws {
        let response = HTTPResponse.text("").entityTag("before").entityTag(version)
        #expect(response.fields.first(.etag) == field)
        #expect(EntityTag.parse(Array(field.utf8).span) != nil)
        #expect(HTTPResponse.text("").entityTag(version, isWeak: true).fields.first(.etag) == "W/" + field)
    }

    static let changes: [(fields: [(String, String)], version: String?, status: UInt16)] = [
        ([], "1", 200), ([("If-Match", "\"1\"")], "1", 200), ([("If-Match", "\"1\"")], "2", 412),
        ([("If-Match", "*")], nil, 412), ([("If-None-Match", "*")], nil, 200),
        ([("If-None-Match", "*")], "1", 412),
        ([("If-None-Match", "\"1\"")], "1", 412), ([("If-Unmodified-Since", earlier)], "1", 412),
        ([("If-Unmodified-Since", date)], "1", 200), ([("If-Modified-Since", date)], "1", 200),
    ]

    @Test(arguments: changes)
    func w044PreconditionsOfAChangeAreEvaluated(
        fields: [(String, String)], version: String?, status: UInt16
    ) async throws {
        let client = RouterTests.client { routes in
            routes.put("/") { request in
                try request.evaluatePreconditions(version: version, modified: Self.modified)
                return .text("changed")
            }
        }
        #expect(try await client.send("PUT", "/", fields, text: "x").status == status)
    }
}
