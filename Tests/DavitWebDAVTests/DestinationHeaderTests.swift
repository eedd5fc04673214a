import DavitWebDAV
import Testing

struct DestinationHeaderTests {
    struct Row: Sendable {
        let value: String
        var scheme: String?
        var authority: String?
        let path: String
        var query: String?
    }

    // RFC 4918 §8.3 and §10.3.
    static let wellFormed: [Row] = [
        Row(value: "/a/b", path: "/a/b"),
        Row(value: "/", path: "/"),
        Row(value: " /a%20b ", path: "/a%20b"),
        Row(value: "http://example.com/a/", scheme: "http", authority: "example.com", path: "/a/"),
        Row(value: "HTTPS://Example.COM:8443/A", scheme: "https", authority: "example.com:8443", path: "/A"),
        Row(value: "http://example.com", scheme: "http", authority: "example.com", path: "/"),
        Row(value: "http://[::1]:80//a", scheme: "http", authority: "[::1]:80", path: "//a"),
        Row(value: "http://h?b", scheme: "http", authority: "h", path: "/", query: "b"),
        Row(value: "/a?b?c/d", path: "/a", query: "b?c/d"),
        Row(value: "/a+b&c@d:e//f", path: "/a+b&c@d:e//f"),
        Row(value: "/\u{E9}", path: "/\u{E9}"),
        Row(value: "/../a", path: "/../a"),
        // Other schemes: only the scheme is evaluated.
        Row(value: "FTP://u@h:21/a?b", scheme: "ftp", path: "/"),
        Row(value: "urn:uuid:a", scheme: "urn", path: "/"),
        // User information, as sent by git and lftp.
        Row(value: "http://u@h/a", scheme: "http", authority: "h", path: "/a"),
        Row(value: "http://U:p%40@H:80/a@b", scheme: "http", authority: "h:80", path: "/a@b"),
        Row(value: "http://h@u:p@[::1]?a@b", scheme: "http", authority: "[::1]", path: "/", query: "a@b"),
    ]

    @Test(arguments: wellFormed)
    func destinationsAreParsed(row: Row) throws {
        let header = try DestinationHeader.parse(Array(row.value.utf8).span)
        #expect(header.scheme == row.scheme.map { Array($0.utf8) })
        #expect(header.authority == row.authority.map { Array($0.utf8) })
        #expect(header.rawPath == Array(row.path.utf8))
        #expect(header.isHTTP == (row.authority != nil || row.scheme == nil))
        #expect(header.rawQuery == row.query.map { Array($0.utf8) })
    }

    static let malformed: [(String, DestinationHeader.ParseError)] = [
        ("", .empty(offset: 0)),
        ("  ", .empty(offset: 2)),
        ("a", .empty(offset: 1)),
        ("a/b", .unexpectedByte(UInt8(ascii: "/"), offset: 1)),
        ("://h/a", .unexpectedByte(UInt8(ascii: ":"), offset: 0)),
        ("?a", .unexpectedByte(UInt8(ascii: "?"), offset: 0)),
        ("http:", .empty(offset: 5)),
        ("http:/", .empty(offset: 6)),
        ("http:/a", .unexpectedByte(UInt8(ascii: "a"), offset: 6)),
        ("http:a", .unexpectedByte(UInt8(ascii: "a"), offset: 5)),
        ("http:///a", .empty(offset: 7)),
        ("1http://h/a", .unexpectedByte(UInt8(ascii: "1"), offset: 0)),
        (" -a:b", .unexpectedByte(UInt8(ascii: "-"), offset: 1)),
        ("ftp:", .empty(offset: 4)),
        ("//h/a", .unexpectedByte(UInt8(ascii: "/"), offset: 1)),
        ("/a b", .unexpectedByte(UInt8(ascii: " "), offset: 2)),
        (" /a\0", .unexpectedByte(0, offset: 3)),
        ("/a#b", .fragment(offset: 2)),
        ("http://h/a?b#c", .fragment(offset: 12)),
        ("http://u@/a", .empty(offset: 9)),
        ("http://u:p@", .empty(offset: 11)),
    ]

    @Test(arguments: malformed)
    func malformedDestinationsAreRefused(value: String, error: DestinationHeader.ParseError) {
        #expect(throws: error) { try DestinationHeader.parse(Array(value.utf8).span) }
    }

    @Test func truncationsNeverTrap() {
        let value = Array("http://user@example.com:80/a/b?c#d".utf8)
        for length in 0...value.count {
            let header = try? DestinationHeader.parse(Array(value[..<length]).span)
            if let header { #expect(header.rawPath.first == UInt8(ascii: "/")) }
        }
    }
}
