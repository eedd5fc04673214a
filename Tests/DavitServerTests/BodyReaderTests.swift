import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct BodyReaderTests {
    static let client = RouterTests.client { routes in
        routes.post("/bytes", body: .bytes(limitBytes: 10)) { _, bytes in .bytes(bytes) }
        routes.post("/text", body: .text(limitBytes: 10)) { _, text in .text(text) }
        routes.post("/form", body: .form(limitBytes: 20, limitFields: 3)) { _, form in
            .text(form.map { "\($0.name)=\($0.value)" }.joined(separator: "|"))
        }
        routes.post("/stream", body: .stream) { _, chunks in
            var count = 0
            for try await chunk in chunks { count += chunk.count }
            return .text("\(count)")
        }
        routes.on(.put, matching: { /\/(\w+)/ }, body: .text()) { _, match, text in
            .text("\(match.1) \(text)")
        }
        routes.on(where: { $0.contentType?.essence == "text/csv" }, body: .text()) { _, text in
            .text("csv " + text)
        }
    }

    static let urlEncoded = "application/x-www-form-urlencoded"

    static let accepted: [(path: String, type: String, body: String, text: String)] = [
        ("/bytes", "a/b", "0123456789", "0123456789"), ("/bytes", "", "", ""),
        ("/text", "text/plain", "", ""),
        ("/text", "text/plain; charset=utf-8", "äöü", "äöü"), ("/text", "", "äöü", "äöü"),
        ("/text", "TEXT/PLAIN; CHARSET=\"US-ASCII\"", "abc", "abc"),
        ("/form", urlEncoded, "a=1&b=+%2B&a=2", "a=1|b= +|a=2"),
        ("/form", urlEncoded, "aaaaaaaaaa=bbbbbbbbb", "aaaaaaaaaa=bbbbbbbbb"),
        ("/form", urlEncoded + "; charset=UTF-8", "", ""),
        ("/form", urlEncoded + "; charset=iso-8859-1", "a=%F6", "a=ö"), ("/stream", "", "0123456789ab", "12"),
        ("/x", "text/csv", "a;b", "csv a;b"),
    ]

    @Test(arguments: accepted)
    func contentIsReadAsTheRouteRequires(path: String, type: String, body: String, text: String) async throws
    {
        let fields = type.isEmpty ? [] : [("Content-Type", type)]
        let response = try await Self.client.send("POST", path, fields, text: body)
        #expect(response.status == 200)
        #expect(response.text == text)
        for size in [1, 2, 7] {
            let pieces = PiecewiseBody(Array(body.utf8), size: size, isChunked: false)
            #expect(try await Self.client.send("POST", path, fields, body: pieces).text == text)
        }
    }

    @Test func contentIsReadForAPatternRoute() async throws {
        #expect(try await Self.client.send("PUT", "/name", text: "value").text == "name value")
    }

    static let refused: [(path: String, type: String, body: String, status: UInt16, reason: String)] = [
        // The reason of a 413 contains the limit.
        ("/bytes", "", "0123456789a", 413, "10 bytes"), ("/text", "", "0123456789a", 413, "10 bytes"),
        ("/form", urlEncoded, "a=1&a=2&a=3&a=4", 413, "3 fields"),
        ("/form", urlEncoded, "aaaaaaaaaa=bbbbbbbbbb", 413, "20 bytes"),
        // The reason of a 400 contains the byte offset.
        ("/form", urlEncoded, "a=1&b=%zz", 400, "byte 6"), ("/form", urlEncoded, "a=1&b=%ff", 400, "byte 6"),
        ("/text", "text/plain; charset=us-ascii", "abcö", 400, "byte 3"),
        ("/text", "text/plain; charset=utf-16", "abc", 400, "byte 2"),
        // The reason of a 415 contains what is unsupported.
        ("/text", "text/plain; charset=koi8-r", "a", 415, "charset"), ("/form", "", "a=1", 415, "form"),
        ("/form", "text/plain", "a=1", 415, "form"),
        ("/form", urlEncoded + "; charset=x", "a=1", 415, "charset"),
    ]

    @Test(arguments: refused)
    func unreadableContentIsRefusedWithAReason(
        path: String, type: String, body: String, status: UInt16, reason: String
    ) async throws {
        let fields = type.isEmpty ? [] : [("Content-Type", type)]
        let response = try await Self.client.send("POST", path, fields, text: body)
        #expect(response.status == status)
        #expect(response.text.contains(reason))
        // With unknown length, the error is detected while reading.
        let chunked = PiecewiseBody(Array(body.utf8), size: 3)
        #expect(try await Self.client.send("POST", path, fields, body: chunked).status == status)
    }

    @Test func excessiveLengthIsRefusedUnread() async throws {
        let body = PiecewiseBody([UInt8](repeating: 0, count: 11), size: 11, isChunked: false)
        #expect(try await Self.client.send("POST", "/bytes", body: body).status == 413)
        #expect(try await body.read(into: IOBuffer(capacity: 20)) == 11)
    }

    @Test func streamIsNotDecoded() async throws {
        let fields = [("Content-Encoding", "gzip"), ("Content-Type", Self.urlEncoded)]
        #expect(try await Self.client.send("POST", "/stream", fields, text: "a=1").text == "3")
    }
}
