import DavitHTTP
import Testing

struct PathPrefixTests {
    static let texts: [(text: String, prefix: String?)] = [
        ("/", ""), ("/dav", "/dav"), ("/dav/", "/dav"), ("/a/b%20c", "/a/b%20c"),
        ("/a@b:c;d=e+f", "/a@b:c;d=e+f"),
        // RFC 3986 §4.2: such a reference would refer to a host.
        ("//dav", nil), ("/dav//", nil), ("/a//b", nil),
        // §3.3 and §2.1: invalid characters and escapes.
        ("", nil), ("dav", nil), ("/a b", nil), ("/a?b", nil), ("/a#b", nil), ("/%4", nil), ("/ä", nil),
        ("/a\"b", nil), ("/a<b", nil), ("/a\r\nb", nil),
        // No resource can have this path.
        ("/.", nil), ("/a/../b", nil), ("/%2e%2e", nil), ("/a%2fb", nil), ("/%00", nil), ("/%ff", nil),
    ]

    @Test(arguments: texts)
    func validPrefixesAreParsed(text: String, prefix: String?) { #expect(PathPrefix(text)?.text == prefix) }

    @Test func lengthIsLimited() {
        let longest = "/" + String(repeating: "a", count: 1023)
        #expect(PathPrefix(longest)?.text == longest)
        #expect(PathPrefix(longest + "a") == nil)
    }

    static let suffixes: [(whole: String, suffix: String, rest: String?)] = [
        ("/dav", "/", "/dav"), ("/dav", "/dav", ""), ("/x/dav", "/dav", "/x"), ("/x/d%61v", "/dav", "/x"),
        ("/a/b/c", "/b/c", "/a"), ("/", "/", ""),
        ("/x", "/dav", nil), ("/xdav", "/dav", nil), ("/dav/x", "/dav", nil), ("/dav", "/x/dav", nil),
        ("/", "/dav", nil),
    ]

    @Test(arguments: suffixes)
    func suffixesAreRemoved(whole: String, suffix: String, rest: String?) throws {
        let (whole, suffix) = (try #require(PathPrefix(whole)), try #require(PathPrefix(suffix)))
        #expect(whole.removing(suffix: suffix)?.text == rest)
    }
}
