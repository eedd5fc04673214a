import DavitHTTP
import Testing

struct ContentDispositionTests {
    /// RFC 7578 §4.2 and §5.1, as sent by browsers and curl.
    static let parts: [(field: String, name: String?, fileName: String?)] = [
        (#"form-data; name="a""#, "a", nil), (#"form-data; name=a; filename=b.txt"#, "a", "b.txt"),
        (#"form-data; name="ö"; filename="€.txt""#, "ö", "€.txt"),
        // Browsers (HTML Standard, multipart/form-data encoding algorithm).
        (#"form-data; name="a%22b%0D%0Ac"; filename="d%22e%25""#, "a\"b\r\nc", "d\"e%25"),
        // curl before 7.81, and quoted-string of RFC 9110.
        (#"form-data; name="a\"b"; filename="c\\\"d""#, "a\"b", "\"d"),
        // §4.2: filename* is ignored.
        (#"form-data; name="a"; filename="b"; filename*=UTF-8''c"#, "a", "b"),
        (#"form-data; name="a"; filename*=UTF-8''c"#, "a", nil),
        // No file was selected.
        (#"form-data; name="a"; filename="""#, "a", ""),
        // Path traversal.
        (#"form-data; name="a"; filename="../../etc/passwd""#, "a", "passwd"),
        (#"form-data; name="a"; filename="C:\Users\x\b.txt""#, "a", "b.txt"),
        (#"form-data; name="a"; filename="/b/""#, "a", ""), (#"form-data; name="a"; filename="..""#, "a", ""),
        (#"form-data; name="a"; filename="b/..""#, "a", ""),
        (#"form-data; name="a"; filename="..\..""#, "a", ""),
        (#"form-data; name="a"; filename="%0d%0ab""#, "a", "b"),
        (#"form-data; name="a"; filename="%2e%2e%2fb""#, "a", "%2e%2e%2fb"),
        ("form-data; name=\"a\"; filename=\"b\0c\"", "a", "bc"), ("form-data", nil, nil),
    ]

    @Test(arguments: parts)
    func partNamesAreParsed(field: String, name: String?, fileName: String?) throws {
        let parsed = try #require(Self.parse(field))
        #expect(parsed.type == "form-data")
        #expect(parsed.name == name)
        #expect(parsed.fileName == fileName)
    }

    @Test(arguments: ["", "; name=a", "form-data name=a", "form-data; name=\"a", "form-data; name"])
    func malformedPartsAreRefused(field: String) {
        #expect(Self.parse(field) == nil)
    }

    /// RFC 6266 §4.3 and appendix D, RFC 8187 §3.2.
    static let attachments: [(name: String, value: String)] = [
        ("a.txt", #"attachment; filename="a.txt""#), ("a b.txt", #"attachment; filename="a b.txt""#),
        ("€ rates", #"attachment; filename="_ rates"; filename*=UTF-8''%E2%82%AC%20rates"#),
        // Characters that clients interpret differently within quotes.
        (#"a"b%41c"#, #"attachment; filename="a_b_41c"; filename*=UTF-8''a%22b%2541c"#),
        ("it's;(1)*", #"attachment; filename="it's;(1)*""#),
        ("é'ü", #"attachment; filename="_'_"; filename*=UTF-8''%C3%A9%27%C3%BC"#),
        ("../../x", #"attachment; filename="x""#), (#"a\b"#, #"attachment; filename="b""#),
        ("a\r\nSet-Cookie: b", #"attachment; filename="aSet-Cookie: b""#), ("", "attachment"),
        ("..", "attachment"),
    ]

    @Test(arguments: attachments)
    func attachmentNamesAreEncoded(name: String, value: String) {
        #expect(String(decoding: ContentDisposition.attachment(named: name), as: UTF8.self) == value)
    }

    private static func parse(_ field: String) -> ContentDisposition? {
        ContentDisposition(formData: Array(field.utf8).span)
    }
}
