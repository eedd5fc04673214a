import DavitHTTP
import DavitTesting
import Testing

struct HeadParserTests {
    static let ordinary = """
        PROPFIND /a%20b?x=1 HTTP/1.1\r
        Host: example.com:8080\r
        depth: 1\r
        X-Own:\t a b \t\r
        Content-Length: 12\r
        Empty:\r
        \r

        """

    @Test func ordinaryHeadIsParsed() throws {
        let bytes = Array(Self.ordinary.utf8)
        let summary = try #require(HeadFeed().whole(bytes + Array("body".utf8)).summary)
        #expect(summary.consumed == bytes.count)
        #expect(summary.method == .propfind)
        #expect(summary.path == "/a%20b" && summary.query == "x=1" && summary.form == .origin)
        #expect(
            summary.fields == [
                "host|Host|example.com:8080", "depth|depth|1", "other|X-Own|a b",
                "contentLength|Content-Length|12", "other|Empty|",
            ])
        #expect(summary.framing == .length(12))
        #expect(summary.keepsAlive && !summary.expectsContinue)
    }

    /// Rejected heads with their status.
    static let refused: [(head: String, status: Int)] = [
        // RFC 9112 §2.2: line terminators.
        ("GET / HTTP/1.1\nHost: a\n\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400),
        ("GET / HTTP/1.1\rHost: a\r\n\r\n", 400),
        ("\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        // §2.2: white space between the request line and the first field.
        ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
        // §2.3: version.
        ("GET / http/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505),
        ("GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/11.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1,1\r\nHost: a\r\n\r\n", 400),
        ("GET / XTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
        ("GET / \r\nHost: a\r\n\r\n", 400),
        ("GET /\r\n\r\n", 400),
        // §3: single spaces between the parts; methods are tokens.
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET\r\nHost: a\r\n\r\n", 400),
        // §3.2: targets.
        ("GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /é HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http://a:b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http://[::1/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        // §3.2: Host.
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a/\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", 400),
        ("GET http://a/ HTTP/1.1\r\n\r\n", 400),
        // §5.1, §5.2: field names and line folding.
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX\u{0}: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nÄ: b\r\n\r\n", 400),
        // RFC 9110 §5.5: field values.
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\u{1B}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\u{7F}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400),
        // §10.1.1: Expect.
        ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue, x\r\n\r\n", 417),
        ("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 200-maybe\r\n\r\n", 417),
        ("PUT / HTTP/1.1\r\nHost: a\r\nExpect:\r\n\r\n", 417),
        // The first bytes of a TLS handshake.
        ("\u{16}\u{3}\u{1}\u{2}", 400),
    ]

    @Test(arguments: refused)
    func malformedHeadsAreRefused(head: String, status: Int) {
        let bytes = Array(head.utf8)
        #expect(HeadFeed().whole(bytes).status == status)
        #expect(HeadFeed().byteByByte(bytes).status == status)
    }

    /// Unusual but valid heads.
    static let accepted: [(head: String, method: HTTPMethod, form: RequestTarget.Form, path: String)] = [
        ("get / HTTP/1.1\r\nHost: a\r\n\r\n", .other("get"), .origin, "/"),
        ("BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n", .other("BREW"), .origin, "/pot"),
        ("GET / HTTP/1.0\r\n\r\n", .get, .origin, "/"),
        ("GET / HTTP/1.9\r\nHost: a\r\n\r\n", .get, .origin, "/"),
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .get, .origin, "/"),
        ("GET //a?b?c HTTP/1.1\r\nHOST:a\r\n\r\n", .get, .origin, "//a"),
        ("GET /{|}^\"<> HTTP/1.1\r\nHost: a\r\n\r\n", .get, .origin, "/{|}^\"<>"),
        ("GET HTTP://A:80/x HTTP/1.1\r\nHost: b\r\n\r\n", .get, .absolute, "/x"),
        ("GET https://[::1]:443/x HTTP/1.1\r\nHost: b\r\n\r\n", .get, .absolute, "/x"),
        ("GET http://a?q HTTP/1.1\r\nHost: a\r\n\r\n", .get, .absolute, "/"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", .options, .asterisk, ""),
        ("OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n", .options, .asterisk, ""),
        ("OPTIONS http://a?q HTTP/1.1\r\nHost: a\r\n\r\n", .options, .absolute, "/"),
        ("OPTIONS http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", .options, .absolute, "/"),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", .connect, .authority, ""),
        ("GET / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\nX: é \u{FF}\r\n\r\n", .get, .origin, "/"),
    ]

    @Test(arguments: accepted)
    func unusualHeadsAreAccepted(head: String, method: HTTPMethod, form: RequestTarget.Form, path: String)
        throws
    {
        let summary = try #require(HeadFeed().whole(Array(head.utf8)).summary)
        #expect(summary.method == method)
        #expect(summary.form == form)
        #expect(summary.path == path)
        #expect(summary.consumed == head.utf8.count)
    }

    @Test(arguments: refused.map(\.head) + accepted.map(\.head) + [ordinary])
    func resultDoesNotDependOnThePieces(head: String) {
        let bytes = Array(head.utf8)
        let feed = HeadFeed()
        let whole = feed.whole(bytes)
        #expect(feed.byteByByte(bytes) == whole)
        for position in 0...bytes.count { #expect(feed.split(bytes, at: position) == whole) }
    }

    @Test func everyPrefixOfAHeadIsIncomplete() {
        let bytes = Array(Self.ordinary.utf8)
        for count in 0..<bytes.count { #expect(HeadFeed().whole(Array(bytes.prefix(count))) == .incomplete) }
    }

    @Test func everyKnownMethodIsParsed() {
        for (name, method) in HTTPMethod.named {
            #expect(HTTPMethod(parsing: Array(name.description.utf8).span) == method)
            #expect(method.rawValue == name.description)
        }
    }

    @Test func everyKnownFieldNameIsParsedInAnyCase() {
        for name in FieldName.allCases where name != .other {
            let text = name.text.description
            for spelling in [text, text.lowercased(), text.uppercased()] {
                #expect(FieldName(parsing: Array(spelling.utf8).span) == name)
            }
            #expect(FieldName(parsing: Array((text + "x").utf8).span) == .other)
        }
        #expect(FieldName(parsing: [UInt8]().span) == .other)
    }

    @Test func nextHeadResetsTheRequest() throws {
        let first = Array(
            "PUT http://b/a?q HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n".utf8)
        let second = Array("GET /b HTTP/1.0\r\n\r\n".utf8)
        let request = HTTPRequest()
        var parser = HeadParser()
        for bytes in [first, second] {
            let consumed = try unsafe bytes.withUnsafeBytes { try unsafe parser.parse($0, into: request) }
            #expect(consumed == bytes.count)
        }
        #expect(
            HeadFeed.Summary(request, consumed: second.count) == HeadFeed().whole(second).summary)
        #expect(request.target.authority == nil && !request.keepsAlive)
    }

    @Test func parserStopsAtTheEndOfAPipelinedHead() throws {
        let head = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
        let summary = try #require(HeadFeed().whole(Array((head + "GET\n").utf8)).summary)
        #expect(summary.consumed == head.utf8.count)
    }
}
