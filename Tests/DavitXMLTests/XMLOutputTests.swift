import DavitXML
import Testing

struct XMLOutputTests {
    static func text(_ write: (XMLOutput) -> Void) -> String {
        let output = XMLOutput()
        write(output)
        return String(decoding: output.drain(), as: UTF8.self)
    }

    @Test func piecesAreWrittenInOrder() {
        let written = Self.text { output in
            output.markup("<a>")
            output.bytes([0x31, 0x32])
            output.bytes([0x30, 0x33, 0x30][1..<2])
            output.byte(0x34)
            output.number(-56)
            output.escaped("7<8")
            output.element("D:", "b", bytes: [0x39])
            output.element("", "c", escaped: Array("&".utf8))
            output.element("D:", "d", markup: "<e/>")
            unsafe output.bytes(limit: 30) { memory in
                unsafe memory[0] = UInt8(ascii: "f")
                return 1
            }
            output.markup("</a>")
        }
        #expect(written == "<a>1234-567&lt;8<D:b>9</D:b><c>&amp;</c><D:d><e/></D:d>f</a>")
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, 4_294_967_295, Int64.max, -1, Int64.min])
    func numbersAreWritten(number: Int64) {
        #expect(Self.text { $0.number(number) } == String(number))
        #expect(Self.text { $0.element("D:", "a", number: number) } == "<D:a>\(number)</D:a>")
    }

    static let texts: [([UInt8], String)] = [
        (Array("<a href=\"b\">'&amp;</a>".utf8), "&lt;a href=\"b\"&gt;'&amp;amp;&lt;/a&gt;"),
        (Array("a\rb\tc\nd".utf8), "a&#13;b\tc\nd"),
        (Array("]]>".utf8), "]]&gt;"),
        (Array("\u{E9}\u{1F600}".utf8), "\u{E9}\u{1F600}"),
        ([0x61, 0, 0x62], "a\u{FFFD}b"),
        ([0x01, 0x1F], "\u{FFFD}\u{FFFD}"),
        ([0x61, 0xE9, 0x62], "a\u{FFFD}b"),
        (Array("\u{FFFE}\u{FFFF}".utf8), "\u{FFFD}\u{FFFD}"),
        ([], ""),
    ]

    @Test(arguments: texts)
    func textIsEscaped(text: [UInt8], written: String) {
        #expect(Self.text { $0.escaped(text) } == written)
        #expect(Self.text { $0.element("", "a", escaped: text) } == "<a>\(written)</a>")
    }

    @Test func everyByteRoundTripsInText() throws {
        for byte in UInt8.min...UInt8.max {
            for text in [[byte], [byte, 0x62], [0x61, byte, 0x62]] {
                let output = XMLOutput()
                output.element("", "a", escaped: text)
                let isForbidden = byte < 0x20 && ![0x09, 0x0A, 0x0D].contains(byte)
                let repaired = String(decoding: text, as: UTF8.self)
                let wanted =
                    isForbidden
                    ? String(decoding: text.map { $0 == byte ? 0x3F : $0 }, as: UTF8.self) : repaired
                let read = try XMLDocument.parse(output.drain()).root.text
                #expect((isForbidden ? String(read.map { $0 == "\u{FFFD}" ? "?" : $0 }) : read) == wanted)
            }
        }
    }

    /// Text is examined 8 bytes at a time.
    @Test func everyByteIsEscapedAtEveryPosition() {
        let special: [UInt8: String] = [
            0x09: "\t", 0x0A: "\n", 0x0D: "&#13;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;",
            UInt8(ascii: "&"): "&amp;",
        ]
        for length in 1...17 {
            for position in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var text = [UInt8](repeating: UInt8(ascii: "z"), count: length)
                    text[position] = byte
                    let isASCII = (0x20..<0x80).contains(byte)
                    let own = special[byte] ?? (isASCII ? String(Unicode.Scalar(byte)) : "\u{FFFD}")
                    let wanted =
                        String(repeating: "z", count: position) + own
                        + String(repeating: "z", count: length - 1 - position)
                    let written = Self.text { $0.element("", "a", escaped: text) }
                    if written != "<a>\(wanted)</a>" { Issue.record("\(text): \(written)") }
                }
            }
        }
    }

    static let attributeValues: [(String, written: String)] = [
        ("", ""), ("urn:x", "urn:x"), ("a'b c", "a'b c"),
        ("a\"b<c>d&e", "a&quot;b&lt;c&gt;d&amp;e"),
        ("a\tb\nc\rd", "a&#9;b&#10;c&#13;d"),
        ("\u{E9}\u{1F600}", "\u{E9}\u{1F600}"),
        ("a\u{1}b\u{FFFF}", "a\u{FFFD}b\u{FFFD}"),
    ]

    @Test(arguments: attributeValues)
    func attributeValuesRoundTrip(value: String, written: String) throws {
        let output = XMLOutput()
        output.markup("<a xmlns=\"urn:x\" b=\"")
        output.attributeValue(value)
        output.markup("\"/>")
        let read = try XMLDocument.parse(output.drain()).root.serializedSelfContained()
        #expect(String(decoding: read, as: UTF8.self) == "<a xmlns=\"urn:x\" b=\"\(written)\"/>")
    }

    /// Sizes around those of the output memory and of libxml2's buffer.
    @Test(arguments: [1, 2047, 2048, 2049, 3999, 4000, 4095, 4096, 4097, 8192, 16_000, 70_000])
    func longTextIsCompleteOnEveryPath(count: Int) {
        let text = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let expected = String(decoding: text, as: UTF8.self)
        #expect(Self.text { $0.bytes(text) } == expected)
        #expect(Self.text { output in for byte in text { output.byte(byte) } } == expected)
        #expect(Self.text { $0.escaped(text + [0x3C]) } == expected + "&lt;")
        #expect(Self.text { $0.element("D:", "b", bytes: text) } == "<D:b>\(expected)</D:b>")
        #expect(Self.text { $0.element("D:", "b", escaped: text + [0x26]) } == "<D:b>\(expected)&amp;</D:b>")
    }

    @Test(arguments: [1, 2, 7, 4096, 100_000])
    func outputCanBeTakenInPiecesOfAnySize(size: Int) {
        let output = XMLOutput()
        var expected: [UInt8] = []
        var taken: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: size)
        func take() -> Int {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe output.take(into: $0) }
            taken += piece[..<count]
            return count
        }
        for number in 0..<3000 {
            output.number(Int64(number))
            expected += Array(String(number).utf8)
            #expect(output.count == expected.count - taken.count)
            if number.isMultiple(of: 100) { _ = take() }
        }
        while take() > 0 {}
        #expect(taken == expected)
        #expect(output.count == 0 && output.drain().isEmpty)
    }

    @Test func drainingAfterTakingReturnsTheRest() {
        let output = XMLOutput()
        output.bytes(Array("abcdef".utf8))
        var piece: [UInt8] = [0, 0]
        #expect(unsafe piece.withUnsafeMutableBytes { unsafe output.take(into: $0) } == 2)
        #expect(piece == Array("ab".utf8))
        #expect(output.drain() == Array("cdef".utf8))
        #expect(output.count == 0)
    }
}
