import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct MiddlewareTests {
    static let router = Router { routes in
        routes.get("/new") { request in .text(request.principal ?? "nobody") }
    }

    @Test func middlewareCanRewriteTheTargetAndSetThePrincipal() async throws {
        let handler = Self.router.applying(
            BeforeHandling { request throws(HTTPError) in
                if request.target.rawPath == Array("/old".utf8) { try request.rewriteTarget(to: "/new?x=1") }
                request.principal = "anna"
                return nil
            })
        #expect(try await TestClient(handler).send("GET", "/old").text == "anna")
    }

    @Test func middlewareCanRespondEarly() async throws {
        let handler = Self.router.applying(
            BeforeHandling { request throws(HTTPError) in
                request.query["stop"] == nil ? nil : .text("stopped", status: .forbidden)
            })
        #expect(try await TestClient(handler).send("GET", "/new?stop").status == 403)
        #expect(try await TestClient(handler).send("GET", "/new").status == 200)
    }

    @Test func middlewareCanReplaceTheResponse() async throws {
        let handler = Self.router.applying(
            AfterHandling { request, response throws(HTTPError) in
                response.status == .notFound ? .redirect(to: "/new", .temporary) : response.cacheAge(60)
            })
        #expect(try await TestClient(handler).send("GET", "/other")["Location"] == "/new")
        #expect(try await TestClient(handler).send("GET", "/new")["Cache-Control"] == "max-age=60")
    }

    @Test func middlewareAddedLastRunsFirst() async throws {
        let mark = { (name: String) in
            AfterHandling { _, response throws(HTTPError) in
                var response = response
                response.fields.append(named: "X-Mark", name)
                return response
            }
        }
        let response = try await TestClient(Self.router.applying(mark("inner")).applying(mark("outer")))
            .send("GET", "/new")
        let lines = String(decoding: response.fields.encoded, as: UTF8.self).split(separator: "\r\n")
        #expect(lines.filter { $0.hasPrefix("X-Mark") } == ["X-Mark: inner", "X-Mark: outer"])
    }
}

/// CORS according to the Fetch standard §3.2.
struct CORSTests {
    /// A client of a server with CORS in front of authentication, as recommended.
    static func client() throws -> TestClient<
        MiddlewareHandler<CORS, MiddlewareHandler<Authentication, Router>>
    > {
        var accounts = Accounts()
        try accounts.add(name: "anna", password: "open:sesame")
        let router = Router { routes in routes.get("/a") { _ in .text("a") } }
        let authentication = try Authentication(accounts: accounts, work: InlineWork())
        let handler = router.applying(authentication).applying(CORS(origins: ["https://app.example"]))
        return TestClient(handler)
    }

    @Test func preflightIsAnsweredBeforeAuthentication() async throws {
        let response = try await Self.client().send(
            "OPTIONS", "/a",
            [("Origin", "https://app.example"), ("Access-Control-Request-Method", "PROPFIND")])
        #expect(response.status == 204)
        #expect(response["Access-Control-Allow-Origin"] == "https://app.example")
        let methods = response["Access-Control-Allow-Methods"] ?? ""
        for method in ["PROPFIND", "PUT", "LOCK", "MOVE"] { #expect(methods.contains(method)) }
        let fields = response["Access-Control-Allow-Headers"] ?? ""
        for name in [
            "Authorization", "Content-Type", "Depth", "Destination", "If", "If-Match", "If-None-Match",
            "Lock-Token", "Overwrite", "Range", "Timeout", "X-OC-Mtime", "Prefer", "X-Update-Range",
            "Content-Digest", "Repr-Digest", "OC-Checksum", "Content-Range", "Slug",
        ] {
            #expect(fields.split(separator: ", ").contains(Substring(name)))
        }
    }

    /// OPTIONS requests that are not accepted as preflight requests, which need both fields and an allowed
    /// origin.
    static let others: [[(String, String)]] = [
        [("Origin", "https://app.example")], [("Access-Control-Request-Method", "PUT")],
        [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "PUT")],
        [("Origin", "https://app.example.evil.example"), ("Access-Control-Request-Method", "PUT")],
        [("Origin", "http://app.example"), ("Access-Control-Request-Method", "PUT")],
        [("Origin", "null"), ("Access-Control-Request-Method", "PUT")],
    ]

    @Test(arguments: others)
    func otherOptionsRequestsRequireAuthentication(fields: [(String, String)]) async throws {
        let response = try await Self.client().send("OPTIONS", "/a", fields)
        #expect(response.status == 401)
        #expect(response["Access-Control-Allow-Methods"] == nil)
    }

    @Test func onlyAllowedOriginsCanReadResponses() async throws {
        let credentials = ("Authorization", "Basic YW5uYTpvcGVuOnNlc2FtZQ==")
        let client = try Self.client()
        let named = try await client.send("GET", "/a", [("Origin", "https://app.example"), credentials])
        #expect(named.status == 200)
        #expect(named["Access-Control-Allow-Origin"] == "https://app.example")
        let exposed = (named["Access-Control-Expose-Headers"] ?? "").split(separator: ", ")
        for name in [
            "DAV", "ETag", "Lock-Token", "Content-Range", "Last-Modified", "Location", "Preference-Applied",
            "Repr-Digest", "X-OC-MTime",
        ] {
            #expect(exposed.contains(Substring(name)))
        }
        #expect(named["Vary"] == "Origin")
        let other = try await client.send("GET", "/a", [("Origin", "https://evil.example"), credentials])
        #expect(other.status == 200)
        #expect(other["Access-Control-Allow-Origin"] == nil)
        // A cache must not reuse this response for the allowed origin.
        #expect(other["Vary"] == "Origin")
    }

    @Test func pageCanReadThe401Response() async throws {
        let response = try await Self.client().send("GET", "/a", [("Origin", "https://app.example")])
        #expect(response.status == 401)
        #expect(response["Access-Control-Allow-Origin"] == "https://app.example")
    }
}
