import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

struct RouterTests {
    /// Returns a client of a router with these routes.
    static func client(
        files: TemporaryFiles = .none, _ build: (inout Routes) -> Void
    ) -> TestClient<Router> {
        TestClient(Router(temporaryFiles: files, build))
    }

    static let client = client { routes in
        routes.get("/hello") { request in .text("Hello, \(request.query["name"] ?? "world")") }
        routes.post("/hello") { _ in .text("posted") }
        routes.get("/hello/") { _ in .text("folder") }
        routes.get("/a b/ö") { _ in .text("decoded") }
        routes.get("/") { _ in .text("root") }
        routes.on(.other("BREW"), "/pot") { _ in .text("coffee") }
        routes.get(matching: { /\/users\/(\d+)/ }) { _, match in .text("user \(match.1)") }
        routes.on(.delete, matching: { /\/users\/(?<id>\d+)(?:\/(?<part>\w+))?/ }) { _, match in
            .text("\(match.id) \(match.part ?? "whole")")
        }
    }

    static let answers: [(method: String, target: String, status: UInt16, text: String?)] = [
        ("GET", "/hello", 200, "Hello, world"), ("GET", "/hello?name=A%26B", 200, "Hello, A&B"),
        ("POST", "/hello", 200, "posted"), ("GET", "/hello/", 200, "folder"), ("GET", "/", 200, "root"),
        ("GET", "//hello", 200, "Hello, world"), ("GET", "/a%20b/%C3%B6", 200, "decoded"),
        ("GET", "/h%65llo", 200, "Hello, world"), ("BREW", "/pot", 200, "coffee"),
        ("GET", "http://localhost/hello", 200, "Hello, world"),
        // Paths are decoded once and are case-sensitive.
        ("GET", "/h%2565llo", 404, nil), ("GET", "/Hello", 404, nil), ("GET", "/hell", 404, nil),
        ("GET", "/hello/x", 404, nil), ("GET", "/pot", 405, nil),
        // A pattern must match the entire path.
        ("GET", "/users/17", 200, "user 17"), ("GET", "/users/17/", 404, nil),
        ("GET", "/x/users/17", 404, nil),
        ("GET", "/users/%31%37", 200, "user 17"), ("GET", "/users/%FF", 404, nil),
        ("DELETE", "/users/17", 200, "17 whole"), ("DELETE", "/users/17/mail", 200, "17 mail"),
        // RFC 9110 §9.3.2: HEAD is answered like GET.
        ("HEAD", "/hello", 200, "Hello, world"), ("HEAD", "/users/1", 200, "user 1"),
        ("HEAD", "/pot", 405, nil),
        // Methods with a route only at other paths, and methods without any route (§9.1).
        ("POST", "/users/17", 405, nil), ("PUT", "/hello", 501, nil), ("MAKE", "/hello", 501, nil),
        ("BREW", "/hello", 405, nil), ("BREW", "/nothing", 404, nil), ("brew", "/pot", 501, nil),
    ]

