import DavitZlib
import Testing

struct InflaterTests {
    static let text = Array("Hello, hello, hello, davit!".utf8)

    /// Made by Python's gzip and zlib.
    static let gzip = "1f8b0800000000000203f348cdc9c9d751c840a15212cb324b14019056ef2b1b000000"
    static let gzipWithName =
        "1f8b080800f1536502ff6e616d652e74787400f348cdc9c9d751c840a15212cb324b14019056ef2b1b000000"
    static let zlib = "78daf348cdc9c9d751c840a15212cb324b14018209093a"
    static let raw = "f348cdc9c9d751c840a15212cb324b1401"

    static let wellFormed: [(name: String, format: Inflater.Format, hex: String)] = [
        ("gzip", .gzip, gzip), ("with a name", .gzip, gzipWithName),
        // RFC 1952 §2.2
        ("empty members around", .gzip, empty + gzip + empty),
        // RFC 9110 §8.4.1.2, and what some clients take it for.
        ("zlib", .deflate, zlib),
        ("zlib, fast", .deflate, "7801f348cdc9c9d751c840a15212cb324b14018209093a"), ("raw", .deflate, raw),
        ("raw, stored", .deflate, "011b00e4ff48656c6c6f2c2068656c6c6f2c2068656c6c6f2c20646176697421"),
    ]
    static let empty = "1f8b080000000000000303000000000000000000"

    @Test(arguments: wellFormed)
    func readsWhatOthersWrite(name: String, format: Inflater.Format, hex: String) throws {
        let bytes = Feed.bytes(hex: hex)
        for room in [1, 2, 26, 27, 28, 1000] {
            #expect(try Feed.inflate([bytes], format, room: room) == Self.text)
        }
        #expect(try Feed.inflate(bytes.map { [$0] }, format) == Self.text)
        for position in 0...bytes.count {
            let halves = [Array(bytes.prefix(position)), Array(bytes.dropFirst(position))]
            #expect(try Feed.inflate(halves, format) == Self.text)
            #expect(try Feed.inflate(halves, format, room: 1) == Self.text)
        }
    }

    @Test(arguments: wellFormed)
    func noticesThatTheEndIsMissing(name: String, format: Inflater.Format, hex: String) throws {
        let bytes = Feed.bytes(hex: hex)
        for count in 0..<bytes.count {
            // Behind the first of two members the input is whole.
            if name == "empty members around", [20, 55].contains(count) { continue }
            #expect(throws: InflateError.truncated(offset: Int64(count))) {
                try Feed.inflate([Array(bytes.prefix(count))], format)
            }
        }
    }

    @Test func saysWhereTheInputMayEnd() throws {
        let bytes = Feed.bytes(hex: Self.gzip)
        var inflater = try Inflater(.gzip, limit: ExpansionLimit(bytes: 100))
        var output = [UInt8](repeating: 0, count: 100)
        for (index, byte) in bytes.enumerated() {
            let progress = try Feed.step([byte], &inflater, &output)
            #expect(progress.isAtEnd == (index == bytes.count - 1))
        }
    }

    static let followed: [(format: Inflater.Format, hex: String, error: InflateError)] = [
        (.gzip, gzip + "00", .trailingData(offset: 35)), (.gzip, gzip + "8b1f", .trailingData(offset: 35)),
        (.deflate, zlib + "00", .trailingData(offset: 23)), (.deflate, raw + raw, .trailingData(offset: 17)),
        // Begins like a member.
        (.gzip, gzip + "1f00", .malformed(offset: 37)), (.gzip, gzip + "1f", .truncated(offset: 36)),
    ]

    @Test(arguments: followed)
    func noticesWhatFollowsTheEnd(format: Inflater.Format, hex: String, error: InflateError) throws {
        let bytes = Feed.bytes(hex: hex)
        #expect(throws: error) { try Feed.inflate([bytes], format) }
        #expect(throws: error) { try Feed.inflate(bytes.map { [$0] }, format) }
    }

    /// A change of any bit is noticed, but in those parts of the head that mean nothing here.
    @Test func noticesBrokenBytes() throws {
        for (format, hex, unchecked) in [
            (Inflater.Format.gzip, Self.gzip, 4...9), (.deflate, Self.zlib, -1 ... -1),
        ] {
            let bytes = Feed.bytes(hex: hex)
            for index in bytes.indices where !unchecked.contains(index) {
                for bit in 0..<8 {
                    // FTEXT (RFC 1952 §2.3.1) is a hint.
                    if format == .gzip, index == 3, bit == 0 { continue }
                    var broken = bytes
                    broken[index] ^= 1 << UInt8(bit)
                    #expect(throws: InflateError.self) { try Feed.inflate([broken], format) }
                }
            }
        }
    }

    static let malformed: [(format: Inflater.Format, hex: String)] = [
        (.gzip, "00"), (.gzip, zlib), (.gzip, raw), (.gzip, "1f8c"), (.deflate, gzip),
        // RFC 1950 §2.2: a dictionary that nobody has.
        (.deflate, "78f9062c0215f300113a0a1928544a6259668922008209093a"),
        // RFC 1951 §3.2.3: a reserved block.
        (.deflate, "07"),
    ]

    @Test(arguments: malformed)
    func refusesOtherFormats(format: Inflater.Format, hex: String) throws {
        var inflater = try Inflater(format, limit: ExpansionLimit(bytes: 100))
        do throws(InflateError) {
            _ = try Feed.expand(Feed.bytes(hex: hex), &inflater)
            try inflater.finish()
            Issue.record("not refused")
        } catch {
            switch error {
            case .malformed, .truncated: break
            default: Issue.record("\(error)")
            }
        }
    }

    @Test func stopsAtItsLimit() throws {
        let bytes = try Feed.deflate(Self.text)
        #expect(try Feed.inflate([bytes], limit: ExpansionLimit(bytes: 27)) == Self.text)
        for limit in [0, 1, 26] as [Int64] {
            #expect(throws: InflateError.tooLong(limitBytes: limit)) {
                try Feed.inflate([bytes], limit: ExpansionLimit(bytes: limit))
            }
            #expect(throws: InflateError.tooLong(limitBytes: limit)) {
                try Feed.inflate([bytes], limit: ExpansionLimit(bytes: limit), room: 1)
            }
        }
    }

    /// 10 MB of zeros in 10 KB: over before much of it was made.
    @Test func stopsWhatExpandsTooMuch() throws {
        let bomb = try Feed.deflate([UInt8](repeating: 0, count: 10_000_000))
        let limit = ExpansionLimit(bytes: .max)
        var inflater = try Inflater(.gzip, limit: limit)
        var made = 0
        #expect(throws: InflateError.expandsTooMuch(ratio: 200)) {
            for byte in bomb { made += try Feed.expand([byte], &inflater, room: 4096).count }
        }
        #expect(made > 1_000_000)
        #expect(made < 2 << 20)
        #expect(try Feed.inflate([bomb], limit: ExpansionLimit(bytes: .max, ratio: 1032)).count == 10_000_000)
        // Short content may expand as it likes.
        let short = try Feed.deflate([UInt8](repeating: 0, count: 1 << 20))
        #expect(try Feed.inflate([short], limit: limit).count == 1 << 20)
    }
}
