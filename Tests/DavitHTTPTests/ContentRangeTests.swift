import DavitHTTP
import Testing

struct ContentRangeTests {
    /// RFC 9110 §14.4: offset, length and total; nil for values without a byte range.
    static let rows: [(value: String, range: (Int64, Int64)?, total: Int64?)] = [
        ("bytes 4-9/10", (4, 6), 10), ("bytes 0-0/1", (0, 1), 1), ("bytes 4-9/*", (4, 6), nil),
        ("BYTES 4-9/10", (4, 6), 10), ("bytes  4-9/10 ", (4, 6), 10), ("bytes 4-9/11", (4, 6), 11),
        ("bytes 0-9223372036854775806/*", (0, .max), nil),
        ("bytes 9-4/10", nil, nil), ("bytes 4-9/9", nil, nil), ("bytes 4-9", nil, nil),
        ("bytes */10", nil, nil), ("bytes=4-9/10", nil, nil), ("bytes4-9/10", nil, nil),
        ("items 4-9/10", nil, nil), ("bytes -9/10", nil, nil), ("bytes 4-/10", nil, nil),
        ("bytes 4-9/", nil, nil), ("bytes 4-9/x", nil, nil), ("bytes 4-9,11-12/20", nil, nil),
        ("bytes 4-9/10/11", nil, nil), ("bytes 0x4-9/10", nil, nil),
        ("bytes 0-9223372036854775807/*", nil, nil),
        ("bytes 99999999999999999999-99999999999999999999/*", nil, nil), ("", nil, nil), ("bytes ", nil, nil),
    ]

    @Test(arguments: rows)
    func byteRangesAreParsed(value: String, range: (Int64, Int64)?, total: Int64?) {
        let parsed = ContentRange(parsing: Array(value.utf8).span)
        #expect(parsed?.range == range.map { ByteRange(offset: $0.0, length: $0.1) })
        #expect(parsed?.total == total)
    }
}
