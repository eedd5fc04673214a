import DavitHTTP
import DavitTesting
import Testing

/// Seeded mutations: the result must not depend on how input is split into reads, and nothing may trap.
struct WireFuzzTests {
    /// Bytes with special meaning in the grammars.
    private static let telling = Array("\r\n\0 \t:;,*/?#%@[]\"0159AFfgxHT\u{7F}".utf8) + [0x80, 0xFF]

    private static func mutate(_ bytes: [UInt8], using random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard !bytes.isEmpty else { return bytes }
            let position = Int.random(in: 0..<bytes.count, using: &random)
            let byte = telling.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[position] = byte
            case 1: bytes[position] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.insert(byte, at: position)
            case 3: bytes.remove(at: position)
            case 4: bytes.removeSubrange(position..<min(bytes.count, position + 9))
            default:
                let end = min(bytes.count, position + Int.random(in: 1...24, using: &random))
                bytes.insert(contentsOf: bytes[position..<end], at: position)
            }
        }
        return bytes
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func headsParseIdenticallyInPieces(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let seeds = (HeadParserTests.accepted.map(\.head) + [HeadParserTests.ordinary]).map { Array($0.utf8) }
        let feed = HeadFeed(limits: WireLimits(requestLineBytes: 60, headBytes: 200, fieldCount: 5))
        var completeCount = 0
        for _ in 0..<1500 {
            let bytes = Self.mutate(seeds.randomElement(using: &random) ?? [], using: &random)
            let whole = feed.whole(bytes)
            if whole.summary != nil { completeCount += 1 }
            #expect(feed.byteByByte(bytes) == whole, "\(bytes)")
            #expect(feed.split(bytes, at: Int.random(in: 0...bytes.count, using: &random)) == whole)
        }
        // Both outcomes must occur often, or the mutations test nothing.
        #expect(completeCount > 60 && completeCount < 1400)
    }

    @Test(arguments: [4, 5, 6] as [UInt64])
    func chunksParseIdenticallyInPieces(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let seeds = ChunkedDecoderTests.wellFormed.map { Array($0.encoded.utf8) }
        let feed = ChunkFeed(limits: WireLimits(fieldCount: 2, chunkLineBytes: 12, trailerBytes: 24))
        var endedCount = 0
        for _ in 0..<1500 {
            let bytes = Self.mutate(seeds.randomElement(using: &random) ?? [], using: &random)
            let whole = feed.decode([bytes], portion: Int.random(in: 1...5, using: &random))
            if whole.isEnded { endedCount += 1 }
            #expect(feed.byteByByte(bytes) == whole, "\(bytes)")
        }
        #expect(endedCount > 100 && endedCount < 1400)
    }
}
