import DavitHTTP
import Testing

/// Parsing of Digest credentials (RFC 7616 §3.4). `DigestAuthenticationTests` tests which ones are refused.
struct DigestCredentialsTests {
    /// The example of RFC 7616 §3.9.1.
    static let example = """
        Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=MD5, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, \
        cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, \
        response="8ca523f5e9506fed4657c9700eebdbec", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """

    static func parse(_ text: String) -> DigestCredentials? {
        DigestCredentials(parsing: Array(text.utf8).span)
    }

    @Test func rfcExampleIsParsed() throws {
        let credentials = try #require(Self.parse(Self.example))
        #expect(credentials.user == .name(Array("Mufasa".utf8)))
        #expect(credentials.realm == Array("http-auth@example.org".utf8))
        #expect(credentials.uri == Array("/dir/index.html".utf8))
        #expect(credentials.algorithm == Array("MD5".utf8))
        #expect(credentials.nonce == Array("7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v".utf8))
        #expect(credentials.count == 1)
        #expect(credentials.countDigits == Array("00000001".utf8))
        #expect(credentials.clientNonce == Array("f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ".utf8))
        #expect(credentials.response == Array("8ca523f5e9506fed4657c9700eebdbec".utf8))
        #expect(credentials.opaque == Array("FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS".utf8))
    }

    @Test func schemeIsCaseInsensitive() {
        #expect(Self.parse("dIgEsT" + Self.example.dropFirst(6)) == Self.parse(Self.example))
        #expect(Self.parse("Digest   " + Self.example.dropFirst(6)) == Self.parse(Self.example))
        for other in [
            "", "Digest", "Digest ", "Basic " + Self.example.dropFirst(7),
            "Digestx " + Self.example.dropFirst(7),
        ] {
            #expect(Self.parse(other) == nil)
        }
    }

    /// Truncation can remove only the last parameter unnoticed, because no other is optional.
    @Test func truncatedCredentialsAreRefused() {
        let whole = Self.parse(Self.example)
        for length in 0..<Self.example.utf8.count {
            guard let cut = Self.parse(String(Self.example.prefix(length))) else { continue }
            #expect(cut.opaque == nil)
            #expect(cut.response == whole?.response)
        }
    }

    static let counts: [(digits: String, count: UInt32)] = [
        ("00000001", 1), ("0000000a", 10), ("0000000A", 10), ("ffffffff", .max),
    ]

    @Test(arguments: counts)
    func countsAreHexadecimal(digits: String, count: UInt32) {
        let text = Self.example.replacing("nc=00000001", with: "nc=\(digits)")
        #expect(Self.parse(text)?.count == count)
    }

    @Test func userNamesCanBeExtendedOrHashed() {
        let extended = Self.example.replacing(
            "username=\"Mufasa\"", with: "username*=utf-8'en'J%C3%A4s%C3%B8n%20Doe")
        #expect(Self.parse(extended)?.user == .name(Array("Jäsøn Doe".utf8)))
        #expect(Self.parse(Self.example + ", userhash=TRUE")?.user == .hash(Array("Mufasa".utf8)))
        #expect(Self.parse(Self.example + ", userhash=false")?.user == .name(Array("Mufasa".utf8)))
    }

    @Test func clientNoncesAreLimited() {
        let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        for (count, isRead) in [(256, true), (257, false)] {
            let text = Self.example.replacing(nonce, with: String(repeating: "c", count: count))
            #expect((Self.parse(text) != nil) == isRead)
        }
    }
}
