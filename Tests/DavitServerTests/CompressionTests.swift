import DavitHTTP
import DavitServer
import DavitTesting
import DavitZlib
import Synchronization
import Testing

struct CompressionTests {
    static let text = String(repeating: "All work and no play makes a dull page. ", count: 100)
    static let accepting = [("Accept-Encoding", "gzip")]

    static let router = Router { routes in
        routes.get("/text") { _ in .text(text) }
        routes.get("/large") { _ in .bytes(large, type: "text/plain") }
        routes.get("/short") { _ in .text(String(text.prefix(1023))) }
        routes.get("/threshold") { _ in .text(String(text.prefix(1024))) }
        routes.get("/picture") { _ in .bytes(Array(text.utf8), type: "image/png") }
        routes.get("/untyped") { _ in HTTPResponse(status: .ok, body: .bytes(Array(text.utf8))) }
        routes.get("/stream") { _ in
            var rest = Array(repeating: Array("piece of text ".utf8), count: 50)
            return .stream(type: "text/plain") { rest.popLast() }
        }
        routes.get("/file") { _ in
            var response = HTTPResponse(status: .ok, body: .file(NoFile(), offset: 0, length: 0))
            response.fields.append(.contentType, "text/plain")
            return response
        }
        for status in [206, 404] as [UInt16] {
            routes.get("/\(status)") { _ in .text(text, status: HTTPStatus(status)) }
        }
        routes.get("/coded") { _ in with(.contentEncoding, "br") }
        routes.get("/part") { _ in with(.contentRange, "bytes 0-1/2") }
        routes.get("/fixed") { _ in with(.cacheControl, "max-age=1, No-Transform") }
        routes.get("/varied") { _ in with(.vary, "Origin") }
        routes.get("/strong") { _ in with(.etag, "\"a\"") }
        routes.get("/weak") { _ in with(.etag, "W/\"a\"") }
    }

