import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct FallbackTests {
    static let client = RouterTests.client { routes in
        routes.get("/") { _ in .text("home") }
        routes.any("/echo") { request in .text("\(request.method) \(request.path)") }
        routes.any("/echo/{id}") { request in .text("\(request.method) \(request.parameters["id"] ?? "-")") }
        routes.head("/") { _ in HTTPResponse(status: .accepted) }
        routes.options("/own") { _ in .text("own") }
        routes.patch("/p", body: .text()) { _, text in .text("patched \(text)") }
        routes.fallback { request in .text("any \(request.method) \(request.path)", status: .notFound) }
        routes.fallback(.get) { request in .text("get \(request.path)", status: .gone) }
        routes.group("/api") { api in
            api.get("/a") { _ in .text("a") }
            api.fallback { request in .text("api \(request.path)", status: .badRequest) }
        }
    }

    static let answers: [(method: String, target: String, status: UInt16, text: String)] = [
        ("GET", "/", 200, "home"), ("HEAD", "/", 202, ""), ("PATCH", "/p", 200, "patched "),
        // A route for every method.
        ("POST", "/echo", 200, "POST /echo"), ("OPTIONS", "/echo", 200, "OPTIONS /echo"),
        ("PURGE", "/echo", 200, "PURGE /echo"), ("PURGE", "/echo/7", 200, "PURGE 7"),
        ("OPTIONS", "/own", 200, "own"),
        // The fallback of the method precedes the one for every method, which replaces 405 and 501.
        ("GET", "/x/", 410, "get /x/"), ("HEAD", "/x", 410, "get /x"), ("GET", "/p", 410, "get /p"),
        ("POST", "/x", 404, "any POST /x"), ("POST", "/", 404, "any POST /"),
        ("PURGE", "/x", 404, "any PURGE /x"), ("OPTIONS", "/x", 404, "any OPTIONS /x"),
        ("OPTIONS", "/p", 204, ""),
        // The fallback of the innermost group is used.
        ("GET", "/api/a", 200, "a"), ("GET", "/api/b", 400, "api /api/b"), ("GET", "/api", 400, "api /api"),
        ("POST", "/api/a", 400, "api /api/a"), ("GET", "/apis", 410, "get /apis"),
    ]

    @Test(arguments: answers)
    func respondsByMethodAndPath(method: String, target: String, status: UInt16, text: String) async throws {
        let response = try await Self.client.send(method, target)
        #expect(response.status == status)
        #expect(response.text == text)
    }

    // The target of CONNECT is not a path, and OPTIONS for * is answered from the routes.
    @Test func fallbackIsOnlyForPaths() async throws {
        #expect(try await Self.client.send("CONNECT", "localhost:80").status == 405)
        #expect(try await Self.client.send("OPTIONS", "*").status == 204)
    }

    @Test func lastFallbackReplacesEarlierOnes() async throws {
        let client = RouterTests.client { routes in
            routes.fallback { _ in .text("first") }
            routes.fallback { _ in .text("second") }
        }
        #expect(try await client.send("POST", "/a").text == "second")
    }
}
