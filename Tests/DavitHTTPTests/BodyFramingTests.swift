import DavitHTTP
import DavitTesting
import Testing

struct BodyFramingTests {
    /// Field lines after Host, and the resulting framing or status.
    static let rows: [(fields: [String], framing: BodyFraming?, status: Int?)] = [
        // The items of RFC 9112 §6.3.
        ([], BodyFraming.none, nil),
        (["Content-Length: 0"], BodyFraming.none, nil),
        (["Content-Length: 5"], .length(5), nil),
        (["Content-Length: 4611686018427387904"], .length(1 << 62), nil),
        // These lengths would overflow when added to a file offset.
        (["Content-Length: 4611686018427387905"], nil, 413),
        (["Content-Length: 9223372036854775807"], nil, 413),
        (["Transfer-Encoding: chunked"], .chunked, nil),
        (["transfer-encoding: Chunked"], .chunked, nil),
        // Item 3: both fields.
        (["Content-Length: 5", "Transfer-Encoding: chunked"], nil, 400),
        (["Transfer-Encoding: chunked", "Content-Length: 5"], nil, 400),
        (["Transfer-Encoding: gzip", "Content-Length: 5"], nil, 400),
        // Item 5: an invalid Content-Length.
        (["Content-Length: 5", "Content-Length: 6"], nil, 400),
        (["Content-Length: 5", "Content-Length: 5"], nil, 400),
        (["Content-Length: 5, 5"], nil, 400),
        (["Content-Length:"], nil, 400),
        (["Content-Length: +5"], nil, 400),
        (["Content-Length: -1"], nil, 400),
        (["Content-Length: 0x5"], nil, 400),
        (["Content-Length: 5 5"], nil, 400),
        (["Content-Length: 5;"], nil, 400),
        (["Content-Length: 9223372036854775808"], nil, 400),
        (["Content-Length: 99999999999999999999999999"], nil, 400),
        // Item 4: chunked is not the final coding; §6.1: unknown codings.
        (["Transfer-Encoding: chunked, gzip"], nil, 400),
        (["Transfer-Encoding: gzip"], nil, 400),
        (["Transfer-Encoding: identity"], nil, 400),
        (["Transfer-Encoding: xchunked"], nil, 400),
        (["Transfer-Encoding: chunked, chunked"], nil, 400),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], nil, 400),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], nil, 400),
        (["Transfer-Encoding:"], nil, 400),
        (["Transfer-Encoding: , chunked"], nil, 400),
        (["Transfer-Encoding: chunked;a=b"], nil, 400),
        (["Transfer-Encoding: \u{B}chunked"], nil, 400),
        (["Transfer-Encoding: \"chunked\""], nil, 400),
        (["Transfer-Encoding: gzip, chunked"], nil, 501),
        (["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], nil, 501),
    ]

    @Test(arguments: rows)
    func framingIsDeterminedOrRefused(fields: [String], framing: BodyFraming?, status: Int?) {
        let head = ["PUT /a HTTP/1.1", "Host: a"] + fields + ["", ""]
        let outcome = HeadFeed().whole(Array(head.joined(separator: "\r\n").utf8))
        #expect(outcome.summary?.framing == framing)
        #expect(outcome.status == status)
    }

    @Test func http10HasNoTransferCodings() {
        let head = "PUT /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(HeadFeed().whole(Array(head.utf8)).status == 400)
    }

    /// Whether a client waits for 100 (Continue) before it sends the content (RFC 9110 §10.1.1).
    static let expectations: [(version: String, fields: [String], expects: Bool)] = [
        ("1.1", ["Content-Length: 5", "Expect: 100-continue"], true),
        ("1.1", ["Transfer-Encoding: chunked", "expect: 100-Continue"], true),
        ("1.1", ["Expect: 100-continue"], false),
        ("1.1", ["Content-Length: 0", "Expect: 100-continue"], false),
        ("1.0", ["Content-Length: 5", "Expect: 100-continue"], false),
        ("1.0", ["Content-Length: 5", "Expect: something"], false),
        ("1.1", ["Content-Length: 5"], false),
    ]

    @Test(arguments: expectations)
    func continueIsExpectedOnlyBeforeContent(version: String, fields: [String], expects: Bool) throws {
        let head = ["PUT /a HTTP/\(version)", "Host: a"] + fields + ["", ""]
        let summary = try #require(HeadFeed().whole(Array(head.joined(separator: "\r\n").utf8)).summary)
        #expect(summary.expectsContinue == expects)
    }

    /// Whether the connection stays open after the response (RFC 9112 §9.3).
    static let persistence: [(version: String, fields: [String], keepsAlive: Bool)] = [
        ("1.1", [], true),
        ("1.1", ["Connection: close"], false),
        ("1.1", ["Connection: Keep-Alive, CLOSE"], false),
        ("1.1", ["Connection: TE", "Connection: close"], false),
        ("1.1", ["Connection: closed"], true),
        ("1.1", ["Connection:"], true),
        ("1.0", [], false),
        ("1.0", ["Connection: Keep-Alive"], true),
        ("1.0", ["Connection: TE,keep-alive ,"], true),
        ("1.0", ["Connection: keep-alive, close"], false),
        ("1.0", ["Keep-Alive: timeout=5"], false),
    ]

    @Test(arguments: persistence)
    func persistenceFollowsTheVersion(version: String, fields: [String], keepsAlive: Bool) throws {
        let head = ["GET /a HTTP/\(version)", "Host: a"] + fields + ["", ""]
        let summary = try #require(HeadFeed().whole(Array(head.joined(separator: "\r\n").utf8)).summary)
        #expect(summary.keepsAlive == keepsAlive)
    }
}
