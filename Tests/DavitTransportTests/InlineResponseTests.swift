import DavitHTTP
import DavitLogging
import DavitServer
import DavitSystem
import DavitTransport
import Synchronization
import Testing

/// Requests that are answered without a task, alone and mixed with requests that need a task.
@Suite(.timeLimit(.minutes(15)))
struct InlineResponseTests {
    /// Responds to GET without a task, and to everything else with one.
    private static func server(
        _ configure: (inout TransportConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        try TestServer(
            configure,
            ready: { request in
                let path = String(decoding: request.target.rawPath, as: UTF8.self)
                if path.hasPrefix("/task") || request.method == .put { return nil }
                return HTTPResponse(status: .ok, body: .bytes(Array("at once \(path)".utf8)))
            })
    }

    static let requests = RequestTests.mixed + "HEAD /h HTTP/1.1\r\nHost: h\r\n\r\n" + task + RequestTests.get
    static let task = "GET /task HTTP/1.1\r\nHost: h\r\n\r\n"

    private func expectAnswers(_ peer: Peer) throws {
        #expect(try peer.response().text == "at once /a")
        #expect(try peer.response().text == "PUT /b hello")
        #expect(try peer.response().text == "PUT /c hello world")
        #expect(try peer.response().text == "at once /a")
        #expect(try peer.response(toHead: true)["content-length"] == "10")
        #expect(try peer.response().text == "GET /task ")
        #expect(try peer.response().text == "at once /a")
    }

    @Test func requestsCanBeSplitAnywhere() throws {
        let server = try Self.server()
        let bytes = Array(Self.requests.utf8)
        for position in 1..<bytes.count {
            let peer = try server.connect()
            try peer.send(Array(bytes[..<position]))
            try peer.send(Array(bytes[position...]))
            try expectAnswers(peer)
        }
    }

    @Test func requestsCanArriveInPiecesOfAnySize() throws {
        let server = try Self.server()
        let bytes = Array(Self.requests.utf8)
        for size in [1, 2, 7, 61] {
            let peer = try server.connect()
            for start in stride(from: 0, to: bytes.count, by: size) {
                try peer.send(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            try expectAnswers(peer)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let server = try Self.server()
        let peer = try server.connect()
        let paths = (0..<500).map { $0 % 7 == 3 ? "/task\($0)" : "/\($0)" }
        try peer.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined())
        for path in paths {
            #expect(
                try peer.response().text == (path.hasPrefix("/task") ? "GET \(path) " : "at once \(path)"))
        }
    }

    /// The socket accepts only a part of the responses; the rest waits for the peer, in order.
    @Test func responsesWaitUntilTheSocketAcceptsThem() throws {
        let content = ResponseWritingTests.content(30_000)
        let server = try TestServer(ready: { _ in HTTPResponse(status: .ok, body: .bytes(content)) })
        let peer = try server.connect()
        let count = ResponseWritingTests.systemLimit / content.count + 100
        for _ in 0..<2 {
            try peer.send((0..<count).map { _ in RequestTests.get }.joined())
            for _ in 0..<count { #expect(try peer.response().content == content) }
        }
    }

    @Test(arguments: ResponseWritingTests.sizes)
    func contentOfEverySizeArrives(count: Int) throws {
        let content = ResponseWritingTests.content(count)
        let file = try TestFile(content)
        let server = try TestServer(ready: { request in
            let body: HTTPBody =
                request.contains(.range) ? .file(file, offset: 0, length: file.length) : .bytes(content)
            return HTTPResponse(status: .ok, body: body)
        })
        let peer = try server.connect()
        for field in ["Range: bytes=0-", "Accept: */*", "Range: bytes=0-"] {
            try peer.send("GET /a HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n")
            #expect(try peer.response().content == content)
        }
    }

    @Test func truncatedFileClosesTheConnection() throws {
        let file = try TestFile([1, 2, 3], claiming: 4)
        let response = { @Sendable in HTTPResponse(status: .ok, body: .file(file, offset: 0, length: 4)) }
        let server = try TestServer(ready: { request in
            request.target.rawPath.count == 2 ? HTTPResponse(status: .ok, body: .bytes([9])) : response()
        })
        let peer = try server.connect()
        try peer.send(RequestTests.get + Self.task)
        #expect(try peer.response().content == [9])
        #expect(throws: (any Error).self) { try peer.response() }
    }

    @Test(arguments: RequestTests.persistence)
    func persistenceFollowsTheRequest(request: String, isKept: Bool, connection: String?) throws {
        let server = try Self.server()
        let peer = try server.connect()
        try peer.send(request)
        #expect(try peer.response()["connection"] == connection)
        if isKept {
            try peer.send(RequestTests.get)
            #expect(try peer.response().text == "at once /a")
        } else {
            #expect(try peer.rest() == [])
        }
    }

    @Test func malformedRequestIsRefusedAfterThePreviousResponse() throws {
        let server = try Self.server()
        let peer = try server.connect()
        try peer.send(RequestTests.get + "GET /a HTTP/1.1\r\n\r\n")
        #expect(try peer.response().text == "at once /a")
        #expect(try peer.response().status == 400)
        peer.shutDownWriting()
        #expect(try peer.rest() == [])
    }

    @Test func halfClosedConnectionGetsItsResponses() throws {
        let server = try Self.server()
        let peer = try server.connect()
        try peer.send(RequestTests.get + RequestTests.get)
        peer.shutDownWriting()
        for _ in 0..<2 { #expect(try peer.response().text == "at once /a") }
        #expect(try peer.rest() == [])
    }

    @Test(.enabled(if: !Wire.isSecure, "the deadline can pass between the handshake and the request"))
    func idleConnectionTimesOut() throws {
        let server = try Self.server {
            $0.deadlines.parking = .milliseconds(1)
            $0.deadlines.keepAlive = .milliseconds(1)
            $0.accept = TestServer.acceptWithInput
        }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        #expect(try peer.response().status == 200)
        #expect(try peer.rest() == [])
    }

    @Test func shutdownClosesIdleConnections() throws {
        let server = try Self.server { $0.grace = .seconds(60) }
        let peer = try server.connect()
        try peer.send(RequestTests.get)
        #expect(try peer.response().status == 200)
        server.server.shutdown()
        #expect(try peer.rest() == [])
    }

    /// The loop learns of the shutdown before it reads the request. Closing the connection with unread input
    /// would reset it.
    @Test(arguments: [RequestTests.get, task])
    func arrivedRequestIsAnsweredDespiteAShutdown(last: String) throws {
        let (hasBegun, mayGoOn) = (Latch(count: 1), Latch(count: 1))
        let server = try TestServer(
            { $0.grace = .seconds(60) },
            ready: { request in
                let path = String(decoding: request.target.rawPath, as: UTF8.self)
                if path == "/task" { return nil }
                if path == "/hold" {
                    hasBegun.countDown()
                    mayGoOn.wait()
                }
                return HTTPResponse(status: .ok, body: .bytes(Array("at once \(path)".utf8)))
            })
        let peer = try server.connect()
        try peer.send(last)
        #expect(try peer.response().status == 200)
        let holding = try server.connect()
        try holding.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        hasBegun.wait()
        server.server.shutdown()
        try peer.send(RequestTests.get)
        mayGoOn.countDown()
        let response = try peer.response()
        #expect(response.text == "at once /a")
        #expect(response["connection"] == "close")
        #expect(try peer.rest() == [])
        server.server.waitUntilStopped()
    }

    @Test func everyResponseIsLoggedOnce() async throws {
        let (records, log) = AsyncStream<AccessRecord>.makeStream()
        let server = try Self.server { $0.accessLog = { log.yield($0) } }
        let peer = try server.connect()
        try peer.send(Self.requests)
        try expectAnswers(peer)
        var lines: [String] = []
        for await record in records {
            lines.append("\(record.method?.rawValue ?? "") \(record.bytesSent) \(record.isComplete)")
            if lines.count == 7 { break }
        }
        #expect(
            lines == [
                "GET 10 true", "PUT 12 true", "PUT 18 true", "GET 10 true", "HEAD 0 true", "GET 10 true",
                "GET 10 true",
            ])
    }

    /// Maintenance runs while requests arrive, and afterwards until it reports that nothing is left to do.
    @Test func maintenanceFollowsRequests() async throws {
        let (calls, call) = AsyncStream<Int>.makeStream()
        let count = Atomic<Int>(0)
        let server = try Self.server {
            $0.maintenanceInterval = .milliseconds(1)
            $0.maintenance = {
                let number = count.add(1, ordering: .relaxed).newValue
                call.yield(number)
                return number % 3 != 0
            }
        }
        var next = calls.makeAsyncIterator()
        for round in 0..<2 {
            // A peer that disconnects with unread input resets the connection, so read the response first.
            let peer = try server.connect()
            try peer.send(RequestTests.get)
            _ = try peer.response()
            for number in 1...3 { #expect(await next.next() == round * 3 + number) }
        }
    }
}
