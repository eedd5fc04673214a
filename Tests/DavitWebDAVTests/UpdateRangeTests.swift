import DavitWebDAV
import Testing

struct UpdateRangeTests {
    static let wellFormed: [(String, UpdateRange)] = [
        ("append", .append), (" APPEND ", .append), ("bytes=0-3", .from(0, length: 4)),
        ("bytes=12-", .from(12, length: nil)), ("Bytes=7-7", .from(7, length: 1)), ("bytes=-4", .fromEnd(4)),
        ("bytes=-0", .fromEnd(0)),
    ]

    @Test(arguments: wellFormed)
    func wellFormedRangesAreParsed(value: String, range: UpdateRange) throws {
        #expect(try UpdateRange.parse(Array(value.utf8).span) == range)
    }

    static let refused: [(String, UpdateRange.ParseError)] = [
        ("", .malformed), ("bytes", .malformed), ("bytes=", .malformed), ("bytes=-", .malformed),
        ("0-3", .malformed),
        ("bytes 0-3", .malformed), ("bytes=a-b", .malformed), ("bytes=1-2,4-5", .malformed),
        ("bytes=1", .malformed),
        ("appended", .malformed), ("bytes=--4", .malformed), ("bytes=99999999999999999999-", .malformed),
        ("bytes=0-9223372036854775807", .malformed), ("bytes=3-2", .backwards),
    ]

    @Test(arguments: refused)
    func malformedRangesAreRefused(value: String, error: UpdateRange.ParseError) {
        #expect(throws: error) { try UpdateRange.parse(Array(value.utf8).span) }
    }
}
