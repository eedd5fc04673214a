import DavitWebDAV
import Testing

struct HeaderTests {
    // RFC 4918 §10.2, and variants that clients send.
    static let depths: [(String, Depth?)] = [
        ("0", .zero), ("1", .one), ("infinity", .infinity), ("Infinity", .infinity), ("INFINITY", .infinity),
        (" 1\t", .one), ("1,noroot", .one), ("infinity,noroot", .infinity), ("1,NoRoot", .one),
        ("", nil), ("2", nil), ("00", nil), ("infinite", nil), ("1,0", nil), (",noroot", nil),
        ("1,noroot,", nil),
        ("\u{FF11}", nil),
    ]

    @Test(arguments: depths)
    func depthIsParsed(value: String, depth: Depth?) {
        #expect(Depth.parse(Array(value.utf8).span) == depth)
        if let depth { #expect(Depth.parse(Array(depth.text.description.utf8).span) == depth) }
    }

    @Test(arguments: [
        ("1,noroot", true), ("infinity,NoRoot ", true), ("1", false), ("infinity", false), ("noroot", false),
    ])
    func depthCanExcludeTheRoot(value: String, excludesRoot: Bool) {
        #expect(Depth.excludesRoot(Array(value.utf8).span) == excludesRoot)
    }

    // RFC 4918 §10.6.
    static let overwrites: [(String, Overwrite?)] = [
        ("T", .allowed), ("F", .forbidden), ("t", .allowed), ("f", .forbidden), (" F ", .forbidden),
        ("", nil), ("TF", nil), ("true", nil), ("0", nil),
    ]

    @Test(arguments: overwrites)
    func overwriteIsParsed(value: String, overwrite: Overwrite?) {
        #expect(Overwrite.parse(Array(value.utf8).span) == overwrite)
    }

    // RFC 4918 §10.7.
    static let timeouts: [(String, [TimeoutHeader.RequestedTimeout])] = [
        ("Infinite", [.infinite]), ("infinite", [.infinite]), ("Second-604800", [.seconds(604_800)]),
        ("Infinite, Second-4100000000", [.infinite, .seconds(4_100_000_000)]),
        ("Second-1,Second-2 ,\tInfinite", [.seconds(1), .seconds(2), .infinite]),
        ("second-0", [.seconds(0)]), ("Second-4294967295", [.seconds(4_294_967_295)]),
        ("Second-4294967296", [.seconds(4_294_967_295)]),
        ("Second-99999999999999999999999999", [.seconds(4_294_967_295)]),
        ("Seconds-180", []), ("Second-", []), ("Second--1", []), ("Second-1x", []), ("Second- 1", []),
        ("", []),
        (",,", []), ("Extend, Seconds-3, Second-4", [.seconds(4)]),
    ]

    @Test(arguments: timeouts)
    func timeoutIsParsed(value: String, requestedTimeouts: [TimeoutHeader.RequestedTimeout]) {
        #expect(TimeoutHeader.parse(Array(value.utf8).span).requestedTimeouts == requestedTimeouts)
    }

    static let grants: [(String, Int64)] = [
        ("", 100), ("Infinite", 1000), ("Second-1000", 1000), ("Second-1001", 1000), ("Second-999", 999),
        ("Second-1", 1), ("Second-0", 1), ("Second-5, Infinite", 5), ("Seconds-5", 100),
    ]

    @Test(arguments: grants)
    func grantedTimeoutIsFinite(value: String, seconds: Int64) {
        let header = TimeoutHeader.parse(Array(value.utf8).span)
        #expect(header.granted(default: 100, maximum: 1000) == seconds)
    }

    // RFC 4918 §10.5.
    static let lockTokens: [(String, String?)] = [
        ("<urn:uuid:1>", "urn:uuid:1"), (" <a> ", "a"),
        ("", nil), ("<>", nil), ("<", nil), (">", nil), ("a", nil), ("<a", nil), ("a>", nil),
        ("<a> <b>", nil),
        ("<a b>", nil), ("<a<b>", nil), ("(<a>)", nil), ("<a\u{7F}>", nil),
    ]

    @Test(arguments: lockTokens)
    func lockTokenIsParsed(value: String, uri: String?) {
        let token = LockTokenHeader.parse(Array(value.utf8).span)
        #expect(token?.uri == uri)
        if let token { #expect(LockTokenHeader.parse(token.codedURL.span) == token) }
    }

    @Test func newLockTokenIsAUUIDOfVersion4() {
        // RFC 9562 §5.4: version and variant are fixed, all other bits are random.
        #expect(
            LockToken.make(from: [UInt8](repeating: 0xFF, count: 16)).uri
                == "opaquelocktoken:ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(
            LockToken.make(from: Array(0..<16)).uri == "opaquelocktoken:00010203-0405-4607-8809-0a0b0c0d0e0f")
    }
}
