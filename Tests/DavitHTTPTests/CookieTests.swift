import DavitHTTP
import Testing

struct CookieTests {
    static let cookies: [(field: String, name: String, value: String?)] = [
        ("a=1; b=2", "a", "1"), ("a=1; b=2", "b", "2"), ("a=1;b=2", "b", "2"), ("a=1; a=2", "a", "1"),
        ("a=x=y", "a", "x=y"), ("a=", "a", ""), ("a=%C3%A4%20b", "a", "ä b"), ("a=50%", "a", "50%"),
        ("a=\"q\"", "a", "\"q\""), ("a", "a", nil), ("=1", "", nil), ("a=1", "A", nil), (";;", "", nil),
    ]

    @Test(arguments: cookies) func cookiesAreRead(field: String, name: String, value: String?) throws {
        #expect(try request(fields: ["Cookie: \(field)"]).cookies[name] == value)
        #expect(try request().cookies[name] == nil)
    }

    @Test func cookiesAreSet() {
        var response = HTTPResponse(status: .ok)
        response.setCookie(Cookie(name: "a", value: "x; Domain=evil\r\nB: ä"))
        response.setCookie(
            Cookie(
                name: "b", value: "", maxAgeSeconds: 0, path: "/p;q", isSecure: true, isHTTPOnly: false,
                sameSite: .strict))
        let expected = """
            Set-Cookie: a=x%3B%20Domain%3Devil%0D%0AB%3A%20%C3%A4; Path=/; HttpOnly; SameSite=Lax\r
            Set-Cookie: b=; Path=/p%3Bq; Max-Age=0; Secure; SameSite=Strict\r

            """
        #expect(text(response.fields.encoded) == expected)
    }
}
