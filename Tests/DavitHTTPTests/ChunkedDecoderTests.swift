import DavitHTTP
import DavitTesting
import Testing

struct ChunkedDecoderTests {
    /// RFC 9112 §7.1.
    static let wellFormed: [(encoded: String, data: String, rest: String)] = [
        ("0\r\n\r\n", "", ""),
        ("5\r\nhello\r\n0\r\n\r\nGET", "hello", "GET"),
        ("5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n", "hello world", ""),
        ("A\r\n0123456789\r\n00\r\n\r\n", "0123456789", ""),
        ("00a\r\n0123456789\r\n0\r\n\r\n", "0123456789", ""),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n", ""),
        // §7.1.1: extensions.
        ("1;a\r\nx\r\n0;b=c;d=\"e;f\"\r\n\r\n", "x", ""),
        ("1 \t;a\r\nx\r\n0\r\n\r\n", "x", ""),
        // §7.1.2: trailers.
        ("1\r\nx\r\n0\r\nA: b\r\nC:\td \r\n\r\n/", "x", "/"),
    ]

    @Test(arguments: wellFormed)
    func wellFormedChunksAreDecoded(encoded: String, data: String, rest: String) {
        let bytes = Array(encoded.utf8)
        let outcome = ChunkFeed().decode([bytes])
        #expect(outcome == .init(data: Array(data.utf8), isEnded: true, rest: Array(rest.utf8)))
        #expect(ChunkFeed().byteByByte(bytes) == outcome)
        for position in 0...bytes.count {
            let pieces = [Array(bytes[..<position]), Array(bytes[position...])]
            #expect(ChunkFeed().decode(pieces, portion: 3) == outcome)
            #expect(ChunkFeed().decodeInPlace(pieces) == outcome)
        }
        #expect(ChunkFeed().decodeInPlace(bytes.map { [$0] }) == outcome)
    }

    static let refused: [(encoded: String, status: UInt16)] = [
        ("\r\n", 400),
        ("g\r\n", 400),
        ("-1\r\n", 400),
        ("+1\r\n", 400),
        ("0x1\r\n", 400),
        (" 1\r\n", 400),
        ("1 \r\n", 400),
        ("1 2\r\n", 400),
        (";a\r\n", 400),
        // Line terminators.
        ("1\nx", 400),
        ("1\rx", 400),
        ("1;a\nx", 400),
        ("1;a\rb\r\nx", 400),
        ("1\r\nx\n", 400),
        ("1\r\nx\rx", 400),
        ("1\r\nxy\r\n", 400),
        ("0\r\n\n", 400),
        ("0\r\n\rx", 400),
        // Sizes that overflow.
        ("FFFFFFFFFFFFFFFF\r\n", 400),
        ("10000000000000000\r\n", 400),
        ("0000000000000001\r\n", 400),
        // Extensions and trailers.
        ("1;a\u{0}\r\n", 400),
        ("0\r\n A: b\r\n\r\n", 400),
        ("0\r\nA : b\r\n\r\n", 400),
        ("0\r\nA\r\n\r\n", 400),
        ("0\r\n: b\r\n\r\n", 400),
        ("0\r\nA: b\u{0}\r\n\r\n", 400),
        ("0\r\nA: b\n\r\n", 400),
        ("0\r\nA: b\rc\r\n\r\n", 400),
        ("0\r\nA: b\r\n c\r\n\r\n", 400),
    ]

    @Test(arguments: refused)
    func malformedChunksAreRefused(encoded: String, status: UInt16) {
        let bytes = Array(encoded.utf8)
        let outcome = ChunkFeed().decode([bytes])
        #expect(outcome.error?.status.code == status)
        #expect(ChunkFeed().byteByByte(bytes) == outcome)
        for position in 0...bytes.count {
            let pieces = [Array(bytes[..<position]), Array(bytes[position...])]
            #expect(ChunkFeed().decodeInPlace(pieces).error == outcome.error)
        }
    }

    static let limits = ChunkFeed(limits: WireLimits(fieldCount: 2, chunkLineBytes: 8, trailerBytes: 20))

    static let limited: [(encoded: String, status: UInt16?)] = [
        ("1;345678\r\nx\r\n0\r\n\r\n", nil),
        ("1;3456789\r\nx\r\n0\r\n\r\n", 400),
        ("0\r\nA: b\r\nA: b\r\n\r\n", nil),
        ("0\r\nA: b\r\nA: b\r\nA: b\r\n\r\n", 431),
        ("0\r\nA: 456789012345678\r\n\r\n", nil),
        ("0\r\nA: 4567890123456789\r\n\r\n", 431),
    ]

    @Test(arguments: limited)
    func extensionsAndTrailersAreLimited(encoded: String, status: UInt16?) {
        let outcome = Self.limits.decode([Array(encoded.utf8)])
        #expect(outcome.error?.status.code == status)
        #expect(outcome.isEnded == (status == nil))
        #expect(Self.limits.byteByByte(Array(encoded.utf8)) == outcome)
    }

    @Test func lengthOfDataIsKnownBeforeItArrives() throws {
        var decoder = ChunkedDecoder()
        let size = Array("7fffffff0\r\n".utf8)
        let step = try unsafe size.withUnsafeBytes { try unsafe decoder.decode($0) }
        #expect(step.consumed == size.count && step.step == .data(remaining: 0x7_FFFF_FFF0))
        decoder.didTake(16)
        let empty: [UInt8] = []
        let next = try unsafe empty.withUnsafeBytes { try unsafe decoder.decode($0) }
        #expect(next.consumed == 0 && next.step == .data(remaining: 0x7_FFFF_FFE0))
        #expect(decoder.dataRemaining == 0x7_FFFF_FFE0)
    }

    @Test func sizesHaveAtMost15Digits() throws {
        var decoder = ChunkedDecoder()
        let most = Array("fffffffffffffff\r\n".utf8)
        let step = try unsafe most.withUnsafeBytes { try unsafe decoder.decode($0) }
        #expect(step.step == .data(remaining: 1 << 60 - 1))
        let outcome = Self.limits.decode([Array("1000000000000000\r\n".utf8)])
        #expect(outcome.error?.status.code == 400)
    }
}
