import DavitHTTP
import DavitLogging
import DavitServer
import DavitTransport
import Testing

/// Large stored content is sent without a task until the socket is full, and then by a task.
@Suite(.timeLimit(.minutes(15)))
struct LargeInlineResponseTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

    private func server(_ file: TestFile, log: (@Sendable (AccessRecord) -> Void)? = nil) throws -> TestServer
    {
        try TestServer {
            $0.accessLog = log
        } ready: { request in
            let path = request.target.rawPath.count
            // Small responses are mixed with large ones, so that the buffered output must be sent first.
            if path > 2 { return HTTPResponse(status: .ok, body: .bytes([7])) }
            return HTTPResponse(status: .ok, body: .file(file, offset: 5, length: file.length - 5))
        }
    }

    /// The responses exceed the socket buffers, because the peer reads only after all requests are sent.
    @Test func noContentIsLostWhenTheSocketIsFull() throws {
        let content = ResponseWritingTests.content(1_500_000)
        let file = try TestFile(content)
        let server = try server(file)
        let peer = try server.connect()
        let count = ResponseWritingTests.systemLimit / content.count + 3
        let small = "GET /small HTTP/1.1\r\nHost: h\r\n\r\n"
        try peer.send((0..<count).map { _ in small + Self.get }.joined())
        for _ in 0..<count {
            #expect(try peer.response().content == [7])
            #expect(try peer.response().content == Array(content[5...]))
        }
    }

    @Test func headRequestGetsNoContent() throws {
        let file = try TestFile(ResponseWritingTests.content(100_005))
        let server = try server(file)
        let peer = try server.connect()
        try peer.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n" + Self.get)
        #expect(try peer.response(toHead: true)["content-length"] == "100000")
        #expect(try peer.response().content.count == 100_000)
    }

    @Test func persistenceFollowsTheRequest() throws {
        let file = try TestFile(ResponseWritingTests.content(100_005))
        let server = try server(file)
        let peer = try server.connect()
        try peer.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let response = try peer.response()
        #expect(response["connection"] == "close")
        #expect(response.content.count == 100_000)
        #expect(try peer.rest() == [])
    }

    /// The head has been sent when the file turns out to be too short: the connection is aborted, and the log
    /// records it once.
    @Test func truncatedFileAbortsTheConnection() async throws {
        let (records, log) = AsyncStream<AccessRecord>.makeStream()
        let file = try TestFile(ResponseWritingTests.content(100_000), claiming: 100_001)
        let server = try server(file) { log.yield($0) }
        let peer = try server.connect()
        try peer.send(Self.get + Self.get)
        #expect(throws: (any Error).self) { try peer.response() }
        var next = records.makeAsyncIterator()
        let record = await next.next()
        #expect(record?.isComplete == false)
        #expect(record?.bytesSent == 99_995)
        #expect(record?.status == .ok)
        let other = try server.connect()
        try other.send("GET /small HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try other.response().content == [7])
        #expect(await next.next()?.isComplete == true, "the aborted response should be logged once")
    }
}
