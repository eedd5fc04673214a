import DavitHTTP
import DavitTransport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct RequestTests {
    static let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
    static let put = "PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
    static let chunked =
        "PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: v\r\n\r\n"
    /// Pipelined requests (RFC 9112 §9.3.2).
    static let mixed = get + put + chunked + get
    static let mixedAnswers = ["GET /a ", "PUT /b hello", "PUT /c hello world", "GET /a "]

    @Test func connectionCarriesSeveralRequests() throws {
        let server = try TestServer()
        let peer = try server.connect()
        for _ in 0..<3 {
            try peer.send(Self.get)
            let response = try peer.response()
            #expect(response.status == 200)
            #expect(response.text == "GET /a ")
            #expect(response["connection"] == nil)
            #expect(response["date"]?.utf8.count == 29)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let server = try TestServer()
        let peer = try server.connect()
        let requests = (0..<500).map { "GET /\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }
        try peer.send(requests.joined())
        for index in 0..<500 { #expect(try peer.response().text == "GET /\(index) ") }
    }

    @Test func requestsCanArriveInPiecesOfAnySize() throws {
        let server = try TestServer()
        let bytes = Array(Self.mixed.utf8)
        for size in [1, 2, 3, 7, 16, 61] {
            let peer = try server.connect()
            var start = 0
            while start < bytes.count {
                try peer.send(Array(bytes[start..<min(start + size, bytes.count)]))
                start += size
            }
            for answer in Self.mixedAnswers { #expect(try peer.response().text == answer) }
        }
    }

    @Test func requestsCanBeSplitAnywhere() throws {
        let server = try TestServer()
        let bytes = Array(Self.mixed.utf8)
        for position in 1..<bytes.count {
            let peer = try server.connect()
            try peer.send(Array(bytes[..<position]))
            try peer.send(Array(bytes[position...]))
            for answer in Self.mixedAnswers { #expect(try peer.response().text == answer) }
        }
    }

    @Test func headHasTheFieldsAndNoContent() throws {
        let server = try TestServer()
        let peer = try server.connect()
        try peer.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n" + Self.get)
        let head = try peer.response(toHead: true)
        // RFC 9110 §9.3.2, §8.6
        #expect(head["content-length"] == "8")
        #expect(try peer.response().text == "GET /a ")
    }

    /// RFC 9112 §9.3
    static let persistence: [(request: String, isKept: Bool, connection: String?)] = [
        ("GET /a HTTP/1.1\r\nHost: h\r\n\r\n", true, nil),
        ("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false, "close"),
        ("GET /a HTTP/1.0\r\n\r\n", false, "close"),
        ("GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true, "keep-alive"),
        ("GET /a HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false, "close"),
    ]

    @Test(arguments: persistence)
    func persistenceFollowsTheRequest(request: String, isKept: Bool, connection: String?) throws {
        let server = try TestServer()
        let peer = try server.connect()
        try peer.send(request)
        let response = try peer.response()
        #expect(response["connection"] == connection)
        #expect(response["content-length"] == "7")
        if isKept {
            try peer.send(Self.get)
            #expect(try peer.response().text == "GET /a ")
        } else {
            #expect(try peer.rest() == [])
        }
    }

    static let refused: [(request: String, status: Int)] = [
        ("GET /a HTTP/1.1\r\n\r\n", 400),  // RFC 9112 §3.2
        ("GET /a HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        // §6.1
        ("GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        // A `~` stands for 40,000 letters.
        ("GET /~ HTTP/1.1\r\nHost: h\r\n\r\n", 414),
        ("GET /a HTTP/1.1\r\nHost: h\r\nX: ~\r\n\r\n", 431),
        ("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),  // §7.1
    ]

    @Test(arguments: refused)
    func malformedRequestIsRefusedAndTheConnectionCloses(request: String, status: Int) throws {
        let server = try TestServer()
        let peer = try server.connect()
        let parts = request.split(separator: "~", omittingEmptySubsequences: false)
        try peer.send(parts.joined(separator: String(repeating: "a", count: 40_000)))
        let response = try peer.response()
        #expect(response.status == status)
        #expect(response["connection"] == "close")
        #expect(!response.text.isEmpty)
        peer.shutDownWriting()
        #expect(try peer.rest() == [])
    }

    @Test func halfClosedConnectionGetsItsResponse() throws {
        let server = try TestServer()
        let peer = try server.connect()
        try peer.send(Self.get)
        peer.shutDownWriting()
        #expect(try peer.response().text == "GET /a ")
        #expect(try peer.rest() == [])
    }

    @Test func retainedRequestKeepsItsFields() async throws {
        let kept = Kept()
        let server = try TestServer { _ in
        } handler: { request throws(HTTPError) in
            kept.append(request)
            return HTTPResponse(status: .noContent)
        }
        let peer = try server.connect()
        for index in 0..<3 {
            try peer.send("GET /\(index) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try peer.response().status == 204)
        }
        #expect(kept.paths == ["/0", "/1", "/2"])
    }

    /// Requests that outlive their responses. `@unchecked`: used by one thread at a time, first that of the
    /// loop, and then that of the test.
    private final class Kept: @unchecked Sendable {
        private var requests: [HTTPRequest] = []

        func append(_ request: HTTPRequest) { requests.append(request) }

        var paths: [String] { requests.map { String(decoding: $0.target.rawPath, as: UTF8.self) } }
    }
}
