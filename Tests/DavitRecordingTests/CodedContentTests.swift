import DavitRecording
import Testing

struct CodedContentTests {
    /// `printf 'one two' | gzip -n`
    static let gzip: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0xcf, 0x4b, 0x55, 0x28, 0x29,
        0xcf, 0x07, 0x00, 0x2f, 0x89, 0x07, 0xcd, 0x07, 0x00, 0x00, 0x00,
    ]
    /// The same text in zlib format (RFC 1950).
    static let zlib: [UInt8] = [
        0x78, 0x9c, 0xcb, 0xcf, 0x4b, 0x55, 0x28, 0x29, 0xcf, 0x07, 0x00, 0x0a, 0xd6, 0x02, 0xbd,
    ]
    /// The same text in raw deflate format (RFC 1951).
    static let raw: [UInt8] = [
        0xcb, 0xcf, 0x4b, 0x55, 0x28, 0x29, 0xcf, 0x07, 0x00,
    ]

    static let decoded: [(bytes: [UInt8], codings: String?, text: String)] = [
        (Array("one two".utf8), nil, "one two"), (Array("one two".utf8), "identity", "one two"),
        // RFC 9110 §8.4.1.3, with the alias `x-gzip`.
        (gzip, "gzip", "one two"), (gzip, "X-GZIP", "one two"), (gzip + gzip, "gzip", "one twoone two"),
        // §8.4.1.2, and raw deflate, which some servers send instead.
        (zlib, "deflate", "one two"), (raw, "deflate", "one two"),
        // §8.4: codings are listed in the order in which they were applied.
        (gzipOfZlib, "deflate, gzip", "one two"),
    ]

    /// `zlib`, compressed again with gzip.
    static let gzipOfZlib: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x98, 0x73, 0xfa, 0xbc, 0x77,
        0xa8, 0x86, 0xe6, 0x79, 0x76, 0x06, 0xae, 0x6b, 0x4c, 0x7b, 0x01, 0xff, 0x4a, 0x67, 0x3a, 0x0f,
        0x00, 0x00, 0x00,
    ]

    @Test(arguments: decoded)
    func codingsAreDecoded(bytes: [UInt8], codings: String?, text: String) {
        #expect(
            CodedContent.decoded(bytes, codings: codings).map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test func truncatedOrCorruptContentIsNotDecoded() {
        for count in Self.gzip.indices {
            #expect(CodedContent.decoded(Array(Self.gzip[..<count]), codings: "gzip") == nil)
        }
        #expect(CodedContent.decoded(Self.gzip + [1], codings: "gzip") == nil)
        #expect(CodedContent.decoded(Self.gzip, codings: "br") == nil)
        #expect(CodedContent.decoded(Self.gzip, codings: "deflate, gzip") == nil)
    }
}
