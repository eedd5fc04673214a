import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTransport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ResponseWritingTests {
    /// Sizes around the limits at which responses take a different code path.
    static let sizes = [0, 1, 1024, 32 * 1024, 32 * 1024 + 1, 64 * 1024, 300_000, 5_000_000]

    /// A number of bytes that exceeds the system's buffers of one connection, in both directions together.
    static let systemLimit = 16 * 1024 * 1024

    static func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
    }

    @Test(arguments: sizes)
    func bytesArriveCompletely(count: Int) throws {
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(status: .ok, body: .bytes(Self.content(count)))
        }
        let peer = try server.connect()
        for _ in 0..<2 {
            try peer.send(RequestTests.get)
            #expect(try peer.response().content == Self.content(count))
        }
    }

    @Test(arguments: sizes)
    func filesArriveCompletely(count: Int) throws {
        let file = try TestFile(Self.content(count))
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            guard request.contains(.range) else {
                return HTTPResponse(status: .ok, body: .file(file, offset: 0, length: file.length))
            }
            let middle = file.length / 2
            return HTTPResponse(
                status: .partialContent,
                body: .segments(
                    file,
                    [
                        .bytes([1, 2]), .file(offset: middle, length: file.length - middle), .bytes([3]),
                        .file(offset: 0, length: middle),
                    ]))
        }
        let peer = try server.connect()
        try peer.send(
            RequestTests.get + "GET /a HTTP/1.1\r\nHost: h\r\nRange: bytes=0-\r\n\r\n" + RequestTests.get)
        let content = Self.content(count)
        #expect(try peer.response().content == content)
        let segments = try peer.response()
        #expect(segments.status == 206)
        var expected: [UInt8] = [1, 2]
        expected += content[(count / 2)...]
        expected.append(3)
        expected += content[..<(count / 2)]
        #expect(segments.content == expected)
        #expect(try peer.response().content == content)
    }

    @Test(arguments: [1000, 1_000_000])
    func truncatedFileClosesTheConnection(count: Int) throws {
        let file = try TestFile(Self.content(count), claiming: Int64(count) + 1)
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(status: .ok, body: .file(file, offset: 0, length: file.length))
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        #expect(throws: (any Error).self) { try peer.response() }
    }

    @Test(arguments: sizes)
    func streamsArriveCompletely(count: Int) throws {
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(status: .ok, body: .stream(PiecewiseStream(Self.content(count), of: 9_000)))
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get + RequestTests.get)
        for _ in 0..<2 {
            let response = try peer.response()
            #expect(response.content == Self.content(count))
            // A stream that ends within the first buffer gets a Content-Length and needs no chunks.
            #expect((response["content-length"] == nil) == (count > 60_000))
            #expect((response["transfer-encoding"] == "chunked") == (count > 60_000))
        }
    }

    @Test(arguments: sizes)
    func streamsOfKnownLengthNeedNoChunks(count: Int) throws {
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(
                status: .ok, body: .stream(PiecewiseStream(Self.content(count), of: 9_000, length: count)))
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get + "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n" + RequestTests.get)
        for isHead in [false, true, false] {
            let response = try peer.response(toHead: isHead)
            #expect(response["content-length"] == "\(count)")
            #expect(response["transfer-encoding"] == nil)
            if !isHead { #expect(response.content == Self.content(count)) }
        }
    }

    /// Content of a different length than declared must not appear complete (RFC 9112 §8).
    @Test(arguments: [1, 1_000, 70_000, 1_000_000], [-1, 1, 100_000])
    func streamOfWrongLengthClosesTheConnection(count: Int, excess: Int) throws {
        let length = max(0, count - excess)
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(
                status: .ok, body: .stream(PiecewiseStream(Self.content(count), of: 9_000, length: length)))
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get + RequestTests.get)
        #expect(throws: (any Error).self) {
            // The client receives at most the declared length, and no further response.
            #expect(try peer.response().content.count <= length)
            _ = try peer.response()
        }
    }

    /// HTTP/1.0 clients get no chunks (RFC 9112 §6.1); closing the connection ends the content (§6.3).
    @Test(arguments: sizes)
    func streamsForHTTP10EndWithTheConnection(count: Int) throws {
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(status: .ok, body: .stream(PiecewiseStream(Self.content(count), of: 9_000)))
        }
        let peer = try server.connect()
        try peer.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        let response = try peer.response()
        #expect(response["transfer-encoding"] == nil)
        #expect((response["connection"] == "close") == (count > 60_000))
        #expect(response.content == Self.content(count))
    }

    @Test func streamIsNotReadForHead() throws {
        let stream = AskedStream()
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(status: .ok, body: .stream(stream.body))
        }
        let peer = try server.connect()
        try peer.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\nHEAD /b HTTP/1.1\r\nHost: h\r\n\r\n")
        for _ in 0..<2 { #expect(try peer.response(toHead: true).status == 200) }
        #expect(stream.count == 0)
    }

    @Test func failingStreamClosesTheConnection() throws {
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            let good = request.target.rawPath == [UInt8(ascii: "/")] ? 0 : 500_000
            return HTTPResponse(
                status: .ok,
                body: .stream(
                    PiecewiseStream(Self.content(good), of: 9_000, failure: HTTPError(.badGateway, "lost"))))
        }
        // Before the head is sent, the failure can still be reported as a status.
        let early = try server.connect()
        try early.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try early.response().status == 502)
        let late = try server.connect()
        try late.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(throws: (any Error).self) { try late.response() }
    }

    @Test func streamWaitsForASlowReader() throws {
        let stream = AskedStream()
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            HTTPResponse(status: .ok, body: .stream(stream.body))
        }
        let peer = try server.connect(receiveBuffer: 64 * 1024)
        try peer.send("GET /a HTTP/1.0\r\n\r\n")
        var taken = 0
        for _ in 0..<40 {
            taken += try peer.take(1_000_000).count
            #expect(stream.count * AskedStream.pieceSize <= taken + Self.systemLimit)
        }
    }

    @Test func pipelinedResponsesWaitForThePeer() throws {
        let count = Atomic<Int>(0)
        let size = 30_000
        let content = Self.content(size)
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            count.add(1, ordering: .relaxed)
            return HTTPResponse(status: .ok, body: .bytes(content))
        }
        let peer = try server.connect(receiveBuffer: 64 * 1024)
        // The requests fit into the system's buffers, but the responses do not.
        let total = 1000
        try peer.send(String(repeating: RequestTests.get, count: total))
        for index in 0..<total {
            #expect(try peer.response().content.count == size)
            #expect(count.load(ordering: .relaxed) * size <= index * size + Self.systemLimit)
        }
    }

    @Test func handlerCanSwitchThreads() throws {
        let pool = BlockingPool(threads: 2)
        defer { pool.shutdown() }
        let server = try TestServer {
            $0.loops = 2
        } handler: { request throws(HTTPError) in
            let path = request.target.rawPath
            let answer = await pool.run { path + path }
            return HTTPResponse(status: .ok, body: .bytes(answer ?? []))
        }
        let peers = try (0..<8).map { _ in try server.connect() }
        for round in 0..<50 {
            for (index, peer) in peers.enumerated() {
                try peer.send("GET /\(index).\(round) HTTP/1.1\r\nHost: h\r\n\r\n")
            }
            for (index, peer) in peers.enumerated() {
                #expect(try peer.response().text == "/\(index).\(round)/\(index).\(round)")
            }
        }
    }

    @Test func accessLogCountsSentBytes() async throws {
        let (records, continuation) = AsyncStream<AccessRecord>.makeStream()
        let server = try TestServer {
            $0.accessLog = { continuation.yield($0) }
        } handler: { request throws(HTTPError) in
            request.principal = "ada"
            return HTTPResponse(
                status: .created, body: .stream(PiecewiseStream(Self.content(200_000), of: 9_000)))
        }
        let peer = try server.connect()
        try peer.send("PUT /a%20b?q HTTP/1.1\r\nHost: h\r\n\r\nnonsense\r\n\r\n")
        _ = try peer.response()
        #expect(try peer.response().status == 400)
        var iterator = records.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first.method == .put)
        #expect(first.target == Array("/a%20b?q".utf8))
        #expect(first.status == .created)
        #expect(first.bytesSent == 200_000)
        #expect(first.principal == "ada")
        #expect(first.peer == "127.0.0.1")
        #expect(first.isComplete)
        let second = try #require(await iterator.next())
        #expect(second.method == nil)
        #expect(second.status == .badRequest)
    }

    @Test func abortedRequestIsLogged() async throws {
        let (records, continuation) = AsyncStream<AccessRecord>.makeStream()
        let server = try TestServer {
            $0.accessLog = { continuation.yield($0) }
        } handler: { request throws(HTTPError) in
            try await TestServer.echo(request)
        }
        let peer = try server.connect()
        try peer.send("PUT /cut HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf")
        peer.shutDownWriting()
        var iterator = records.makeAsyncIterator()
        let record = try #require(await iterator.next())
        #expect(record.target == Array("/cut".utf8))
        #expect(record.status == nil)
        #expect(!record.isComplete)
    }

    /// Each event is sent immediately, because the next one may follow an hour later. The head is sent with
    /// the first event.
    @Test func eventsAreSentImmediately() throws {
        let gate = AsyncSignal()
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            .events { events in
                try await events.send("one")
                await gate.wait()
                try await events.send("two")
            }
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        var text = ""
        while !text.hasSuffix("data: one\n\n") { text += String(decoding: try peer.take(1), as: UTF8.self) }
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        gate.open()
        while !text.hasSuffix("data: two\n\n\r\n0\r\n\r\n") {
            text += String(decoding: try peer.take(1), as: UTF8.self)
        }
    }

    /// The grace period is only for requests that end by themselves.
    @Test func eventsEndOnShutdown() throws {
        let server = try TestServer {
            $0.grace = .seconds(3600)
        } handler: { _ throws(HTTPError) in
            .events { events in
                try await events.send("one")
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        var text = ""
        while !text.hasSuffix("data: one\n\n") { text += String(decoding: try peer.take(1), as: UTF8.self) }
        server.server.shutdown()
        while !text.hasSuffix("\r\n0\r\n\r\n") { text += String(decoding: try peer.take(1), as: UTF8.self) }
        server.server.waitUntilStopped()
    }

    /// On the global pool, a producer might have to wait for threads that other work of the application
    /// occupies.
    @Test func producerRunsOnTheLoopOfItsConnection() throws {
        let server = try TestServer { _ in
        } handler: { _ throws(HTTPError) in
            .stream(type: "text/plain") { writer in
                let isOnLoop = unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor != nil }
                try await writer.write("\(isOnLoop)")
            }
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        #expect(try String(decoding: peer.response().content, as: UTF8.self) == "true")
    }
}
