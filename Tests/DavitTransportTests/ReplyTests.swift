import DavitHTTP
import DavitServer
import DavitTransport
import Synchronization
import Testing

/// Each request calls the handler once, whether the response is ready or pending.
@Suite(.timeLimit(.minutes(15)))
struct ReplyTests {
    /// The calls of a handler and of a middleware in front of it.
    private final class Calls: Sendable {
        struct Count: Equatable {
            var middleware = 0
            var handler = 0
            var pending = 0
            var responses = 0
        }

        let count = Mutex(Count())
    }

    private struct Counting: Middleware {
        let calls: Calls

        func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
            calls.count.withLock { $0.middleware += 1 }
            return try next.respond(to: request).map { response in
                calls.count.withLock { $0.responses += 1 }
                return response
            }
        }
    }

    /// Responds according to the path: `/ready…` immediately, `/fails…` with an immediate error,
    /// `/failsLater…` with a later error. Any other path gets a pending reply that echoes the content.
    private struct Varied: Handler {
        let calls: Calls

        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            calls.count.withLock { $0.handler += 1 }
            let path = String(decoding: request.target.rawPath, as: UTF8.self)
            if path.hasPrefix("/ready") { return .ready(.text("ready")) }
            if path.hasPrefix("/failsLater") {
                return .pending { () async throws(HTTPError) in
                    await Task.yield()
                    throw HTTPError(.conflict, "later")
                }
            }
            if path.hasPrefix("/fails") { throw HTTPError(.forbidden, "now") }
            return .pending { () async throws(HTTPError) in
                calls.count.withLock { $0.pending += 1 }
                return try await TestServer.echo(request)
            }
        }
    }

    private static func server(_ calls: Calls) throws -> TestServer {
        let handler = Varied(calls: calls).applying(Counting(calls: calls))
        return try TestServer { _ in
        } respond: { request throws(HTTPError) in
            try handler.respond(to: request)
        }
    }

    private static let rows: [(request: String, status: Int, count: Calls.Count)] = [
        ("GET /ready HTTP/1.1\r\nHost: h\r\n\r\n", 200, .init(middleware: 1, handler: 1, responses: 1)),
        (
            "GET /later HTTP/1.1\r\nHost: h\r\n\r\n", 200,
            .init(middleware: 1, handler: 1, pending: 1, responses: 1)
        ),
        (
            "PUT /ready HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", 200,
            .init(middleware: 1, handler: 1, responses: 1)
        ),
        (
            "PUT /later HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", 200,
            .init(middleware: 1, handler: 1, pending: 1, responses: 1)
        ),
        (
            "PUT /later HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 200,
            .init(middleware: 1, handler: 1, pending: 1, responses: 1)
        ),
        ("GET /fails HTTP/1.1\r\nHost: h\r\n\r\n", 403, .init(middleware: 1, handler: 1)),
        ("GET /failsLater HTTP/1.1\r\nHost: h\r\n\r\n", 409, .init(middleware: 1, handler: 1)),
    ]

    @Test(arguments: rows.indices)
    func handlerIsCalledOnce(row: Int) throws {
        let (request, status, count) = Self.rows[row]
        let calls = Calls()
        let server = try Self.server(calls)
        let peer = try server.connect()
        try peer.send(request)
        #expect(try peer.response().status == status)
        #expect(calls.count.withLock { $0 } == count)
    }

    /// The head arrives before the content: the handler is called with the head, and not again.
    @Test func handlerIsCalledOnceIfContentArrivesLater() async throws {
        let (heads, head) = AsyncStream<Bool>.makeStream()
        let calls = Calls()
        let handler = Varied(calls: calls).applying(Counting(calls: calls))
        let server = try TestServer { _ in
        } respond: { request throws(HTTPError) in
            head.yield(request.body.arrived == nil)
            return try handler.respond(to: request)
        }
        let peer = try server.connect()
        try peer.send("PUT /later HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n")
        var next = heads.makeAsyncIterator()
        #expect(await next.next() == true)
        try peer.send("hello")
        #expect(try peer.response().text == "PUT /later hello")
        #expect(
            calls.count.withLock { $0 } == .init(middleware: 1, handler: 1, pending: 1, responses: 1))
    }

    /// Sends mixed requests in one burst, more than the loop serves in a row.
    @Test func eachOfManyPipelinedRequestsCallsTheHandlerOnce() throws {
        let calls = Calls()
        let server = try Self.server(calls)
        let peer = try server.connect()
        let order = (0..<200).map { $0 % 5 }
        try peer.send(order.map { Self.rows[$0].request }.joined())
        for row in order { #expect(try peer.response().status == Self.rows[row].status) }
        #expect(
            calls.count.withLock { $0 }
                == .init(middleware: 200, handler: 200, pending: 120, responses: 200))
    }

    /// A ready response before the content has arrived leaves the connection usable.
    @Test func contentAfterAReadyResponseIsDiscarded() throws {
        let calls = Calls()
        let server = try Self.server(calls)
        let peer = try server.connect()
        try peer.send("PUT /ready HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n")
        #expect(try peer.response().text == "ready")
        try peer.send("hello" + Self.rows[1].request)
        #expect(try peer.response().text == "GET /later ")
        #expect(calls.count.withLock { $0.handler } == 2)
    }

    /// Replaces the forwarded address, which ``TrustedProxies`` must not apply again.
    private struct Renaming: Middleware {
        func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
            request.forwardedOrigin = ForwardedOrigin(peerAddress: request.peerAddress + " renamed")
            return try next.respond(to: request)
        }
    }

    private struct Address: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            if request.target.rawPath == Array("/ready".utf8) { return .ready(.text(request.peerAddress)) }
            return .pending { () async throws(HTTPError) in
                _ = try await TestServer.read(request)
                return .text(request.peerAddress)
            }
        }
    }

    @Test func forwardedAddressIsAppliedOnce() throws {
        let proxies = TrustedProxies(networks: [try #require(IPNetwork("127.0.0.1"))])
        let handler = Address().applying(Renaming()).applying(proxies)
        let server = try TestServer { _ in
        } respond: { request throws(HTTPError) in
            try handler.respond(to: request)
        }
        let peer = try server.connect()
        let fields = "Host: h\r\nX-Forwarded-For: 192.0.2.1\r\n"
        for line in ["GET /ready", "GET /later"] {
            try peer.send("\(line) HTTP/1.1\r\n\(fields)\r\n")
            #expect(try peer.response().text == "192.0.2.1 renamed")
        }
        try peer.send("PUT /later HTTP/1.1\r\n\(fields)Content-Length: 2\r\n\r\n")
        try peer.send("ok")
        #expect(try peer.response().text == "192.0.2.1 renamed")
    }
}
