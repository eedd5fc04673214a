import Davit
import DavitTesting
import Testing

/// Responses and utilities of GCDWebServer; responses are requested from a server on a real socket.
struct ResponseRowTests {
    @Test("W057 status, type, length, age, date, tag and custom fields") func w057() throws {
        try Served.run { routes in
            routes.get("/") { _ in
                var response = HTTPResponse.text("12345", status: .created).cacheAge(60)
                    .lastModified(Timestamp(seconds: 784_111_777)).entityTag("v1")
                response.fields.append(named: "X-Own", "a\r\nb")
                return response
            }
        } asking: { client throws in
            let answer = try client.send("GET /")
            #expect(answer.status == 201 && answer["Content-Length"] == "5")
            #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
            #expect(answer["Cache-Control"] == "max-age=60" && answer["ETag"] == "\"v1\"")
            #expect(answer["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            // A value cannot contain a line break.
            #expect(answer["X-Own"] == "a  b")
        }
    }

    @Test("W058 and W059 content of unknown length is chunked") func w058w059() throws {
        try Served.run { routes in
            routes.get("/") { _ in
                .stream(type: "text/plain") { writer in
                    for number in 1...3 { try await writer.write("\(number)") }
                }
            }
        } asking: { client throws in
            let answer = try client.send("GET /")
            #expect(answer["Transfer-Encoding"] == "chunked" && answer["Content-Length"] == nil)
            #expect(answer.content.hasSuffix("0\r\n\r\n"))
        }
    }

    @Test("W061 redirects") func w061() throws {
        try Served.run { routes in
            routes.get("/temporary") { _ in .redirect(to: "/new place", .temporary) }
            routes.get("/permanent") { _ in .redirect(to: "https://else.example/", .movedPermanently) }
        } asking: { client throws in
            let temporary = try client.send("GET /temporary")
            #expect(temporary.status == 307 && temporary["Location"] == "/new%20place")
            let permanent = try client.send("GET /permanent")
            #expect(permanent.status == 301 && permanent["Location"] == "https://else.example/")
        }
    }

    @Test("W062 templates escape values") func w062() throws {
        try Served.run { routes in
            routes.get("/") { .template("<p>%name%, 100%</p>", ["name": .text($0.query["name"] ?? "")]) }
        } asking: { client throws in
            #expect(try client.send("GET /?name=%3Cb%3E").content == "<p>&lt;b&gt;, 100%</p>")
        }
    }

    @Test("W064 error pages escape messages") func w064() throws {
        try Served.run { routes in
            routes.get("/") { request in .error(.forbidden, "No <script> here", for: request) }
        } asking: { client throws in
            let page = try client.send("GET /", ["Accept: text/html"])
            #expect(page.status == 403 && page["Content-Type"] == "text/html; charset=utf-8")
            #expect(page.content.contains("No &lt;script&gt; here") && !page.content.contains("<script>"))
            #expect(try client.send("GET /", ["Accept: */*"]).content == "No <script> here\n")
        }
    }

    @Test("W065 pull and push producers") func w065() throws {
        try Served.run { routes in
            routes.get("/asked") { _ in
                var rest = ["a", "b"]
                return .stream(
                    type: "text/plain", pulling: { rest.isEmpty ? nil : Array(rest.removeFirst().utf8) })
            }
            routes.get("/breaks") { _ in
                .stream(type: "text/plain") { writer in
                    try await writer.write("half")
                    throw HTTPError(.gone, "no more")
                }
            }
        } asking: { client throws in
            #expect(try client.send("GET /asked").content == "1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
            // Without the last chunk, the client detects that content is missing.
            let broken = try client.send("GET /breaks")
            #expect(broken["Transfer-Encoding"] == "chunked" && !broken.content.hasSuffix("0\r\n\r\n"))
        }
    }

    @Test("W066 Date and Server in every response; the connection stays open") func w066() throws {
        try Served.run {
            $0.get("/") { _ in .text("x") }
        } asking: { client throws in
            for target in ["/", "/none"] {
                let answer = try client.send("GET \(target)")
                #expect(answer["Date"]?.hasSuffix(" GMT") == true && answer["Server"] == "davit")
                // The connection is closed only because the client requested it.
                #expect(answer["Connection"] == "close")
            }
        }
    }

    @Test("W068 escaping, and form names and values") func w068() throws {
        #expect(PercentCoding.decode(Array("a%20%C3%A9".utf8)) == Array("a é".utf8))
        #expect(PercentCoding.decode(Array("a%2".utf8)) == nil)
        let form = FormFields(query: Array("a=1+2&b=%C3%A9".utf8))
        #expect(form["a"] == "1 2" && form["b"] == "é")
    }

    @Test("W070 HTTP and ISO 8601 dates") func w070() throws {
        let time = Timestamp(seconds: 784_111_777)
        #expect(HTTPDate.imf(time) == Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8))
        #expect(HTTPDate.iso8601(time) == Array("1994-11-06T08:49:37Z".utf8))
        #expect(HTTPDate.parse(HTTPDate.imf(time).span, now: time) == time)
    }

    static let paths: [(raw: String, path: String?)] = [
        ("/a//b/", "a/b"), ("/a/./b", nil), ("/a/../b", nil), ("/../b", nil), ("/a/%2e%2e/b", nil),
        ("/", ""),
    ]

    @Test("W071 paths are normalized, and those that leave the root are refused", arguments: paths)
    func w071(raw: String, path: String?) throws {
        try Served.run { routes in
            routes.fallback(.get) { request in
                .text(String(decoding: try request.target.resourcePath().path.bytes, as: UTF8.self))
            }
        } asking: { client throws in
            let answer = try client.send("GET \(raw)")
            #expect(answer.status == (path == nil ? 400 : 200))
            if let path { #expect(answer.content == path) }
        }
    }

    @Test("W072 status codes have names") func w072() {
        #expect(HTTPStatus.contentTooLarge.code == 413)
        #expect("\(HTTPStatus.notFound.reasonPhrase)" == "Not Found")
        #expect("\(HTTPStatus(418).reasonPhrase)" != "")
    }
}
