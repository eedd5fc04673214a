import DavitHTTP
import DavitJSON
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Unreadable client input, for all body readers. A 413 response contains the limit, most 400 responses the
/// byte offset, and a 415 response what is unsupported. The handler is never called.
struct BadInputTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var path: String
        var type: String
        var coding: String?
        var body: String
        var status: UInt16
        var reason: String

        var testDescription: String { "\(path): \(reason)" }
    }

    private static func row(
        _ path: String, _ type: String, _ body: String, _ status: UInt16, _ reason: String,
        coding: String? = nil
    ) -> Row {
        Row(path: path, type: type, coding: coding, body: body, status: status, reason: reason)
    }

    static let form = "application/x-www-form-urlencoded"
    static let multipart = "multipart/form-data; boundary=b"
    static let part = "--b\r\nContent-Disposition: form-data; name="

    static let rows = [
        // Input above a limit
        row("/form", form, "a=\(String(repeating: "x", count: 100))", 413, "100 bytes"),
        row("/form", form, "a=&b=&c=&d=", 413, "3 fields"),
        row("/text", "text/plain", String(repeating: "x", count: 101), 413, "100 bytes"),
        row("/json", "application/json", "\"\(String(repeating: "x", count: 100))\"", 413, "100 bytes"),
        row("/multipart", multipart, "\(part)a\r\n\r\n12345678901\r\n--b--", 413, "10 bytes"),
        row("/multipart", multipart, "\(part)a; filename=f\r\n\r\n12345678901\r\n--b--", 413, "10 bytes"),
        row("/multipart", multipart, String(repeating: "\(part)a\r\n\r\n1\r\n", count: 4), 413, "3 parts"),
        row("/file", "", String(repeating: "x", count: 101), 413, "100 bytes"),
        // Malformed input
        row("/form", form, "a=1&b=%", 400, "byte 6"),
        row("/text", "text/plain; charset=us-ascii", "abö", 400, "byte 2"),
        row("/json", "application/json", "[1,]", 400, "byte 3"),
        row("/json", "application/json", "", 400, "byte 0"),
        row("/multipart", multipart, "--b\r\nnonsense\r\n\r\n", 400, "byte 5"),
        row("/multipart", multipart, "\(part)a\r\n\r\n1", 400, "byte "),
        row("/multipart", "multipart/form-data", "", 400, "boundary"),
        row("/form", form, "a=1", 400, "encoded content", coding: "gzip"),
        // A value of a different type
        row("/json", "application/json", "{\"a\":1}", 422, "wrong type"),
        // Unsupported media types
        row("/form", "text/plain", "a=1", 415, "form"),
        row("/form", form + "; charset=x", "a=1", 415, "charset"),
        row("/text", "text/plain; charset=koi8-r", "a", 415, "charset"),
        row("/json", "text/plain", "1", 415, "JSON"),
        row("/json", "application/json; charset=utf-16", "1", 415, "UTF-8"),
        row("/multipart", form, "a=1", 415, "multipart"),
        row("/form", form, "a=1", 415, "coding", coding: "br"),
        row("/json", "application/json", "1", 415, "coding", coding: "zstd"),
        row("/file", "", "1", 415, "coding", coding: "compress"),
    ]

    @Test(arguments: rows)
    func badInputIsRefused(row: Row) async throws {
        let called = Mutex(0)
        let count = { @Sendable in called.withLock { $0 += 1 } }
        var limits = MultipartLimits()
        limits.parts = 3
        limits.fieldBytes = 10
        limits.fileBytes = 10
        let router = Router { routes in
            routes.post("/form", body: .form(limitBytes: 100, limitFields: 3)) { _, _ in
                count()
                return .text("")
            }
            routes.post("/text", body: .text(limitBytes: 100)) { _, _ in
                count()
                return .text("")
            }
            routes.post("/json", body: .json([Int].self, limitBytes: 100)) { _, _ in
                count()
                return .text("")
            }
            routes.post("/multipart", body: .multipart(limits: limits)) { _, _ in
                count()
                return .text("")
            }
            routes.post("/file", body: .file(limitBytes: 100)) { _, _ in
                count()
                return .text("")
            }
        }
        var fields = row.type.isEmpty ? [] : [("Content-Type", row.type)]
        if let coding = row.coding { fields.append(("Content-Encoding", coding)) }
        let response = try await TestClient(router).send("POST", row.path, fields, text: row.body)
        #expect(response.status == row.status, "\(response.text)")
        #expect(response.text.contains(row.reason), "\(response.text)")
        #expect(called.withLock { $0 } == 0)
        // RFC 9110 §15.5.16
        if row.status == 415, row.coding != nil {
            #expect(response["Accept-Encoding"] == "gzip, deflate, identity")
        }
    }

    /// A 500 response contains no details, only a request ID that is also logged.
    @Test func handlerErrorIsLoggedWithItsRequestID() async throws {
        struct Secret: Error { var password = "open sesame" }
        let reported = Mutex<[String]>([])
        let report = { @Sendable (failure: HandlerFailure) in
            reported.withLock { $0.append(failure.requestID) }
        }
        let router = Router(report: report) { routes in
            routes.post("/", body: .json([Int].self)) { _, _ in throw Secret() }
        }
        let response = try await TestClient(router).send(
            "POST", "/", [("Content-Type", "application/json")], text: "[1]")
        #expect(response.status == 500)
        #expect(!response.text.contains("sesame"))
        #expect(reported.withLock { $0 } == [try #require(response["X-Request-Id"])])
        #expect(response.text.contains(try #require(response["X-Request-Id"])))
    }
}