    static let client = TestClient(router.applying(Compression()))
    static let large = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 5) }

    static func with(_ name: FieldName, _ value: String) -> HTTPResponse {
        var response = HTTPResponse.text(text)
        response.fields.append(name, value)
        return response
    }

    struct Resource: Sendable, CustomTestStringConvertible {
        let path: String
        let content: [UInt8]
        var testDescription: String { path }

        init(_ path: String, _ content: [UInt8]) { (self.path, self.content) = (path, content) }
    }

    static let contents = [
        Resource("/text", Array(text.utf8)), Resource("/large", large),
        Resource("/threshold", Array(text.utf8.prefix(1024))),
        Resource("/stream", Array(String(repeating: "piece of text ", count: 50).utf8)),
        Resource("/404", Array(text.utf8)),
    ]

    @Test(arguments: contents)
    func responsesAreCompressedIfAccepted(resource: Resource) async throws {
        let (path, content) = (resource.path, resource.content)
        let coded = try await Self.client.send("GET", path, Self.accepting)
        #expect(coded["Content-Encoding"] == "gzip")
        #expect(coded["Vary"] == "Accept-Encoding")
        #expect(coded.body.count < content.count)
        #expect(try Gzip.decode(coded.body) == content)
        for fields in [[], [("Accept-Encoding", "gzip;q=0")], [("Accept-Encoding", "br, deflate")]] {
            let plain = try await Self.client.send("GET", path, fields)
            #expect(plain["Content-Encoding"] == nil)
            #expect(plain["Vary"] == "Accept-Encoding")
            #expect(plain.body == content)
        }
    }

    @Test(arguments: [
        "/short", "/picture", "/untyped", "/file", "/206", "/coded", "/part", "/fixed",
    ])
    func responsesThatMustNotBeCompressedAreUnchanged(path: String) async throws {
        let plain = try await TestClient(Self.router).send("GET", path, Self.accepting)
        let response = try await Self.client.send("GET", path, Self.accepting)
        #expect(response.fields.encoded == plain.fields.encoded)
        #expect(response.body == plain.body)
    }

    /// RFC 9110 §9.3.2: HEAD has the fields of GET, except those known only after content is generated.
    @Test(arguments: ["/text", "/large", "/stream", "/strong", "/short", "/varied"])
    func headHasTheFieldsOfGet(path: String) async throws {
        let get = try await Self.client.send("GET", path, Self.accepting)
        let head = try await Self.client.send("HEAD", path, Self.accepting)
        #expect(get.fields.encoded == head.fields.encoded)
    }

    @Test func headOmitsTheLengthOfUncompressedContent() async throws {
        let length = String(Self.text.utf8.count)
        let handler = Answering { Self.with(.contentLength, length) }.applying(Compression())
        let request = try makeRequest("HEAD / HTTP/1.1", "Host: a", "Accept-Encoding: gzip")
        let response = try await handler.respond(to: request).response()
        #expect(response.body.length == nil)
        #expect(!response.fields.contains(.contentLength))
        let plain = try await handler.respond(to: try makeRequest("HEAD / HTTP/1.1", "Host: a"))
            .response()
        #expect(plain.fields.first(.contentLength) == length)
    }

    @Test func varyIsExtended() async throws {
        #expect(try await Self.client.send("GET", "/varied")["Vary"] == "Origin, Accept-Encoding")
        let handler = Self.router.applying(Compression()).applying(CORS(origins: ["https://app.example"]))
        #expect(try await TestClient(handler).send("GET", "/text")["Vary"] == "Accept-Encoding, Origin")
    }

    /// RFC 9110 §8.8.3.3: two different byte sequences must not share a strong tag.
    @Test func strongTagBecomesWeak() async throws {
        #expect(try await Self.client.send("GET", "/strong", Self.accepting)["ETag"] == "W/\"a\"")
        #expect(try await Self.client.send("GET", "/strong")["ETag"] == "\"a\"")
        #expect(try await Self.client.send("GET", "/weak", Self.accepting)["ETag"] == "W/\"a\"")
    }

    static let conditional: [(condition: String, status: UInt16, tag: String, vary: String?)] = [
        // The client's copy is valid in either coding.
        ("W/\"a\"", 304, "W/\"a\"", "Accept-Encoding"), ("\"a\"", 304, "\"a\"", nil),
        ("\"b\", W/\"a\"", 304, "W/\"a\"", "Accept-Encoding"), ("\"a\", W/\"a\"", 304, "\"a\"", nil),
        ("*", 304, "\"a\"", nil), ("\"b\"", 200, "W/\"a\"", "Accept-Encoding"),
    ]

    @Test(arguments: conditional)
    func strongAndWeakTagsMatch(condition: String, status: UInt16, tag: String, vary: String?) async throws {
        let client = TestClient(Answering.conditionally.applying(Compression()))
        let response = try await client.send("GET", "/", Self.accepting + [("If-None-Match", condition)])
        #expect(response.status == status)
        #expect(response["ETag"] == tag)
        #expect(response["Vary"] == vary)
    }

    @Test func readyResponseRemainsReady() async throws {
        let request = try makeRequest("GET / HTTP/1.1", "Host: a", "Accept-Encoding: gzip")
        let ready = Answering { .text(Self.text) }.applying(Compression())
        let response = try ready.respond(to: request).readyResponse
        #expect(response?.fields.first(.contentEncoding) == "gzip")
        let later = try Self.router.applying(Compression()).respond(
            to: makeRequest("GET /text HTTP/1.1", "Host: a", "Accept-Encoding: gzip"))
        #expect(later.readyResponse == nil)
        #expect(try await later.response().fields.first(.contentEncoding) == "gzip")
    }
}

/// Tests the output of a compressed stream and its timing.
struct GzipStreamTests {
    static func stream(_ make: @escaping @Sendable () -> HTTPResponse) async throws -> any BodyStream {
        let request = try makeRequest("GET / HTTP/1.1", "Host: a", "Accept-Encoding: gzip")
        let coded = try await Answering(make).applying(Compression()).respond(to: request).response()
        guard case .stream(let stream) = coded.body else { throw StreamTests.Failure() }
        return stream
    }

    static func next(_ stream: any BodyStream, _ buffer: IOBuffer) async throws(HTTPError) -> [UInt8] {
        buffer.removeAll()
        try await stream.next(into: buffer)
        return unsafe buffer.withBytes { unsafe Array($0) }
    }