    @Test(arguments: answers)
    func methodAndPathSelectTheRoute(method: String, target: String, status: UInt16, text: String?)
        async throws
    {
        let response = try await Self.client.send(method, target)
        #expect(response.status == status)
        if let text { #expect(response.text == text) }
    }

    static let allowed: [(target: String, methods: String)] = [
        ("/hello", "GET, HEAD, POST, OPTIONS"), ("/users/17", "GET, HEAD, DELETE, OPTIONS"),
        ("/users/17/mail", "DELETE, OPTIONS"), ("/pot", "BREW, OPTIONS"),
        ("*", "GET, HEAD, POST, DELETE, BREW, OPTIONS"),
    ]

    // RFC 9110 §9.3.7 and §15.5.6.
    @Test(arguments: allowed)
    func allowListsTheMethodsOfThePath(target: String, methods: String) async throws {
        let options = try await Self.client.send("OPTIONS", target)
        #expect(options.status == 204)
        #expect(options["Allow"] == methods)
        if target == "*" { return }
        let method = methods.contains("POST") ? "BREW" : "POST"
        let refused = try await Self.client.send(method, target)
        #expect(refused.status == 405)
        #expect(refused["Allow"] == methods)
    }

    @Test func optionsOfAnUnknownPathIs404() async throws {
        #expect(try await Self.client.send("OPTIONS", "/nothing").status == 404)
    }

    @Test func lastRouteAddedIsTriedFirst() async throws {
        let client = Self.client { routes in
            routes.get("/a") { _ in .text("first") }
            routes.get("/a") { _ in .text("second") }
            routes.get(matching: { /\/b.*/ }) { _, _ in .text("pattern") }
            routes.get("/bx") { _ in .text("exact after the pattern") }
            routes.get("/cx") { _ in .text("exact before the condition") }
            routes.on(where: { $0.path.hasPrefix("/c") && $0.method == .get }) { _ in
                .text("condition")
            }
            routes.get("/cy") { _ in .text("exact after the condition") }
            routes.on(.head, "/a") { _ in HTTPResponse(status: HTTPStatus(202)) }
        }
        #expect(try await client.send("GET", "/a").text == "second")
        #expect(try await client.send("HEAD", "/a").status == 202)
        #expect(try await client.send("GET", "/bx").text == "exact after the pattern")
        #expect(try await client.send("GET", "/by").text == "pattern")
        #expect(try await client.send("GET", "/cx").text == "condition")
        #expect(try await client.send("GET", "/cy").text == "exact after the condition")
        #expect(try await client.send("POST", "/cx").status == 405)
    }

    // Only routes added after the matching exact route are tried before it.
    @Test func earlierRoutesAreNotTried() async throws {
        let asked = Mutex(0)
        let client = Self.client { routes in
            routes.on(where: { _ in
                asked.withLock {
                    $0 += 1
                    return false
                }
            }) { _ in .text("never") }
            for index in 0..<100 { routes.get("/\(index)") { _ in .text("\(index)") } }
        }
        for index in 0..<100 { #expect(try await client.send("GET", "/\(index)").text == "\(index)") }
        #expect(asked.withLock { $0 } == 0)
        #expect(try await client.send("GET", "/100").status == 404)
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func headOfGetRoutesCanBeDisabled() async throws {
        let client = Self.client { routes in
            routes.answersHeadWithGet = false
            routes.get("/a") { _ in .text("a") }
        }
        let response = try await client.send("HEAD", "/a")
        #expect(response.status == 405)
        #expect(response["Allow"] == "GET, OPTIONS")
    }

    @Test func groupsPrependTheirPrefix() async throws {
        let client = Self.client { routes in
            routes.group("/api") { api in
                api.get("/") { _ in .text("top") }
                api.get(matching: { /\/\d+/ }) { _, match in .text("pattern \(match)") }
                api.group("/v1/") { $0.get("/x") { _ in .text("deep") } }
                api.on(where: { $0.query["q"] != nil }) { _ in .text("condition") }
                api.mount("/files", Echo())
            }
            routes.get("/y") { _ in .text("outside") }
        }
        #expect(try await client.send("GET", "/api/").text == "top")
        #expect(try await client.send("GET", "/api/17").text == "pattern /17")
        #expect(try await client.send("GET", "/17").status == 404)
        #expect(try await client.send("GET", "/api/v1/x").text == "deep")
        #expect(try await client.send("GET", "/y?q").text == "outside")
        #expect(try await client.send("GET", "/z?q").status == 404)
        #expect(try await client.send("GET", "/api/z?q").text == "condition")
        #expect(try await client.send("GET", "/api/files/a").text == "GET /api/files /a")
    }

    @Test func fallbacksAnswerOtherPaths() async throws {
        let client = Self.client { routes in
            routes.fallback(.get) { _ in .text("rest") }
            routes.post("/a") { _ in .text("posted") }
        }
        #expect(try await client.send("GET", "/b").text == "rest")
        #expect(try await client.send("HEAD", "/b").text == "rest")
        #expect(try await client.send("GET", "/a").text == "rest")
        #expect(try await client.send("POST", "/b").status == 404)
    }

    @Test func invalidPathIsRefused() async throws {
        for path in ["/../a", "/a%2Fb", "/%zz", "/%00"] {
            let error = await #expect(throws: HTTPError.self) { try await Self.client.send("GET", path) }
            #expect(error?.status == .badRequest)
        }
    }
}

/// Responds with the method, the prefix and the path below it.
struct Echo: Handler {
    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        let parts = [Array(request.method.rawValue.utf8), request.mountPath, request.target.rawPath]
        return .ready(.bytes(Array(parts.joined(separator: [32]))))
    }
}
