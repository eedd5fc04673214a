import DavitHTTP
import Testing

struct ByteRangeTests {
    static func range(_ offset: Int64, _ length: Int64) -> ByteRange {
        ByteRange(offset: offset, length: length)
    }

    static let huge = "99999999999999999999999"

    /// RFC 9110 §14.1.2 and §14.2.
    static let rows: [(value: String, length: Int64, outcome: RangeOutcome)] = [
        ("bytes=0-499", 10_000, .single(range(0, 500))),
        ("bytes=500-999", 10_000, .single(range(500, 500))),
        ("bytes=-500", 10_000, .single(range(9500, 500))),
        ("bytes=9500-", 10_000, .single(range(9500, 500))),
        ("bytes=0-0,-1", 10_000, .multiple([range(0, 1), range(9999, 1)])),
        ("BYTES= 0-1 ,\t, ", 10, .single(range(0, 2))),
        // Ends and lengths beyond the content are clamped.
        ("bytes=0-9999", 10, .single(range(0, 10))),
        ("bytes=9-9", 10, .single(range(9, 1))),
        ("bytes=-11", 10, .single(range(0, 10))),
        ("bytes=0-\(huge)", 10, .single(range(0, 10))),
        ("bytes=-\(huge)", 10, .single(range(0, 10))),
        ("bytes=0-", .max, .single(range(0, .max))),
        // Unsatisfiable ranges: 416.
        ("bytes=10-", 10, .unsatisfiable),
        ("bytes=10-20", 10, .unsatisfiable),
        ("bytes=-0", 10, .unsatisfiable),
        ("bytes=\(huge)-", 10, .unsatisfiable),
        ("bytes=0-", 0, .unsatisfiable),
        ("bytes=20-30,-0", 10, .unsatisfiable),
        ("bytes=20-30,0-0", 10, .single(range(0, 1))),
        // A suffix of empty content.
        ("bytes=-1", 0, .whole),
        // Ranges that are malformed or have another unit are ignored.
        ("", 10, .whole), ("bytes", 10, .whole), ("bytes=", 10, .whole), ("bytes=,", 10, .whole),
        ("bytes=-", 10, .whole), ("bytes=a-", 10, .whole), ("bytes=2-1", 10, .whole), ("bytes=1", 10, .whole),
        ("bytes=1-2-3", 10, .whole), ("bytes=1 -2", 10, .whole), ("bytes =1-2", 10, .whole),
        ("bytes=0-1;2-3", 10, .whole), ("bytes=+1-2", 10, .whole), ("bytes=0x1-2", 10, .whole),
        ("bytes=0-1,x", 10, .whole), ("lines=0-1", 10, .whole), ("bytes:0-1", 10, .whole),
        // §15.3.7.2: ranges that overlap or nearly touch are merged, in ascending order.
        ("bytes=0-4,5-9", 1000, .single(range(0, 10))),
        ("bytes=0-4,2-3", 1000, .single(range(0, 5))),
        ("bytes=0-4,85-90", 1000, .single(range(0, 91))),
        ("bytes=0-4,86-90", 1000, .multiple([range(0, 5), range(86, 5)])),
        ("bytes=500-600,0-4", 1000, .multiple([range(0, 5), range(500, 101)])),
        ("bytes=0-,0-,0-,0-,0-", 1000, .single(range(0, 1000))),
        ("bytes=0-\(Int64.max - 1),5-", .max, .single(range(0, .max))),
    ]

    @Test(arguments: rows)
    func rangesAreResolved(value: String, length: Int64, outcome: RangeOutcome) {
        #expect(ByteRanges.resolve(Array(value.utf8).span, length: length) == outcome)
    }

    @Test func tooManyRangesReturnTheWholeContent() {
        func value(_ count: Int) -> [UInt8] {
            Array("bytes=".utf8)
                + Array((0..<count).map { "\($0 * 1000)-\($0 * 1000)" }.joined(separator: ",").utf8)
        }
        #expect(ByteRanges.resolve(value(65).span, length: 1_000_000) == .whole)
        let expected = (0..<64).map { Self.range($0 * 1000, 1) }
        #expect(ByteRanges.resolve(value(64).span, length: 1_000_000) == .multiple(expected))
    }

    @Test func repeatedRangeFieldIsIgnored() throws {
        let one = try request(fields: ["Range: bytes=0-0"])
        #expect(ByteRanges.resolve(one, length: 10) == .single(Self.range(0, 1)))
        let two = try request(fields: ["Range: bytes=0-0", "Range: bytes=1-1"])
        #expect(ByteRanges.resolve(two, length: 10) == .whole)
        #expect(ByteRanges.resolve(try request(), length: 10) == .whole)
    }

    /// Compares with sets of positions: no requested byte is missing, no byte is repeated, and the gaps that
    /// merging adds are limited.
    @Test func mergedRangesCoverExactlyTheRequest() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<500 {
            let length = Int.random(in: 1...2000, using: &random)
            var asked: Set<Int> = []
            let specs = (0..<Int.random(in: 1...8, using: &random)).map { _ -> String in
                let first = Int.random(in: 0..<length, using: &random)
                let last = min(first + Int.random(in: 0...60, using: &random), length - 1)
                asked.formUnion(first...last)
                return "\(first)-\(last)"
            }
            let value = Array("bytes=\(specs.joined(separator: ","))".utf8)
            let ranges: [ByteRange]
            switch ByteRanges.resolve(value.span, length: Int64(length)) {
            case .single(let range): ranges = [range]
            case .multiple(let several): ranges = several
            case .whole, .unsatisfiable: ranges = []
            }
            var sent: Set<Int> = []
            for range in ranges {
                let positions = Set(Int(range.offset)..<Int(range.end))
                #expect(sent.isDisjoint(with: positions))
                sent.formUnion(positions)
            }
            #expect(asked.isSubset(of: sent))
            #expect(sent.count <= asked.count + 80 * (specs.count - 1))
            #expect(sent.max() == asked.max() && sent.min() == asked.min())
        }
    }

    @Test func contentRangeIsFormatted() {
        #expect(text(ByteRanges.contentRange(Self.range(0, 500), of: 1234)) == "bytes 0-499/1234")
        #expect(text(ByteRanges.unsatisfiedContentRange(of: 1234)) == "bytes */1234")
    }

    /// RFC 9110 §14.6.
    @Test func multipartSegmentsHaveTheirRanges() {
        let segments = ByteRanges.multipart(
            ranges: [Self.range(0, 5), Self.range(100, 7)], length: 200,
            contentType: Array("text/plain".utf8), boundary: Array("B".utf8))
        let written = segments.map { segment in
            switch segment {
            case .bytes(let bytes): text(bytes)
            case .file(let offset, let length): "<\(offset)+\(length)>"
            }
        }
        #expect(
            written.joined() == """
                --B\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-4/200\r\n\r\n<0+5>\r\n\
                --B\r\nContent-Type: text/plain\r\nContent-Range: bytes 100-106/200\r\n\r\n<100+7>\r\n\
                --B--\r\n
                """)
        #expect(
            text(ByteRanges.multipartContentType(boundary: Array("B".utf8)))
                == "multipart/byteranges; boundary=B")
    }
}
