import DavitHTTP
import DavitSystem
import DavitTransport
import Testing

/// Content of requests: RFC 9112 §6 and §7, RFC 9110 §10.1.1.
@Suite(.timeLimit(.minutes(15)))
struct ContentTests {
    static let next = "GET /next HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

    /// Responds without reading the content.
    @Sendable static func refuse(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard request.method == .put else { return HTTPResponse(status: .ok) }
        throw HTTPError(.unauthorized, "who are you")
    }

    @Test(arguments: [1, 1000, 16 * 1024, 300_000, 3_000_000])
    func contentArrivesCompletely(count: Int) throws {
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            let content = try await TestServer.read(request)
            return HTTPResponse(status: .ok, body: .bytes(content))
        }
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n")
        try peer.send(content)
        #expect(try peer.response().content == content)
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let half = count / 2
        for piece in [content[..<half], content[half...]] where !piece.isEmpty {
            try peer.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10])
        }
        try peer.send("0\r\n\r\n")
        #expect(try peer.response().content == content)
    }

    /// Sends chunks larger and smaller than the buffers of both sides, followed by more requests than the
    /// input buffer usually holds. No request is mistaken for content, and none is lost.
    @Test(arguments: [7, 1021, 16 * 1024, 40_009, 1024 * 1024])
    func chunksOfAllSizesPrecedeFurtherRequests(capacity: Int) throws {
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            guard request.method == .put else { return try await TestServer.echo(request) }
            return HTTPResponse(
                status: .ok, body: .bytes(try await TestServer.readFilling(request, capacity)))
        }
        let sizes = [1, 100_000, 16_384, 2, 40_009, 65_536, 300_000] + Array(repeating: 5, count: 2000)
        let content = (0..<sizes.reduce(0, +)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var bytes = Array("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        var start = 0
        for size in sizes {
            bytes += Array("\(String(size, radix: 16));x=y\r\n".utf8)
            bytes += content[start..<(start + size)] + [13, 10]
            start += size
        }
        bytes += Array("0\r\nTrailer: t\r\n\r\n".utf8)
        let followers = 0..<1000
        for number in followers { bytes += Array("GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n".utf8) }
        let peer = try server.connect()
        try peer.send(bytes)
        #expect(try peer.response().content == content)
        for number in followers { #expect(try peer.response().text == "GET /\(number) ") }
    }

    /// Valid chunks precede the malformed one, so that the error is found while one call receives several
    /// chunks.
    @Test func malformedChunkAfterContentIsRefused() throws {
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            HTTPResponse(status: .ok, body: .bytes(try await TestServer.readFilling(request, 1024 * 1024)))
        }
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<10 {
            try peer.send(Array("4e20\r\n".utf8) + [UInt8](repeating: 0x61, count: 20_000) + [13, 10])
        }
        try peer.send("1\r\nab\r\n")
        let response = try peer.response()
        #expect(response.status == 400)
        #expect(response["connection"] == "close")
        peer.shutDownWriting()
        #expect(try peer.rest() == [])
    }

    @Test func continueIsSentWhenTheHandlerReads() throws {
        let server = try TestServer()
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try peer.response().status == 100)
        try peer.send("ok" + RequestTests.get)
        #expect(try peer.response().text == "PUT /a ok")
        #expect(try peer.response().text == "GET /a ")
    }

    @Test func continueIsNotSentIfContentHasArrived() throws {
        let server = try TestServer()
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok")
        #expect(try peer.response().text == "PUT /a ok")
    }

    @Test func refusalReplacesContinueAndClosesTheConnection() throws {
        let server = try TestServer(handler: Self.refuse)
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        let response = try peer.response()
        #expect(response.status == 401)
        // Whether the content follows is unknown, so the next request cannot be located.
        #expect(response["connection"] == "close")
        try peer.send(Self.next)
        #expect(try peer.rest() == [])
    }

    @Test(arguments: [
        "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ])
    func shortUnreadContentIsSkipped(rest: String) throws {
        let server = try TestServer(handler: Self.refuse)
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\n" + rest + Self.next)
        let refusal = try peer.response()
        #expect(refusal.status == 401)
        #expect(refusal["connection"] == nil)
        #expect(try peer.response().status == 200)
        #expect(try peer.rest() == [])
    }

    /// Some clients read the response only after they have sent all content.
    @Test(arguments: [
        "Content-Length: 8388608\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n800000\r\n",
    ])
    func responseToLongUnreadContentIsNotLost(framing: String) throws {
        let server = try TestServer(handler: Self.refuse)
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\n" + framing)
        try peer.send([UInt8](repeating: 0x61, count: 8_388_608))
        let refusal = try peer.response()
        #expect(refusal.status == 401)
        // Chunks are read on, because they might end soon.
        #expect((refusal["connection"] == "close") == framing.hasPrefix("Content-Length"))
        #expect(try peer.rest() == [])
    }

    @Test(arguments: [
        "Content-Length: 1000000000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nfffffffffff\r\n",
    ])
    func endlessUnreadContentIsRefusedAfterTheDeadline(framing: String) throws {
        let server = try TestServer({ $0.deadlines.window = .milliseconds(1) }, handler: Self.refuse)
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\n" + framing)
        #expect(try peer.response().status == 401)
        peer.sendUntilRefused()
    }

    @Test func truncatedBodyIsADisconnection() async throws {
        let (outcomes, continuation) = AsyncStream<HTTPError>.makeStream()
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            do throws(HTTPError) {
                _ = try await TestServer.read(request)
                return HTTPResponse(status: .ok)
            } catch {
                continuation.yield(error)
                throw error
            }
        }
        for framing in ["Content-Length: 9\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n9\r\nhello"] {
            let peer = try server.connect()
            try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\n" + framing)
            peer.shutDownWriting()
            // With TLS, the server closes the connection without close_notify in this case.
            #expect(((try? peer.rest()) ?? []) == [])
            for await error in outcomes {
                #expect(error == .disconnected)
                break
            }
        }
    }

    @Test func slowContentTimesOut() throws {
        let server = try TestServer { $0.deadlines.window = .milliseconds(1) }
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhello")
        let response = try peer.response()
        #expect(response.status == 408)
        #expect(response["connection"] == "close")
        peer.shutDownWriting()
        #expect(try peer.rest() == [])
    }

    @Test func slowHeadTimesOut() throws {
        let server = try TestServer { $0.deadlines.head = .milliseconds(1) }
        let peer = try server.connect()
        try peer.send("GET /a HTTP/1.1\r\n")
        #expect(try peer.response().status == 408)
        peer.shutDownWriting()
        #expect(try peer.rest() == [])
    }

    @Test func contentCannotBeReadAfterTheResponse() async throws {
        let (bodies, continuation) = AsyncStream<HTTPError>.makeStream()
        let box = Box()
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            guard let kept = box.take() else {
                box.put(request)
                return HTTPResponse(status: .ok)
            }
            do throws(HTTPError) {
                _ = try await kept.body.read(into: IOBuffer(capacity: 10))
            } catch {
                continuation.yield(error)
            }
            return HTTPResponse(status: .ok)
        }
        let peer = try server.connect()
        try peer.send(RequestTests.put + RequestTests.get)
        _ = try peer.response()
        _ = try peer.response()
        for await error in bodies {
            #expect(error.status == .internalServerError)
            break
        }
    }

    /// `@unchecked`: used only on the single loop.
    private final class Box: @unchecked Sendable {
        private var request: HTTPRequest?

        func put(_ request: HTTPRequest) { self.request = request }

        func take() -> HTTPRequest? {
            defer { request = nil }
            return request
        }
    }
}
