import DavitHTTP
import Testing

struct CredentialsTests {
    static func basic(_ value: String) -> (user: [UInt8], password: [UInt8])? {
        Credentials.basic(from: Array(value.utf8).span)
    }

    static func decode(_ text: String) -> [UInt8]? { Base64.decode(Array(text.utf8).span) }

    /// RFC 7617 §2 and §2.1.
    static let wellFormed: [(value: String, user: String, password: String)] = [
        ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"),
        ("Basic dGVzdDoxMjPCow==", "test", "123£"),
        ("basic QTpiOmM=", "A", "b:c"), ("BASIC   Og==", "", ""), ("Basic YTo=", "a", ""),
        ("Basic asO2cmc6cMOkc3N3b3Jk", "jörg", "pässword"),
    ]

    @Test(arguments: wellFormed)
    func nameAndPasswordAreParsed(value: String, user: String, password: String) throws {
        let credentials = try #require(Self.basic(value))
        #expect(text(credentials.user) == user)
        #expect(text(credentials.password) == password)
    }

    @Test(arguments: [
        "", "Basic", "Basic ", "Basic YQ==", "Bearer YTo=", "Digest username=\"a\"", "BasicYTo=",
        "Basic\tYTo=",
        // Invalid Base64: missing, excess or misplaced padding, nonzero unused bits, other characters.
        "Basic YTo", "Basic YTo==", "Basic YTo=====", "Basic YT=o", "Basic YTp=", "Basic YTo= ", "Basic YT-_",
        "Basic ====", "Basic Y===", "Basic YTo=,YTo=",
        // NUL, LF and DEL (§2), and invalid UTF-8.
        "Basic YQA6Yg==", "Basic YTpiCg==", "Basic YTp/", "Basic 5Dpi",
    ])
    func malformedCredentialsAreRefused(value: String) { #expect(Self.basic(value) == nil) }

    /// RFC 4648 §10.
    @Test func base64IsDecoded() {
        let vectors = [
            ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ]
        for (encoded, plain) in vectors {
            #expect(Self.decode(encoded) == Array(plain.utf8))
        }
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        let bytes = Self.decode(alphabet) ?? []
        // Each sextet is one greater than the previous one.
        var sextets: [Int] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            sextets += [group >> 18, group >> 12 & 63, group >> 6 & 63, group & 63]
        }
        #expect(sextets == Array(0..<64))
    }
}
