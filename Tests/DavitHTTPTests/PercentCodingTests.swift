import DavitHTTP
import Testing

struct PercentCodingTests {
    static let decoded: [(text: String, bytes: String?)] = [
        ("", ""), ("abc", "abc"), ("%41%62c", "Abc"), ("%c3%A9", "é"), ("%2541", "%41"), ("+", "+"),
        ("%00", "\0"), ("%", nil), ("%4", nil), ("%4g", nil), ("%g4", nil), ("%%41", nil), ("a%", nil),
    ]

    @Test(arguments: decoded)
    func escapesAreDecodedOnce(text: String, bytes: String?) {
        #expect(PercentCoding.decode(text.utf8) == bytes.map { Array($0.utf8) })
        #expect(PercentCoding.decode(Array(text.utf8).span) == bytes.map { Array($0.utf8) })
    }

    @Test func allButUnreservedCharactersAreEncoded() {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        for byte in UInt8.min...UInt8.max {
            var encoded: [UInt8] = []
            PercentCoding.append([byte], to: &encoded)
            #expect(PercentCoding.decode(encoded) == [byte])
            if unreserved.contains(byte) {
                #expect(encoded == [byte])
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                #expect(text(encoded) == (digits.count == 1 ? "%0" : "%") + digits)
            }
        }
    }

    @Test func segmentsOfAPathAreEncoded() throws {
        let path = try #require(ResourcePath(segments: [Array("a b".utf8), Array("é&+".utf8)]))
        var encoded: [UInt8] = []
        PercentCoding.append(path, to: &encoded)
        #expect(text(encoded) == "/a%20b/%C3%A9%26%2B")
        encoded = []
        PercentCoding.append(ResourcePath.root, to: &encoded)
        #expect(text(encoded) == "/")
    }
}

struct RequestPathTests {
    static let paths: [(raw: String, bytes: String, endsInSlash: Bool)] = [
        ("", "", true), ("/", "", true), ("//", "", true), ("/a", "a", false), ("/a/", "a", true),
        ("/a//b", "a/b", false), ("//a/b//", "a/b", true), ("/a%20b/%C3%A9", "a b/é", false),
        ("/a%2541", "a%41", false), ("/a+b&c;d=e,f", "a+b&c;d=e,f", false), ("/%23%3F%25%3B", "#?%;", false),
        ("/...", "...", false), ("/.a/b..", ".a/b..", false), ("/..a", "..a", false),
        ("/%2e%2e%2e", "...", false),
        ("/a\\b", "a\\b", false), ("/%5C", "\\", false),
    ]

    @Test(arguments: paths)
    func requestPathsAreDecoded(raw: String, bytes: String, endsInSlash: Bool) throws {
        let parsed = try ResourcePath.parse(rawPath: Array(raw.utf8))
        #expect(parsed.path.bytes == Array(bytes.utf8))
        #expect(parsed.endsInSlash == endsInSlash)
    }

    @Test(arguments: [
        "a", "*", "/%", "/%2", "/%zz", "/a/%4", "/.", "/..", "/./a", "/../a", "/a/.", "/a/..", "/a/../b",
        "/a/./b",
        "/%2e", "/%2E%2e", "/.%2e", "/%2e./a", "/a/%2e%2e/b", "/%2F", "/a%2fb", "/%2e%2e%2f", "/%00",
        "/a%00b",
        "/a\0b", "/a/../../etc/passwd",
    ])
    func invalidRequestPathsAreRefused(raw: String) {
        let error = #expect(throws: HTTPError.self) { try ResourcePath.parse(rawPath: Array(raw.utf8)) }
        #expect(error?.status == .badRequest)
    }

    @Test func queryIsNotPartOfThePath() throws {
        let parsed = try request("GET", "/a%20b/?x=/../y").target.resourcePath()
        #expect(parsed.path.bytes == Array("a b".utf8) && parsed.endsInSlash)
        #expect(try request("OPTIONS", "*").target.resourcePath().path == .root)
    }

    /// Any input is either rejected or yields a path of valid segments.
    @Test func parsedPathsNeverLeaveTheRoot() throws {
        var random = SeededRandom(seed: 11)
        let pieces = ["/", ".", "..", "%2e", "%2E", "%2f", "%", "a", "%00", "\0", "//", "%252e", "\\", "é"]
        var acceptedCount = 0
        for _ in 0..<4000 {
            let count = Int.random(in: 0...7, using: &random)
            let raw = "/" + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let (path, _) = try? ResourcePath.parse(rawPath: Array(raw.utf8)) else { continue }
            acceptedCount += 1
            #expect(ResourcePath(segments: path.segments) == path, "\(raw)")
            #expect(!path.bytes.contains(0))
        }
        #expect(acceptedCount > 300)
    }
}
