import DavitHTTP
import Testing

struct HostFieldTests {
    static func parse(_ text: String) -> HostField? { HostField(parsing: Array(text.utf8).span) }

    static let wellFormed: [(text: String, host: String, port: UInt16?, kind: HostField.Kind)] = [
        ("Example.COM", "example.com", nil, .name), ("localhost:8080", "localhost", 8080, .name),
        ("a:", "a", nil, .name), ("a:0", "a", 0, .name), ("a:00080", "a", 80, .name),
        ("a_b-c.d~", "a_b-c.d~", nil, .name), ("%C3%A9.example", "%c3%a9.example", nil, .name),
        ("127.0.0.1", "127.0.0.1", nil, .ipv4), ("255.255.255.255:1", "255.255.255.255", 1, .ipv4),
        // These are not IPv4 addresses according to RFC 3986 §3.2.2, although some resolvers accept them.
        ("127.1", "127.1", nil, .name), ("0x7f.0.0.1", "0x7f.0.0.1", nil, .name),
        ("127.0.0.01", "127.0.0.01", nil, .name), ("256.0.0.1", "256.0.0.1", nil, .name),
        ("2130706433", "2130706433", nil, .name), ("1.2.3.4.", "1.2.3.4.", nil, .name),
        ("[::1]", "[::1]", nil, .ipv6), ("[::]:80", "[::]", 80, .ipv6),
        ("[2001:DB8::A]", "[2001:db8::a]", nil, .ipv6),
        ("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]", nil, .ipv6), ("[1::8]", "[1::8]", nil, .ipv6),
        ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7::]", nil, .ipv6),
        ("[::2:3:4:5:6:7:8]", "[::2:3:4:5:6:7:8]", nil, .ipv6),
        ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]", nil, .ipv6),
        ("[1:2:3:4:5:6:127.0.0.1]", "[1:2:3:4:5:6:127.0.0.1]", nil, .ipv6),
    ]

    @Test(arguments: wellFormed)
    func hostAndPortAreParsed(text: String, host: String, port: UInt16?, kind: HostField.Kind) throws {
        let field = try #require(Self.parse(text))
        #expect(field.host == Array(host.utf8))
        #expect(field.port == port)
        #expect(field.kind == kind)
        #expect(field.isIPLiteral == (kind != .name))
    }

    @Test(arguments: [
        "", ":", ":80", "a b", "a/", "a?", "a#", "a@b", "u:p@a", "a,b:c", "a:b", "a:-1", "a:65536",
        "a:000080",
        "a:80:80", "a\\b", "a%2", "a%zz", "é", "a\"b", "<a>", "::1", "[", "[]", "[::1", "::1]", "[::1]a",
        "[::1]:x", "[:]", "[:1]", "[1:]", "[1:2]", "[:::]", "[::1::]", "[1:2:3:4:5:6:7]",
        "[1:2:3:4:5:6:7:8:9]",
        "[1:2:3:4:5:6:7::8]", "[12345::]", "[g::]", "[127.0.0.1]", "[::127.0.0.1:1]", "[::256.0.0.1]",
        "[fe80::1%25eth0]", "[v1.a]", "[::1 ]", "[1:2:3:4:5:6:7:127.0.0.1]", "[::1:]",
    ])
    func malformedHostsAreRefused(text: String) { #expect(Self.parse(text) == nil) }

    /// RFC 9110 §4.2.3: the default port is equivalent to no port.
    static let comparisons: [(a: String, aIsSecure: Bool, b: String, bIsSecure: Bool, isSame: Bool)] = [
        ("a", false, "A:80", false, true), ("a:443", true, "a", true, true),
        ("a:", false, "a:80", false, true),
        ("a", false, "a", true, false), ("a:443", false, "a", true, true), ("a:81", false, "a", false, false),
        ("a", false, "b", false, false),
    ]

    @Test(arguments: comparisons)
    func missingPortEqualsTheDefaultPort(a: String, aIsSecure: Bool, b: String, bIsSecure: Bool, isSame: Bool)
        throws
    {
        let first = try #require(Self.parse(a))
        let second = try #require(Self.parse(b))
        #expect(first.matches(second, isSecure: aIsSecure, otherIsSecure: bIsSecure) == isSame)
    }
}
