import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct ResponseTests {
    /// Returns the response of a route as received by a client.
    static func get(
        _ fields: [(String, String)] = [], _ action: @escaping RouteAction
    ) async throws -> TestResponse {
        try await RouterTests.client { $0.get("/", action) }.send("GET", "/", fields)
    }

    @Test func responsesHaveTheirStatusAndMediaType() async throws {
        let text = try await Self.get { _ in .text("a<ö", status: .created) }
        #expect(text.status == 201)
        #expect(text["Content-Type"] == "text/plain; charset=utf-8")
        #expect(text.text == "a<ö")
        let html = try await Self.get { _ in .html("<p>ö") }
        #expect(html["Content-Type"] == "text/html; charset=utf-8")
        #expect(html.text == "<p>ö")
        let bytes = try await Self.get { _ in .bytes([0, 255], type: "image/x") }
        #expect(bytes["Content-Type"] == "image/x")
        #expect(bytes.body == [0, 255])
        #expect(try await Self.get { _ in .bytes([]) }["Content-Type"] == "application/octet-stream")
    }

    // RFC 9111 §5.2.2
    @Test func cacheAgeReplacesCacheControl() async throws {
        #expect(try await Self.get { _ in .text("").cacheAge(3600) }["Cache-Control"] == "max-age=3600")
        let response = try await Self.get { _ in .text("").cacheAge(3600).cacheAge(0) }
        #expect(
            String(decoding: response.fields.encoded, as: UTF8.self).contains("Cache-Control: no-cache\r\n"))
        #expect(!String(decoding: response.fields.encoded, as: UTF8.self).contains("max-age"))
    }

    @Test func attachmentsHaveAPlainAndAnExtendedName() async throws {
        let response = try await Self.get { _ in .text("").attachment(named: "ö.txt") }
        #expect(
            response["Content-Disposition"] == "attachment; filename=\"_.txt\"; filename*=UTF-8''%C3%B6.txt")
    }

    static let redirects: [(HTTPResponse.Redirect, UInt16)] = [
        (.movedPermanently, 301), (.found, 302), (.seeOther, 303), (.temporary, 307), (.permanent, 308),
    ]

    // RFC 9110 §15.4
    @Test(arguments: redirects)
    func redirectsHaveTheirStatus(redirect: HTTPResponse.Redirect, status: UInt16) async throws {
        let response = try await Self.get { _ in .redirect(to: "/there", redirect) }
        #expect(response.status == status)
        #expect(response["Location"] == "/there")
    }

    static let locations: [(String, String)] = [
        ("https://a.example:8080/b?c=d&e#f", "https://a.example:8080/b?c=d&e#f"), ("/a b", "/a%20b"),
        ("/ö", "/%C3%B6"), ("/a%20b", "/a%20b"), ("/100%", "/100%25"), ("/%zz", "/%25zz"),
        ("http://[::1]/", "http://[::1]/"),
        ("/a\r\nSet-Cookie: b", "/a%0D%0ASet-Cookie:%20b"), ("/\"<>\\^`{|}", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
    ]

    // RFC 3986 §2
    @Test(arguments: locations)
    func locationsAreEncodedAsURIs(location: String, encoded: String) async throws {
        #expect(try await Self.get { _ in .redirect(to: location) }["Location"] == encoded)
    }

    static let templates: [(template: String, page: String)] = [
        ("<b>%name%</b>", "<b>&lt;script&gt; &amp; &quot;&#39;</b>"),
        ("%name%%name%", "&lt;script&gt; &amp; &quot;&#39;&lt;script&gt; &amp; &quot;&#39;"),
        ("%markup%", "<i>%name%</i>"), ("100% of %x% and 5%", "100% of %x% and 5%"),
        ("50%markup%", "50<i>%name%</i>"), ("%%markup%", "%<i>%name%</i>"),
        ("width: 50%; %markup%", "width: 50%; <i>%name%</i>"),
        ("%", "%"), ("", ""),
    ]

    @Test(arguments: templates)
    func templatesEscapeValues(template: String, page: String) async throws {
        let response = try await Self.get { _ in
            .template(template, ["name": "<script> & \"'", "markup": .raw("<i>%name%</i>")])
        }
        #expect(response.text == page)
        #expect(response["Content-Type"] == "text/html; charset=utf-8")
    }

    static let accepts: [(String?, Bool)] = [
        (nil, false), ("*/*", false), ("text/html", true), ("Text/HTML;q=0.5, */*", true),
        ("text/html;q=0", false),
        ("text/html;q=0.000, text/plain", false), ("application/json", false),
        ("application/xhtml+xml,text/html;level=1", true),
    ]

    // RFC 9110 §12.5.1
    @Test(arguments: accepts)
    func errorFormatFollowsAccept(accept: String?, isHTML: Bool) async throws {
        let fields = accept.map { [("Accept", $0)] } ?? []
        let response = try await Self.get(fields) { .error(.conflict, "<b>&", for: $0) }
        #expect(response.status == 409)
        #expect(
            response["Content-Type"] == (isHTML ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"))
        #expect(response.text.contains(isHTML ? "&lt;b&gt;&amp;" : "<b>&\n"))
        #expect(response.text.contains("409 Conflict") == isHTML)
    }

    @Test func unavailableResponseHasRetryAfter() async throws {
        #expect(try await Self.get { .error(.serviceUnavailable, "", for: $0) }["Retry-After"] == "1")
    }
}
