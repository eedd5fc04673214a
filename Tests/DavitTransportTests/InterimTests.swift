import DavitHTTP
import DavitTransport
import Testing

/// Interim responses (RFC 9110 §15.2).
@Suite(.timeLimit(.minutes(15)))
struct InterimTests {
    static let fields: HTTPFields = {
        var fields = HTTPFields()
        fields.append(.location, "/here")
        fields.append(.contentLength, 7)
        fields.append(.connection, "close")
        return fields
    }()

    static func server() throws -> TestServer {
        try TestServer { _ in
        } handler: { request throws(HTTPError) in
            // 100 is sent with the first read; 101 and 200 are not sent as interim responses.
            for code in [100, 101, 200, 104] {
                try await request.body.sendInterim(HTTPStatus(UInt16(code)), fields)
            }
            let content = try await TestServer.read(request)
            try await request.body.sendInterim(HTTPStatus(199), HTTPFields())
            return HTTPResponse(status: .ok, body: .bytes(content))
        }
    }

    @Test func interimResponsesPrecedeTheFinalOneWithoutContent() throws {
        let server = try Self.server()
        let peer = try server.connect()
        for _ in 0..<2 {
            try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n")
            let first = try peer.head()
            #expect(first == "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /here\r\n\r\n")
            try peer.send("hello")
            #expect(try peer.head() == "HTTP/1.1 199 Informational\r\n\r\n")
            let response = try peer.response()
            #expect(response.status == 200)
            #expect(response.text == "hello")
        }
    }

    @Test func interimResponsesDoNotReplaceContinue() throws {
        let server = try Self.server()
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try peer.head().hasPrefix("HTTP/1.1 104 "))
        #expect(try peer.head() == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    /// Interim responses are not sent to HTTP/1.0 clients (RFC 9110 §15.2).
    @Test func clientsOfHTTP10GetNoInterimResponses() throws {
        let server = try Self.server()
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.0\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
        #expect(try peer.response().status == 200)
    }

    @Test func receivingContentCanBeAbortedByAnotherTask() async throws {
        let (reading, isCut) = (AsyncSignal(), AsyncSignal())
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            guard request.method == .put else { return HTTPResponse(status: .ok) }
            if let abortHandler = request.body.abortHandler {
                Task {
                    await reading.wait()
                    abortHandler()
                }
            }
            let buffer = IOBuffer(capacity: 100)
            _ = try await request.body.read(into: buffer)
            reading.open()
            do throws(HTTPError) {
                _ = try await request.body.read(into: buffer)
            } catch {
                isCut.open()
                throw error
            }
            return HTTPResponse(status: .ok)
        }
        let peer = try server.connect()
        try peer.send("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nhello")
        await isCut.wait()
        // Whether this appears as a reset depends on the system.
        #expect((try? peer.rest()) ?? [] == [])
    }
}
