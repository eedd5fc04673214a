import DavitZlib
import Testing

struct DeflaterTests {
    static let formats: [(Deflater.Format, Inflater.Format)] = [
        (.gzip, .gzip), (.zlib, .deflate), (.raw, .deflate),
    ]

    @Test(arguments: formats, [1, 6, 9])
    func contentRoundTrips(formats: (write: Deflater.Format, read: Inflater.Format), level: Int) throws {
        for content in [[], [65], Feed.listing(members: 3000), Feed.noise(100_000)] {
            for expected in [nil, content.count, 0] {
                for room in [7, 5000] {
                    let coded = try Feed.deflate(
                        [content], formats.write, level: level, expectedBytes: expected, room: room)
                    #expect(try Feed.inflate(coded, formats.read, room: room) == content)
                }
            }
        }
    }

    @Test func piecesFormOneStream() throws {
        let content = Feed.listing(members: 100)
        let pieces = stride(from: 0, to: content.count, by: 7).map { Array(content[$0...].prefix(7)) }
        let whole = try Feed.deflate([content]).flatMap { $0 }
        #expect(try Feed.deflate(pieces).flatMap { $0 } == whole)
        #expect(whole.count < content.count / 3)
    }

    /// After a flush, a peer can decode everything written so far.
    @Test(arguments: [10, 64, 1000])
    func flushedPieceCanBeDecoded(room: Int) throws {
        let pieces = [Feed.listing(members: 1), [65], Feed.noise(500), Feed.listing(members: 50)]
        let outputs = try Feed.deflate(pieces, flush: .sync, room: room)
        var inflater = try Inflater(.gzip, limit: ExpansionLimit(bytes: 1 << 20))
        for (piece, output) in zip(pieces, outputs) {
            #expect(try Feed.expand(output, &inflater) == piece)
        }
        #expect(try Feed.expand(outputs[pieces.count], &inflater) == [])
        try inflater.finish()
    }

    @Test func piecesAreBufferedWithoutAFlush() throws {
        let outputs = try Feed.deflate([Array("a".utf8), Array("b".utf8)])
        // Without a flush, the first output contains at most the header of the format.
        #expect(outputs[0].count <= 10)
        #expect(outputs[1].isEmpty)
    }

    @Test(arguments: [0, 1, 200, 250, 251, 1000, 70_000])
    func outputIsWithinItsBound(count: Int) throws {
        for content in [Feed.noise(count), [UInt8](repeating: 0, count: count)] {
            for expected in [nil, count] {
                let deflater = try Deflater(.gzip, expectedBytes: expected)
                let bound = deflater.boundBytes(for: count)
                let coded = try Feed.deflate([content], expectedBytes: expected).flatMap { $0 }
                #expect(coded.count <= bound)
            }
        }
    }

    @Test func finishedDeflaterIgnoresInput() throws {
        var deflater = try Deflater(.gzip)
        var output = [UInt8](repeating: 0, count: 100)
        for isFirst in [true, false] {
            let progress = unsafe [1, 2, 3].withUnsafeBytes { input in
                unsafe output.withUnsafeMutableBytes { unsafe deflater.transform(input, into: $0, .finish) }
            }
            #expect(progress.isAtEnd)
            #expect((progress.produced > 0) == isFirst)
        }
    }

    /// The header has no name and no time, so the same content results in the same bytes.
    @Test func headerHasNoNameAndNoTime() throws {
        let coded = try Feed.deflate(Array("a".utf8))
        #expect(Array(coded.prefix(8)) == [0x1F, 0x8B, 8, 0, 0, 0, 0, 0])
    }
}
