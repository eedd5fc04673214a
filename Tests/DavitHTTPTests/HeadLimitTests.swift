import DavitHTTP
import DavitTesting
import Testing

/// The exact limits of a head in bytes.
struct HeadLimitTests {
    static let feed = HeadFeed(limits: WireLimits(requestLineBytes: 40, headBytes: 120, fieldCount: 3))

    static func requestLine(_ bytes: Int) -> String {
        "GET /" + String(repeating: "a", count: bytes - 14) + " HTTP/1.1"
    }

    /// Returns a head of this length, with one padded field.
    static func head(_ bytes: Int) -> String {
        let fixed = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
        return fixed.replacing("X: ", with: "X: " + String(repeating: "b", count: bytes - fixed.utf8.count))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let head: String
        let status: Int?

        init(_ description: String, _ head: String, _ status: Int?) {
            testDescription = description
            self.head = head
            self.status = status
        }
    }

    static let rows = [
        Row("line of 40 bytes", requestLine(40) + "\r\nHost: a\r\n\r\n", nil),
        Row("line of 41 bytes", requestLine(41) + "\r\nHost: a\r\n\r\n", 414),
        Row("line of 2000 bytes", requestLine(2000), 414),
        Row("head of 120 bytes", head(120), nil),
        Row("head of 121 bytes", head(121), 431),
        Row("head of 2000 bytes", head(2000), 431),
        Row("3 fields", "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\n\r\n", nil),
        Row("4 fields", "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\nA: b\r\n\r\n", 431),
    ]

    @Test(arguments: rows)
    func limitsAreExactToTheByte(row: Row) {
        let (bytes, status) = (Array(row.head.utf8), row.status)
        #expect(Self.feed.whole(bytes).status == status)
        #expect(Self.feed.byteByByte(bytes).status == status)
        for position in 0...bytes.count {
            #expect(Self.feed.split(bytes, at: position) == Self.feed.whole(bytes))
        }
    }

    @Test func endlessLineIsRefusedEarly() {
        #expect(Self.feed.whole(Array("GET /".utf8) + [UInt8](repeating: 97, count: 37)).status == 414)
        #expect(Self.feed.whole(Array("GET /".utf8) + [UInt8](repeating: 97, count: 36)) == .incomplete)
    }

    @Test func headLimitIsAtMost65535Bytes() {
        var limits = WireLimits(headBytes: 1 << 20)
        #expect(limits.headBytes == 65_535)
        limits.headBytes = 1 << 20
        #expect(limits.headBytes == 65_535)
    }
}
