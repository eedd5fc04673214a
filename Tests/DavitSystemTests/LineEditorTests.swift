import DavitSystem
import Testing

struct LineEditorTests {
    static let lines: [(typed: [UInt8], bytes: [UInt8], outcome: LineEditor.Outcome)] = [
        (Array("abc\n".utf8), Array("abc".utf8), .ended), (Array("abc\r".utf8), Array("abc".utf8), .ended),
        (Array("\n".utf8), [], .ended), (Array("abc".utf8), Array("abc".utf8), .more),
        (Array("ab".utf8) + [127] + Array("c\n".utf8), Array("ac".utf8), .ended),
        // One key press deletes one character, regardless of its number of bytes.
        (Array("aö€".utf8) + [127, 8, 10], Array("a".utf8), .ended), ([127, 8, 120, 10], [120], .ended),
        (Array("abc".utf8) + [21, 120, 10], [120], .ended),
        ([97, 3], [97], .givenUp), ([4], [], .givenUp),
    ]

    @Test(arguments: lines)
    func keysEditTheLine(typed: [UInt8], bytes: [UInt8], outcome: LineEditor.Outcome) {
        var line = LineEditor()
        var last = LineEditor.Outcome.more
        for byte in typed { last = line.take(byte) }
        #expect(line.bytes == bytes)
        #expect(last == outcome)
    }
}
