import DavitHTTP
import Testing

struct CharsetTests {
    static let texts: [(label: String, bytes: [UInt8], text: String)] = [
        ("utf-8", Array("aö€".utf8), "aö€"), ("UTF8", [0xEF, 0xBB, 0xBF, 0x61], "a"), ("utf-8", [], ""),
        ("us-ascii", [0x61], "a"), ("ISO-8859-1", [0xF6, 0x80], "ö\u{80}"),
        ("windows-1252", [0xF6, 0x80, 0x9F, 0x81], "ö€Ÿ\u{81}"),
        // RFC 2781 §4.3: the byte order mark decides; big-endian without one.
        ("utf-16", [0xFE, 0xFF, 0, 0x61], "a"), ("utf-16", [0xFF, 0xFE, 0x61, 0], "a"),
        ("utf-16", [0, 0x61], "a"),
        ("utf-16le", [0x61, 0, 0x3D, 0xD8, 0, 0xDE], "a😀"), ("UTF-16BE", [0xD8, 0x3D, 0xDE, 0], "😀"),
    ]

    @Test(arguments: texts)
    func textIsDecoded(label: String, bytes: [UInt8], text: String) throws {
        #expect(try Charset(label: Array(label.utf8)).decode(bytes) == text)
    }

    static let malformed: [(Charset, [UInt8], Int)] = [
        (.utf8, [0x61, 0xFF], 1), (.utf8, Array("aö".utf8) + [0xC3], 3), (.utf8, [0xED, 0xA0, 0x80], 0),
        (.utf8, [0xEF, 0xBB, 0xBF, 0xFF], 3), (.usASCII, [0x61, 0x80], 1),
        (.utf16BigEndian, [0, 0x61, 0], 2), (.utf16BigEndian, [0xDC, 0], 0),
        (.utf16BigEndian, [0xD8, 0, 0, 0x61], 2), (.utf16LittleEndian, [0, 0xD8], 2),
    ]

    @Test(arguments: malformed)
    func errorReportsTheByteOffset(charset: Charset, bytes: [UInt8], offset: Int) {
        let error = #expect(throws: Charset.DecodingError.self) { try charset.decode(bytes) }
        #expect(error?.offset == offset)
    }

    @Test(arguments: ["", "utf-7", "utf-32", "koi8-r", "utf 8"])
    func unsupportedCharsetsAreRefused(label: String) {
        #expect(throws: Charset.Unsupported.self) { try Charset(label: Array(label.utf8)) }
    }
}
