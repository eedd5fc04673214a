#if TLS
import DavitHTTP
import DavitTransport
import Testing

/// Plain HTTP on a TLS port.
@Suite(.timeLimit(.minutes(15)))
struct SecureRedirectTests {
    /// A request, the expected status, and the expected Location.
    static let cases: [(String, Int, String?)] = [
        ("GET /a?b=c HTTP/1.1\r\nHost: h.example:8443\r\n\r\n", 301, "https://h.example:8443/a?b=c"),
        ("HEAD / HTTP/1.1\r\nHost: h.example\r\n\r\n", 301, "https://h.example/"),
        ("PROPFIND /%C3%A4%20b HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 308, "https://[::1]:80/%C3%A4%20b"),
        ("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", 308, "https://h/a"),
        ("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", 308, "https://h/a"),
        // The absolute form takes precedence (RFC 9112 §3.2.2).
        ("GET http://one/a HTTP/1.1\r\nHost: two\r\n\r\n", 301, "https://one/a"),
        ("GET //evil.example/ HTTP/1.1\r\nHost: h\r\n\r\n", 301, "https://h//evil.example/"),
        ("GET / HTTP/1.1\r\n\r\n", 400, nil),
        ("GET / HTTP/1.0\r\n\r\n", 400, nil),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, nil),
        ("GET / HTTP/1.1\r\nHost: h@evil\r\n\r\n", 400, nil),
        ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 400, nil),
        ("\u{1}nonsense\r\n\r\n", 400, nil),
    ]

    @Test(arguments: cases)
    func plainRequestIsAnswered(_ request: String, status: Int, location: String?) throws {
        let server = try TLSTests.server(handler: { _ throws(HTTPError) in
            Issue.record("the handler was called")
            return HTTPResponse(status: .ok)
        })
        let bytes = Array(request.utf8)
        for split in [bytes.count, 1, bytes.count / 2] {
            let peer = try server.connect(secured: false)
            try peer.send(Array(bytes[..<split]))
            if split < bytes.count { try peer.send(Array(bytes[split...])) }
            let response = try peer.response(toHead: request.hasPrefix("HEAD"))
            #expect(response.status == status)
            #expect(response["location"] == location)
            #expect(response["connection"] == "close")
            #expect(try peer.rest() == [])
        }
    }

    @Test func connectionIsCountedOnce() async throws {
        let server = try TLSTests.server(nil) { $0.maxConnectionsPerAddress = 1 }
        for _ in 0..<3 {
            let plain = try server.connect(secured: false)
            try plain.send(RequestTests.get)
            #expect(try plain.response().status == 301)
            #expect(try plain.rest() == [])
            plain.shutDownWriting()
            await server.wait(for: .connectionClosed)
        }
        let peer = try TLSTests.peer(server)
        try peer.send(RequestTests.get)
        #expect(try peer.response().status == 200)
    }
}
#endif
