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

    static let rows: [(head: String, status: Int?)] = [
        (requestLine(40) + "\r\nHost: a\r\n\r\n", nil),
        (requestLine(41) + "\r\nHost: a\r\n\r\n", 414),
        (requestLine(2000), 414),
        (head(120), nil),
        (head(121), 431),
        (head(2000), 431),
        ("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\n\r\n", nil),
        ("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\nA: b\r\n\r\n", 431),
    ]

    @Test(arguments: rows)
    func countsToTheByte(head: String, status: Int?) {
        let bytes = Array(head.utf8)
        #expect(Self.feed.whole(bytes).status == status)
        #expect(Self.feed.byteByByte(bytes).status == status)
        for position in 0...bytes.count {
            #expect(Self.feed.split(bytes, at: position) == Self.feed.whole(bytes))
        }
    }

    @Test func refusesAnEndlessLineWithoutWaitingForItsEnd() {
        #expect(Self.feed.whole(Array("GET /".utf8) + [UInt8](repeating: 97, count: 37)).status == 414)
        #expect(Self.feed.whole(Array("GET /".utf8) + [UInt8](repeating: 97, count: 36)) == .incomplete)
    }

    @Test func aHeadIsNeverLargerThanItsOffsets() {
        var limits = WireLimits(headBytes: 1 << 20)
        #expect(limits.headBytes == 65_535)
        limits.headBytes = 1 << 20
        #expect(limits.headBytes == 65_535)
    }
}
