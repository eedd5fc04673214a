import Testing

@testable import DavitBlobs

/// Compares maps with arrays of bytes.
@Suite struct SegmentMapTests {
    /// A map, the objects that it refers to, and the content that it must have.
    private struct Model {
        var map = SegmentMap()
        var content: [UInt8] = []
        var objects: [BlobKey: [UInt8]] = [:]

        mutating func makeObject(_ generator: inout some RandomNumberGenerator) -> (
            key: BlobKey, bytes: [UInt8]
        ) {
            let key = BlobKey.random()
            let bytes = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            objects[key] = bytes
            return (key, bytes)
        }

        func bytes(_ pieces: [BlobSegment]) -> [UInt8] {
            pieces.flatMap { piece -> ArraySlice<UInt8> in
                let object = objects[piece.object] ?? []
                let start = Int(piece.objectStart)
                return object[start..<(start + Int(piece.length))]
            }
        }
    }

    /// A generator whose numbers depend on the seed only.
    private struct SeededGenerator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    @Test(arguments: 0..<50) func mapsAreLikeArrays(seed: Int) {
        var generator = SeededGenerator(state: UInt64(seed))
        var model = Model()
        for _ in 0..<100 {
            let length = model.content.count
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                let (key, bytes) = model.makeObject(&generator)
                model.map.append(key, length: Int64(bytes.count), digest: [])
                model.content += bytes
            case 1, 2, 3:
                let (key, bytes) = model.makeObject(&generator)
                let start = Int.random(in: 0...length, using: &generator)
                model.map.overlay(key, at: Int64(start), length: Int64(bytes.count), digest: [])
                model.content.replaceSubrange(start..<min(length, start + bytes.count), with: bytes)
            case 4:
                let end = Int.random(in: 0...(length + 5), using: &generator)
                model.map.truncate(to: Int64(end))
                model.content = Array(model.content.prefix(end))
            default:
                if length < 2000 {
                    model.map.append(model.map)
                    model.content += model.content
                }
            }
            #expect(model.map.length == Int64(model.content.count))
            #expect(model.bytes(model.map.segments) == model.content)
            #expect(SegmentMap(model.map.segments) == model.map)
            let lower = Int.random(in: 0...model.content.count, using: &generator)
            let upper = Int.random(in: lower...model.content.count, using: &generator)
            let pieces = model.map.pieces(Int64(lower)..<Int64(upper))
            #expect(model.bytes(pieces) == Array(model.content[lower..<upper]))
            #expect(pieces.first.map { $0.start == Int64(lower) } ?? (lower == upper))
        }
    }

    @Test func gapsAndEmptySegmentsAreRefused() {
        let key = BlobKey.random()
        let first = BlobSegment(start: 0, length: 2, object: key, digest: [])
        #expect(SegmentMap([first, BlobSegment(start: 2, length: 1, object: key, digest: [])]) != nil)
        #expect(SegmentMap([first, BlobSegment(start: 3, length: 1, object: key, digest: [])]) == nil)
        #expect(SegmentMap([first, BlobSegment(start: 1, length: 1, object: key, digest: [])]) == nil)
        #expect(SegmentMap([BlobSegment(start: 0, length: 0, object: key, digest: [])]) == nil)
    }
}
