import DavitHTTP
import Testing

struct HeadEncoderTests {
    static let date = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)
    static let keeping = HeadEncoder.Context(isHead: false, minorVersion: 1, keepsAlive: true)
    static let closing = HeadEncoder.Context(isHead: false, minorVersion: 1, keepsAlive: false)
    static let head = HeadEncoder.Context(isHead: true, minorVersion: 1, keepsAlive: true)
    static let old = HeadEncoder.Context(isHead: false, minorVersion: 0, keepsAlive: false)
    static let oldKeeping = HeadEncoder.Context(isHead: false, minorVersion: 0, keepsAlive: true)
    static let oldHead = HeadEncoder.Context(isHead: true, minorVersion: 0, keepsAlive: true)

    /// Returns the lines of a head without Date and the empty line, and the framing of the content.
    static func encode(
        _ response: HTTPResponse, length: Int64?, for exchange: HeadEncoder.Context
    ) -> (lines: [String], framing: ResponseFraming) {
        var bytes: [UInt8] = []
        let framing = HeadEncoder.encode(response, length: length, for: exchange, date: date, into: &bytes)
        let head = text(bytes)
        #expect(head.hasSuffix("\r\n\r\n") && head.contains("Date: \(text(date))\r\n"))
        let lines = head.split(separator: "\r\n").map(String.init)
        return (lines.filter { !$0.hasPrefix("Date: ") }, framing)
    }

    /// RFC 9112 §6 and §9.3, RFC 9110 §8.6: framing fields after the status line.
    static let rows:
        [(
            status: UInt16, length: Int64?, exchange: HeadEncoder.Context, lines: [String],
            framing: ResponseFraming
        )] = [
            (200, 5, keeping, ["Content-Length: 5"], .length(5)),
            (200, 0, keeping, ["Content-Length: 0"], .length(0)),
            (200, nil, keeping, ["Transfer-Encoding: chunked"], .chunked),
            (200, 5, closing, ["Content-Length: 5", "Connection: close"], .length(5)),
            (200, nil, closing, ["Transfer-Encoding: chunked", "Connection: close"], .chunked),
            (204, 0, keeping, [], .none),
            (204, 5, keeping, [], .none),
            (304, 0, keeping, [], .none),
            (304, 5, keeping, ["Content-Length: 5"], .none),
            (304, nil, keeping, [], .none),
            (200, 5, head, ["Content-Length: 5"], .none),
            (404, 0, head, ["Content-Length: 0"], .none),
            (200, nil, head, ["Transfer-Encoding: chunked"], .none),
            (204, 5, head, [], .none),
            (200, 5, old, ["Content-Length: 5", "Connection: close"], .length(5)),
            (200, 5, oldKeeping, ["Content-Length: 5", "Connection: keep-alive"], .length(5)),
            (200, nil, oldKeeping, ["Connection: close"], .untilClose),
            (200, nil, oldHead, ["Connection: keep-alive"], .none),
        ]

    @Test(arguments: rows)
    func framingFieldsMatchTheResponse(
        status: UInt16, length: Int64?, exchange: HeadEncoder.Context, lines: [String],
        framing: ResponseFraming
    ) {
        let result = Self.encode(HTTPResponse(status: HTTPStatus(status)), length: length, for: exchange)
        #expect(Array(result.lines.dropFirst()) == lines)
        #expect(result.framing == framing)
    }

    @Test func statusLinesHaveAReason() {
        let statuses: [UInt16] = [
            200, 201, 204, 206, 207, 304, 400, 404, 412, 423, 431, 500, 501, 505, 507, 418, 599,
        ]
        for code in statuses {
            let status = HTTPStatus(code)
            let lines = Self.encode(HTTPResponse(status: status), length: 0, for: Self.keeping).lines
            #expect(lines.first == "HTTP/1.1 \(code) \(status.reasonPhrase.description)")
        }
    }

    @Test func responseCanCloseItsConnection() {
        var response = HTTPResponse(status: .ok)
        response.closesConnection = true
        let result = Self.encode(response, length: 1, for: Self.keeping)
        #expect(result.lines.last == "Connection: close")
        #expect(!HeadEncoder.isPersistent(response, Self.keeping, framing: result.framing))
        #expect(HeadEncoder.isPersistent(HTTPResponse(status: .ok), Self.keeping, framing: result.framing))
    }

    @Test func fieldsCannotContradictTheFraming() {
        var response = HTTPResponse(status: .ok)
        response.fields.append(.contentLength, 99)
        response.fields.append(.etag, "\"a\"")
        response.fields.append(named: "transfer-encoding", "chunked")
        response.fields.append(.connection, "keep-alive")
        let lines = Self.encode(response, length: 5, for: Self.closing).lines
        #expect(lines.dropFirst() == ["ETag: \"a\"", "Content-Length: 5", "Connection: close"])
    }

    @Test func handlerCanDeclareALengthForHEAD() {
        var response = HTTPResponse(status: .ok)
        response.fields.append(.contentLength, 99)
        #expect(Self.encode(response, length: 0, for: Self.head).lines.dropFirst() == ["Content-Length: 99"])
        response.status = .notModified
        #expect(
            Self.encode(response, length: 0, for: Self.keeping).lines.dropFirst() == ["Content-Length: 99"])
        response.status = .noContent
        #expect(Self.encode(response, length: 0, for: Self.keeping).lines.dropFirst() == [])
    }

    @Test func dateAndServerOfAHandlerAreNotRepeated() {
        var response = HTTPResponse(status: .ok)
        var bytes: [UInt8] = []
        _ = HeadEncoder.encode(
            response, for: Self.keeping, date: Self.date, server: Array("davit".utf8), into: &bytes)
        #expect(
            text(bytes) == """
                HTTP/1.1 200 OK\r\nDate: \(text(Self.date))\r\nServer: davit\r\nContent-Length: 0\r\n\r\n
                """)
        response.fields.append(.date, "D")
        response.fields.append(.server, "S")
        bytes.removeAll()
        _ = HeadEncoder.encode(
            response, for: Self.keeping, date: Self.date, server: Array("davit".utf8), into: &bytes)
        #expect(text(bytes) == "HTTP/1.1 200 OK\r\nDate: D\r\nServer: S\r\nContent-Length: 0\r\n\r\n")
    }

    static let unread: [(remaining: Int64?, awaits: Bool, keeps: Bool, plan: UnreadContent)] = [
        (0, false, true, .none), (0, false, false, .none), (0, true, true, .none),
        (1, false, true, .discard), (262_144, false, true, .discard), (262_145, false, true, .close),
        (nil, false, true, .discard), (nil, false, false, .close),
        // RFC 9110 §10.1.1: after a refusal the client may send or omit the content.
        (1, true, true, .close), (nil, true, true, .close),
    ]

    @Test(arguments: unread)
    func unreadContentIsSkippedOrClosesTheConnection(
        remaining: Int64?, awaits: Bool, keeps: Bool, plan: UnreadContent
    ) {
        #expect(
            UnreadContent.plan(remaining: remaining, awaitsContinue: awaits, keepsAlive: keeps) == plan)
    }
}
