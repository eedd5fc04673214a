import DavitRecording
import Testing

struct ServerAddressTests {
    static let understood: [(url: String, host: String, port: UInt16, path: String, origin: String)] = [
        ("http://h", "h", 80, "/", "http://h"), ("http://h/", "h", 80, "/", "http://h"),
        ("https://h/a", "h", 443, "/a/", "https://h"),
        ("http://127.0.0.1:8080/a/b/", "127.0.0.1", 8080, "/a/b/", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "::1", 8080, "/", "http://[::1]:8080"),
        ("http://[::1]", "::1", 80, "/", "http://[::1]"),
    ]

    @Test(arguments: understood)
    func urlsAreParsed(url: String, host: String, port: UInt16, path: String, origin: String) {
        let address = ServerAddress(parsing: url)
        #expect(address?.host == host)
        #expect(address?.port == port)
        #expect(address?.path == path)
        #expect(address?.origin == origin)
    }

    @Test(arguments: [
        "", "h", "ftp://h/", "http://", "http://h:x/", "http://h:0/", "http://h:65536/", "http://a@h/",
        "http://h/?a",
        "http://h/#a", "http://h/a b",
    ])
    func invalidURLsAreRefused(url: String) { #expect(ServerAddress(parsing: url) == nil) }
}