    /// Each piece of a live stream can be decompressed before the next one is requested, with any buffer
    /// size.
    @Test(arguments: [1, 20, 63, 64, 100, 8192])
    func livePieceIsSentImmediately(capacity: Int) async throws {
        let pieces = ["first", "second", String(repeating: "third ", count: 1000), "x"]
        let asked = Mutex(0)
        let stream = try await Self.stream {
            .stream(type: "text/plain") {
                let index = asked.withLock { count in
                    count += 1
                    return count - 1
                }
                return index < pieces.count ? Array(pieces[index].utf8) : nil
            }
        }
        #expect(stream.flushesImmediately)
        let buffer = IOBuffer(capacity: capacity)
        var inflater = try Inflater(.gzip, limit: ExpansionLimit(bytes: 1 << 20))
        for (index, piece) in pieces.enumerated() {
            var text: [UInt8] = []
            while text.count < piece.utf8.count {
                let bytes = try await Self.next(stream, buffer)
                try #require(!bytes.isEmpty)
                text += try Gzip.decode(bytes, &inflater)
                #expect(asked.withLock { $0 } <= index + 1)
            }
            #expect(text == Array(piece.utf8))
        }
        while true {
            let bytes = try await Self.next(stream, buffer)
            if bytes.isEmpty { break }
            #expect(try Gzip.decode(bytes, &inflater).isEmpty)
        }
        try inflater.finish()
    }

    /// The first bytes are sent before most of the content has been generated.
    @Test func longResponseBeginsEarly() async throws {
        let left = Mutex(400_000)
        let stream = try await Self.stream {
            var response = HTTPResponse(
                status: .ok,
                body: .stream(
                    Lines {
                        left.withLock { left in
                            left -= 1
                            return left + 1
                        }
                    }))
            response.fields.append(.contentType, "text/plain")
            return response
        }
        #expect(!stream.flushesImmediately)
        let buffer = IOBuffer(capacity: 64 << 10)
        var coded = try await Self.next(stream, buffer)
        #expect(left.withLock { $0 } > 350_000)
        while true {
            let bytes = try await Self.next(stream, buffer)
            if bytes.isEmpty { break }
            coded += bytes
        }
        let lines = try Gzip.decode(coded).split(separator: 10)
        #expect(lines.count == 400_000)
        #expect(String(decoding: lines[399_999], as: UTF8.self) == "line 1")
    }

    @Test func streamFailureIsPropagated() async throws {
        let stream = try await Self.stream {
            .stream(type: "text/plain") { () throws -> [UInt8]? in throw StreamTests.Failure() }
        }
        await #expect(throws: HTTPError.disconnected) { try await stream.next(into: IOBuffer(capacity: 100)) }
    }

    @Test func emptyStreamIsCompressedToAnEmptyMember() async throws {
        let handler = Answering { .stream(type: "text/plain") { nil } }.applying(Compression())
        let coded = try await TestClient(handler).send("GET", "/", CompressionTests.accepting)
        #expect(coded["Content-Encoding"] == "gzip")
        #expect(try Gzip.decode(coded.body) == [])
    }
}

/// A stream that is not flushed after each piece.
private final class Lines: BodyStream {
    /// Returns a decreasing number; the content ends after 1.
    private let number: () -> Int
    private var hasEnded = false

    init(_ number: @escaping () -> Int) { self.number = number }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        while !hasEnded, buffer.freeCount >= 20 {
            let number = number()
            hasEnded = number == 1
            _ = buffer.append(Array("line \(number)\n".utf8))
        }
    }
}

/// Responds to every request in the same way.
private struct Answering: Handler {
    private let make: @Sendable (HTTPRequest) -> HTTPResponse

    init(_ make: @escaping @Sendable () -> HTTPResponse) { self.make = { _ in make() } }

    private init(to make: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.make = make }

    /// A page with a strong entity tag.
    static let conditionally = Answering(to: { request in
        let tag = EntityTag(opaque: Array("a".utf8))
        let outcome = Preconditions.evaluate(
            request, current: (tag, Timestamp(seconds: 0)), now: Timestamp(seconds: 0))
        var response =
            outcome == .notModified ? HTTPResponse(status: .notModified) : .text(CompressionTests.text)
        response.fields.append(.etag, tag.encoded)
        return response
    })

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { .ready(make(request)) }
}

private final class NoFile: FileContent {
    let descriptor: Int32 = -1
    let length: Int64 = 0
}
