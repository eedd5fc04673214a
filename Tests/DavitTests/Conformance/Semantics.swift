/// A request, and the response that RFC 9110 requires. In texts, `{tag}` and `{date}` are replaced by the
/// entity tag and Last-Modified of `/files/a`, whose content is `0123456789`.
struct Semantics: CustomStringConvertible, Sendable {
    let clause: String
    let line: String
    let fields: [String]
    let content: String
    let status: Int
    /// Fields of the response; nil if a field must be absent, `*` if it can have any value.
    let expected: [String: String?]
    /// The content of the response; nil if it can be anything.
    let answer: String?

    init(
        _ clause: String, _ line: String, _ fields: [String], content: String = "", _ status: Int,
        _ expected: [String: String?] = [:], answer: String? = nil
    ) {
        self.clause = clause
        self.line = line
        self.fields = fields
        self.content = content
        self.status = status
        self.expected = expected
        self.answer = answer
    }

    init(
        _ clause: String, _ line: String, content: String = "", _ status: Int,
        _ expected: [String: String?] = [:], answer: String? = nil
    ) {
        self.init(clause, line, [], content: content, status, expected, answer: answer)
    }

    var description: String { "§\(clause) \(line) \(fields)" }
}

extension Semantics {
    static let nothing: String? = nil

    /// RFC 9110 §9, §15.5.6, §15.6.2.
    static let methods: [Semantics] = [
        Semantics(
            "9.3.1", "GET /files/a", 200, ["Content-Length": "10", "ETag": "{tag}"], answer: "0123456789"),
        Semantics("9.3.1", "GET /files/none", 404, ["ETag": nothing]),
        // The content of a GET is ignored, and is not read as the next request.
        Semantics("9.3.1", "GET /files/a", content: "x", 200, answer: "0123456789"),
        Semantics(
            "9.3.2", "HEAD /files/a", 200,
            ["Content-Length": "10", "ETag": "{tag}", "Last-Modified": "{date}"],
            answer: ""),
        Semantics("9.3.2", "HEAD /files/none", 404, answer: ""),
        Semantics("9.3.2", "HEAD /hello", 200, ["Content-Length": "5"], answer: ""),
        Semantics("9.3.2", "HEAD /made", 200, answer: ""),
        Semantics("9.3.2", "HEAD /none", 404, answer: ""),
        Semantics("9.3.2", "HEAD /site/", 200, answer: ""),
        Semantics("9.3.3", "POST /form", content: "x", 200, answer: "x"),
        Semantics("9.3.3", "POST /hello", content: "x", 405, ["Allow": "GET, HEAD, OPTIONS"]),
        Semantics("9.3.3", "POST /files/a", content: "x", 405, ["Allow": "*"]),
        Semantics("9.3.4", "PUT /files/new", content: "x", 201, ["ETag": "*"]),
        Semantics("9.3.4", "PUT /files/a", content: "x", 204, ["ETag": "*", "Content-Length": nothing]),
        Semantics("9.3.4", "PUT /hello", content: "x", 405, ["Allow": "GET, HEAD, OPTIONS"]),
        Semantics("9.3.4", "PUT /site/index.html", content: "x", 405, ["Allow": "*"]),
        // A part of a representation does not replace the complete representation.
        Semantics("14.5", "PUT /files/a", ["Content-Range: bytes 0-0/10"], content: "x", 204),
        Semantics("14.5", "PUT /files/a", ["Content-Range: bytes 0-0/9"], content: "x", 400),
        Semantics(
            "14.5", "PUT /files/a", ["Content-Range: bytes 11-11/*"], content: "x", 416,
            ["Content-Range": "bytes */10"]),
        // Without decoding, the encoded bytes would become the content (§8.4, §15.5.16).
        Semantics(
            "8.4", "PUT /files/a", ["Content-Encoding: gzip"], content: "x", 415,
            ["Accept-Encoding": "identity"]),
        Semantics("9.3.5", "DELETE /files/a", 204, ["Content-Length": nothing]),
        Semantics("9.3.5", "DELETE /files/none", 404),
        Semantics("9.3.5", "DELETE /hello", 405, ["Allow": "GET, HEAD, OPTIONS"]),
        Semantics("9.3.6", "CONNECT localhost:80", 405, ["Allow": "*"]),
        Semantics(
            "9.3.7", "OPTIONS /hello", 204, ["Allow": "GET, HEAD, OPTIONS", "Content-Length": nothing]),
        Semantics("9.3.7", "OPTIONS *", 204, ["Allow": "*"]),
        Semantics("9.3.7", "OPTIONS /files/a", 200, ["Allow": "*", "DAV": "*"]),
        // The response does not contain the request, which can contain credentials.
        Semantics("9.3.8", "TRACE /hello", ["X-Secret: s"], 405, ["Allow": "GET, HEAD, OPTIONS"]),
        Semantics("9.3.8", "TRACE /files/a", ["X-Secret: s"], 405, ["Allow": "*"]),
        Semantics("9.1", "BREW /files/a", 501),
        Semantics("9.1", "BREW /site/", 501),
        // Methods are case-sensitive.
        Semantics("9.1", "get /files/a", 501),
        Semantics("9.1", "get /hello", 501),
    ]

