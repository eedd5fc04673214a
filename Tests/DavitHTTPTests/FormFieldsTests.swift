import DavitHTTP
import Testing

/// URL Standard §5.1, `application/x-www-form-urlencoded`.
struct FormFieldsTests {
    static let forms: [(form: String, fields: [(String, String)])] = [
        ("", []), ("&&", []), ("a=1", [("a", "1")]), ("a=1&b=2", [("a", "1"), ("b", "2")]),
        // Order and duplicates are preserved.
        ("a=2&b=&a=1", [("a", "2"), ("b", ""), ("a", "1")]),
        // The first = separates name and value; without it the value is empty.
        ("a=b=c", [("a", "b=c")]), ("a", [("a", "")]), ("=1", [("", "1")]), ("=", [("", "")]),
        ("a+b=c+d", [("a b", "c d")]), ("a%2Bb=c%26d%3De", [("a+b", "c&d=e")]),
        ("%C3%B6=%E2%82%AC", [("ö", "€")]), ("ö=€", [("ö", "€")]),
        // Escapes are decoded only once.
        ("a=%2541", [("a", "%41")]), ("a=%2B", [("a", "+")]), ("a=1&", [("a", "1")]),
    ]

    @Test(arguments: forms)
    func formsAreParsed(form: String, fields: [(String, String)]) throws {
        let expected = fields.map { FormFields.Field(name: $0.0, value: $0.1) }
        #expect(Array(try FormFields(parsing: Array(form.utf8), limitFields: 10)) == expected)
        #expect(Array(FormFields(query: Array(form.utf8))) == expected)
    }

    static let refused: [(form: [UInt8], error: FormFields.ParseError, asQuery: String)] = [
        (Array("a=%".utf8), .brokenEscape(offset: 2), "%"),
        (Array("a=%4".utf8), .brokenEscape(offset: 2), "%4"),
        (Array("a=1%zz%41".utf8), .brokenEscape(offset: 3), "1%zzA"),
        // An escape never extends past a separator.
        (Array("a=%4&1".utf8), .brokenEscape(offset: 2), "%4"),
        (Array("b=1&a=%ff".utf8), .malformedText(offset: 6), "\u{FFFD}"),
        (Array("a=".utf8) + [0xC3], .malformedText(offset: 2), "\u{FFFD}"),
        (Array("a=1&a=2&a=3&a=4".utf8), .tooManyFields(limit: 3), "1"),
    ]

    @Test(arguments: refused)
    func malformedFormIsRefusedButQueryIsAccepted(
        form: [UInt8], error: FormFields.ParseError, asQuery: String
    ) {
        #expect(throws: error) { try FormFields(parsing: form, limitFields: 3) }
        #expect(FormFields(query: form)["a"] == asQuery)
    }

    @Test func fieldsAreFoundByName() throws {
        let fields = FormFields(query: Array("a=1&b=2&a=3".utf8))
        #expect(fields["a"] == "1")
        #expect(fields["c"] == nil)
        #expect(fields.all("a") == ["1", "3"])
        #expect(fields.count == 3)
    }

    @Test func fieldsAreDecodedWithTheGivenCharset() throws {
        let form = Array("n=J%F6rg%80".utf8)
        #expect(try FormFields(parsing: form, limitFields: 1, charset: .windows1252)["n"] == "Jörg€")
    }

    @Test func queryFollowsTheTarget() throws {
        let request = try HTTPRequest(parsing: Array("GET /a?b=c%20d HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(request.query["b"] == "c d")
        try request.rewriteTarget(to: "/x?b=e")
        #expect(request.query["b"] == "e")
        try request.rewriteTarget(to: "/x")
        #expect(request.query.isEmpty)
        #expect(throws: HTTPError.self) { try request.rewriteTarget(to: "/a b") }
        #expect(throws: HTTPError.self) { try request.rewriteTarget(to: "http://elsewhere/") }
    }
}
