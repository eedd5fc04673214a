import DavitHTTP
import DavitServer
import DavitTransport
import Synchronization
import Testing

/// Requests whose content arrives together with the head are answered without a task, and no bytes are lost
/// or left over.
@Suite(.timeLimit(.minutes(15)))
struct ArrivedContentTests {
    /// Like ``TestServer/echo(_:)``, for content that has already arrived.
    @Sendable static func echo(_ request: HTTPRequest) -> HTTPResponse? {
        guard let content = request.body.arrived else { return nil }
        let path = String(decoding: request.target.rawPath, as: UTF8.self)
        let text = "\(request.method.rawValue) \(path) \(String(decoding: content, as: UTF8.self))"
        return HTTPResponse(status: .ok, body: .bytes(Array(text.utf8)))
    }

    static let put = "PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"

    @Test func requestsCanBeSplitAnywhere() throws {
        let server = try TestServer(ready: Self.echo)
        let bytes = Array((RequestTests.mixed + Self.put + Self.put).utf8)
        for position in 1..<bytes.count {
            let peer = try server.connect()
            try peer.send(Array(bytes[..<position]))
            try peer.send(Array(bytes[position...]))
            for answer in RequestTests.mixedAnswers + ["PUT /b hello", "PUT /b hello"] {
                #expect(try peer.response().text == answer)
            }
        }
    }

    /// The handler is called before the content has arrived; its pending work reads the content.
    @Test func contentThatHasNotArrivedIsReadLater() throws {
        let server = try TestServer(ready: { request in
            request.body.arrived.map { HTTPResponse(status: .ok, body: .bytes($0)) }
        })
        let bytes = Array(Self.put.utf8)
        for position in 1..<bytes.count {
            let peer = try server.connect()
            try peer.send(Array(bytes[..<position]))
            try peer.send(Array(bytes[position...]))
            let text = try peer.response().text
            #expect(text == "hello" || text == "PUT /b hello")
        }
    }

    @Test func inspectedContentCanStillBeRead() throws {
        let looks = Atomic<Int>(0)
        let server = try TestServer(ready: { request in
            if request.body.arrived == Array("hello".utf8) { looks.add(1, ordering: .relaxed) }
            return nil
        })
        let peer = try server.connect()
        try peer.send(Self.put + RequestTests.get)
        #expect(try peer.response().text == "PUT /b hello")
        #expect(try peer.response().text == "GET /a ")
        #expect(looks.load(ordering: .relaxed) == 1)
    }

    @Test func arrivedContentIsUnavailableAfterARead() throws {
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            let buffer = IOBuffer(capacity: 2)
            _ = try await request.body.read(into: buffer)
            return HTTPResponse(status: request.body.arrived == nil ? .ok : .internalServerError)
        }
        let peer = try server.connect()
        try peer.send(Self.put + RequestTests.get)
        #expect(try peer.response().status == 200)
        #expect(try peer.response().status == 500, "empty content should count as arrived")
    }

    @Test func unreadContentIsNotParsedAsTheNextRequest() throws {
        let server = try TestServer(ready: { _ in HTTPResponse(status: .noContent) })
        let peer = try server.connect()
        let head = "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(RequestTests.get.utf8.count)\r\n\r\n"
        try peer.send(head + RequestTests.get + RequestTests.get)
        for _ in 0..<2 { #expect(try peer.response().status == 204) }
        peer.shutDownWriting()
        #expect(try peer.rest() == [])
    }

    /// Responses that are too large, or that close the connection, are sent by a task.
    @Test(arguments: [true, false])
    func largeAndClosingResponsesAreLeftToATask(isLarge: Bool) throws {
        let content = ResponseWritingTests.content(isLarge ? 300_000 : 3)
        let server = try TestServer(ready: { request in
            guard request.body.arrived?.count == 5 else { return nil }
            var response = HTTPResponse(status: .ok, body: .bytes(content))
            response.closesConnection = !isLarge
            return response
        })
        let peer = try server.connect()
        try peer.send(Self.put + RequestTests.get)
        #expect(try peer.response().content == content)
        if isLarge {
            #expect(try peer.response().text == "GET /a ")
        } else {
            #expect(try peer.rest() == [])
        }
    }

    @Test func continueIsNotSentIfContentHasArrived() throws {
        let server = try TestServer(ready: Self.echo)
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok")
        #expect(try peer.response().text == "PUT /a ok")
    }
}