    /// §13: the order in which preconditions are evaluated (§13.2.2), and the response for each method.
    static let conditions: [Semantics] = [
        Semantics("13.1.1", "GET /files/a", ["If-Match: {tag}"], 200),
        Semantics("13.1.1", "GET /files/a", ["If-Match: \"x\""], 412),
        Semantics("13.1.1", "PUT /files/a", ["If-Match: \"x\""], content: "x", 412),
        Semantics("13.1.1", "PUT /files/a", ["If-Match: \"x\", {tag}"], content: "x", 204),
        Semantics("13.1.1", "PUT /files/a", ["If-Match: W/{tag}"], content: "x", 412),
        Semantics("13.1.1", "PUT /files/none", ["If-Match: *"], content: "x", 412),
        Semantics("13.1.1", "DELETE /files/a", ["If-Match: \"x\""], 412),
        Semantics("13.1.1", "PROPFIND /files/a", ["If-Match: \"x\"", "Depth: 0"], 412),
        Semantics("13.1.1", "PROPFIND /files/a", ["If-Match: {tag}", "Depth: 0"], 207),
        Semantics("13.1.1", "PROPFIND /files/", ["If-Match: *"], 207),
        Semantics("13.2.1", "PROPFIND /files/none", ["If-Match: *"], 404),
        Semantics(
            "13.1.2", "GET /files/a", ["If-None-Match: {tag}"], 304,
            ["ETag": "{tag}", "Date": "*", "Content-Type": nothing], answer: ""),
        Semantics("13.1.2", "GET /files/a", ["If-None-Match: W/{tag}"], 304, answer: ""),
        Semantics("13.1.2", "HEAD /files/a", ["If-None-Match: \"x\", {tag}"], 304, answer: ""),
        Semantics("13.1.2", "GET /files/a", ["If-None-Match: *"], 304, answer: ""),
        Semantics("13.1.2", "GET /files/a", ["If-None-Match: \"x\""], 200, answer: "0123456789"),
        Semantics("13.1.2", "PUT /files/a", ["If-None-Match: *"], content: "x", 412),
        Semantics("13.1.2", "PUT /files/new", ["If-None-Match: *"], content: "x", 201),
        Semantics("13.1.2", "DELETE /files/a", ["If-None-Match: {tag}"], 412),
        Semantics("13.1.2", "GET /files/none", ["If-None-Match: *"], 404),
        Semantics("13.1.3", "GET /files/a", ["If-Modified-Since: {date}"], 304, answer: ""),
        Semantics("13.1.3", "GET /files/a", ["If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], 200),
        Semantics("13.1.3", "GET /files/a", ["If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"], 200),
        Semantics("13.1.3", "GET /files/a", ["If-Modified-Since: Sun Nov  6 08:49:37 1994"], 200),
        Semantics("13.1.3", "GET /files/a", ["If-Modified-Since: yesterday"], 200),
        Semantics("13.1.3", "DELETE /files/a", ["If-Modified-Since: {date}"], 204),
        Semantics("13.1.4", "GET /files/a", ["If-Unmodified-Since: {date}"], 200),
        Semantics("13.1.4", "GET /files/a", ["If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], 412),
        Semantics(
            "13.1.4", "PUT /files/a", ["If-Unmodified-Since: Sunday, 06-Nov-94 08:49:37 GMT"], content: "x",
            412),
        Semantics("13.1.4", "PUT /files/a", ["If-Unmodified-Since: yesterday"], content: "x", 204),
        // §13.2.2: a precondition on entity tags takes precedence over one on dates.
        Semantics(
            "13.2.2", "PUT /files/a",
            ["If-Match: {tag}", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"],
            content: "x", 204),
        Semantics("13.2.2", "GET /files/a", ["If-None-Match: \"x\"", "If-Modified-Since: {date}"], 200),
        Semantics("13.2.2", "GET /files/a", ["If-Match: {tag}", "If-None-Match: {tag}"], 304, answer: ""),
        Semantics("13.2.2", "GET /files/a", ["If-Match: \"x\"", "If-None-Match: {tag}"], 412),
        // §13.2.1: preconditions are ignored if the request would fail without them.
        Semantics("13.2.1", "OPTIONS /files/a", ["If-Match: \"x\""], 200),
        Semantics("13.2.1", "PUT /files/no/parent", ["If-None-Match: {tag}"], content: "x", 409),
    ]

    /// RFC 9110 §14.
    static let ranges: [Semantics] = [
        Semantics("14.3", "GET /files/a", 200, ["Accept-Ranges": "bytes", "Content-Range": nothing]),
        Semantics(
            "14.2", "GET /files/a", ["Range: bytes=2-4"], 206,
            ["Content-Range": "bytes 2-4/10", "Content-Length": "3", "ETag": "{tag}"], answer: "234"),
        Semantics("14.1.2", "GET /files/a", ["Range: bytes=-3"], 206, answer: "789"),
        Semantics("14.1.2", "GET /files/a", ["Range: bytes=8-"], 206, answer: "89"),
        Semantics("14.1.2", "GET /files/a", ["Range: bytes=8-99"], 206, ["Content-Range": "bytes 8-9/10"]),
        Semantics("14.1.2", "GET /files/a", ["Range: bytes=-99"], 206, answer: "0123456789"),
        Semantics("14.1.2", "GET /files/a", ["Range: BYTES=0-0"], 206, answer: "0"),
        Semantics("14.4", "GET /files/a", ["Range: bytes=10-"], 416, ["Content-Range": "bytes */10"]),
        Semantics("14.4", "GET /files/a", ["Range: bytes=-0"], 416, ["Content-Range": "bytes */10"]),
        Semantics("14.2", "GET /files/a", ["Range: bytes=3-2"], 200, answer: "0123456789"),
        Semantics("14.2", "GET /files/a", ["Range: lines=1-2"], 200, answer: "0123456789"),
        Semantics("14.2", "GET /files/a", ["Range: bytes=x"], 200, answer: "0123456789"),
        Semantics(
            "14.2", "HEAD /files/a", ["Range: bytes=2-4"], 200,
            ["Content-Length": "10", "Content-Range": nothing]),
        Semantics("14.2", "PUT /files/a", ["Range: bytes=0-0"], content: "x", 204),
        Semantics("14.2", "GET /files/a", ["Range: bytes=0-1", "If-None-Match: {tag}"], 304, answer: ""),
        Semantics("14.2", "GET /files/a", ["Range: bytes=20-", "If-Match: \"x\""], 412),
        Semantics("13.1.5", "GET /files/a", ["Range: bytes=0-1", "If-Range: {tag}"], 206, answer: "01"),
        Semantics(
            "13.1.5", "GET /files/a", ["Range: bytes=0-1", "If-Range: \"x\""], 200, answer: "0123456789"),
        Semantics("13.1.5", "GET /files/a", ["Range: bytes=0-1", "If-Range: W/{tag}"], 200),
        Semantics("13.1.5", "GET /files/a", ["Range: bytes=20-", "If-Range: \"x\""], 200),
        Semantics(
            "13.1.5", "GET /files/a", ["Range: bytes=0-1", "If-Range: Sun, 06 Nov 1994 08:49:37 GMT"], 200),
    ]

    /// §8.4, §12.5.3; `/made` is a long text from a handler.
    static let codings: [Semantics] = [
        Semantics("12.5.3", "GET /made", 200, ["Content-Encoding": nothing, "Vary": "Accept-Encoding"]),
        Semantics("12.5.3", "GET /made", ["Accept-Encoding: gzip"], 200, ["Content-Encoding": "gzip"]),
        Semantics("12.5.3", "GET /made", ["Accept-Encoding: x-gzip"], 200, ["Content-Encoding": "gzip"]),
        Semantics(
            "12.5.3", "GET /made", ["Accept-Encoding: br, GZIP;q=0.5"], 200, ["Content-Encoding": "gzip"]),
        Semantics("12.5.3", "GET /made", ["Accept-Encoding: gzip;q=0"], 200, ["Content-Encoding": nothing]),
        Semantics(
            "12.5.3", "GET /made", ["Accept-Encoding: gzip;q=0.000"], 200, ["Content-Encoding": nothing]),
        Semantics("12.5.3", "GET /made", ["Accept-Encoding:"], 200, ["Content-Encoding": nothing]),
        Semantics("12.5.3", "GET /made", ["Accept-Encoding: br"], 200, ["Content-Encoding": nothing]),
        Semantics(
            "12.5.3", "GET /made", ["Accept-Encoding: identity;q=1, gzip;q=0.1"], 200,
            ["Content-Encoding": nothing]),
        Semantics(
            "12.5.3", "GET /made", ["Accept-Encoding: identity;q=0, *;q=1"], 200, ["Content-Encoding": "gzip"]
        ),
        // Content of a share is not compressed.
        Semantics(
            "12.5.3", "GET /files/a", ["Accept-Encoding: gzip"], 200, ["Content-Encoding": nothing],
            answer: "0123456789"),
    ]

    /// RFC 9110 §4, §6, §7, §10.
    static let messages: [Semantics] = [
        Semantics("6.6.1", "GET /hello", 200, ["Date": "*"]),
        Semantics("6.6.1", "GET /none", 404, ["Date": "*"]),
        Semantics("6.6.1", "GET /site/sub", 301, ["Date": "*", "Location": "/site/sub/"]),
        Semantics("8.3", "GET /hello", 200, ["Content-Type": "text/plain; charset=utf-8"]),
        Semantics("8.8.2.1", "GET /files/a", 200, ["Last-Modified": "{date}"]),
        Semantics("4.2.4", "GET http://u:p@localhost/hello", 400),
        // §7.4: a client that requests an https URL expects a secure connection.
        Semantics("7.4", "GET https://localhost/hello", 421),
        Semantics("7.4", "PUT https://localhost/files/new", content: "x", 421),
        Semantics("7.2", "GET http://localhost/hello", 200, answer: "Hello"),
        Semantics("7.2", "GET http://elsewhere.example/hello", 421),
        Semantics("10.1.1", "PUT /files/new", ["Expect: 200-ok"], content: "x", 417),
        Semantics("7.8", "GET /hello", ["Upgrade: h2c"], 200, ["Upgrade": nothing]),
        Semantics("10.2.4", "GET /hello", 200, ["Server": "davit"]),
        Semantics("15.5.15", "GET /" + String(repeating: "a", count: 9000), 414),
    ]

    /// §11, with an account `anna` whose password is `secret`.
    static let authentication: [Semantics] = [
        Semantics("11.6.1", "GET /hello", 401, ["WWW-Authenticate": "*"]),
        // Requests for missing resources get 401 as well, so that the response does not disclose whether they
        // exist.
        Semantics("11.6.1", "GET /none", 401, ["WWW-Authenticate": "*"]),
        Semantics("11.6.1", "HEAD /hello", 401, ["WWW-Authenticate": "*"], answer: ""),
        Semantics("11.6.1", "PUT /files/new", content: "x", 401, ["WWW-Authenticate": "*"]),
        Semantics("11.6.2", "GET /hello", ["Authorization: Basic YW5uYTpzZWNyZXQ="], 200, answer: "Hello"),
        // §11.1: schemes are case-insensitive.
        Semantics("11.1", "GET /hello", ["Authorization: bASIC YW5uYTpzZWNyZXQ="], 200),
        Semantics("11.6.2", "GET /hello", ["Authorization: Basic YW5uYTp3cm9uZw=="], 401),
        Semantics("11.6.2", "GET /hello", ["Authorization: Basic"], 401),
        Semantics("11.6.2", "GET /hello", ["Authorization: Basic %%%"], 401),
        Semantics("11.6.2", "GET /hello", ["Authorization: Bearer YW5uYTpzZWNyZXQ="], 401),
        Semantics("11.6.2", "GET /hello", ["Authorization: YW5uYTpzZWNyZXQ="], 401),
        Semantics("11.6.2", "GET /hello", ["Authorization:"], 401),
        // Only one field with one value is accepted; choosing between two would be a guess.
        Semantics(
            "5.3", "GET /hello",
            ["Authorization: Basic YW5uYTp3cm9uZw==", "Authorization: Basic YW5uYTpzZWNyZXQ="], 401),
        // §11.7: this field is only for proxies.
        Semantics("11.7.2", "GET /hello", ["Proxy-Authorization: Basic YW5uYTpzZWNyZXQ="], 401),
    ]
}
