import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct PathParameterTests {
    static let client = RouterTests.client { routes in
        routes.get("/users/{id}") { request in .text("user \(request.parameters["id"] ?? "-")") }
        routes.delete("/users/{id}") { _ in HTTPResponse(status: .noContent) }
        routes.get("/users/me") { request in .text("me, \(request.parameters["id"] ?? "-")") }
        routes.get("/users/{id}/notes/{note-id}/") { request in
            .text("\(request.parameters["id"] ?? "-") \(request.parameters["note-id"] ?? "-")")
        }
        routes.put("/{kind}/7", body: .text()) { request, text in
            .text("\(request.parameters["kind"] ?? "-") \(text)")
        }
        routes.group("/shops/{shop}") { shop in
            shop.get("/") { request in .text("shop \(request.parameters["shop"] ?? "-")") }
            shop.get("/items/{item}") { request in
                .text("\(request.parameters["shop"] ?? "-") \(request.parameters["item"] ?? "-")")
            }
        }
    }

    static let answers: [(method: String, target: String, status: UInt16, text: String?)] = [
        ("GET", "/users/7", 200, "user 7"), ("GET", "/users/a%20b%25", 200, "user a b%"),
        ("GET", "/users/%C3%B6", 200, "user ö"), ("GET", "/users//7?id=8", 200, "user 7"),
        ("HEAD", "/users/7", 200, "user 7"), ("DELETE", "/users/7", 204, ""),
        ("GET", "/users/me/notes/2/", 200, "me 2"), ("GET", "/shops/a/", 200, "shop a"),
        ("GET", "/shops/a/items/b", 200, "a b"), ("PUT", "/users/7", 200, "users "),
        // The route added last is tried first.
        ("GET", "/users/me", 200, "me, -"),
        // A parameter is exactly one segment, and the trailing slash counts.
        ("GET", "/users", 404, nil), ("GET", "/users/", 404, nil), ("GET", "/users/7/", 404, nil),
        ("GET", "/users/7/notes", 404, nil), ("GET", "/users/7/notes/2", 404, nil),
        ("GET", "/Users/8", 404, nil), ("GET", "/", 404, nil), ("GET", "/shops/a", 404, nil),
        // As with patterns, the value must be UTF-8.
        ("GET", "/users/%FF", 404, nil),
        // Methods are handled as in other routes.
        ("PUT", "/users/8", 405, nil), ("POST", "/users/7", 501, nil), ("DELETE", "/users/me", 204, ""),
    ]

    @Test(arguments: answers)
    func respondsByPattern(method: String, target: String, status: UInt16, text: String?) async throws {
        let response = try await Self.client.send(method, target)
        #expect(response.status == status)
        if let text { #expect(response.text == text) }
    }

    static let allowed: [(target: String, methods: String)] = [
        ("/users/7", "GET, HEAD, PUT, DELETE, OPTIONS"), ("/users/me", "GET, HEAD, DELETE, OPTIONS"),
        ("/users/7/notes/2/", "GET, HEAD, OPTIONS"), ("*", "GET, HEAD, PUT, DELETE, OPTIONS"),
    ]

    @Test(arguments: allowed) func optionsListsMethods(target: String, methods: String) async throws {
        let response = try await Self.client.send("OPTIONS", target)
        #expect(response.status == 204)
        #expect(response["Allow"] == methods)
    }

    @Test func invalidPathIsRefused() async throws {
        for target in ["/users/a%2Fb", "/users/..", "/users/%zz", "/users/%00"] {
            let error = await #expect(throws: HTTPError.self) { try await Self.client.send("GET", target) }
            #expect(error?.status == .badRequest)
        }
    }

    @Test func laterRouteWithParametersTakesPrecedence() async throws {
        let client = RouterTests.client { routes in
            routes.get("/a/b") { _ in .text("exact") }
            routes.get(matching: { /\/a\/c+/ }) { _, _ in .text("pattern") }
            routes.get("/a/{x}") { request in .text("parameter \(request.parameters["x"] ?? "-")") }
        }
        #expect(try await client.send("GET", "/a/b").text == "parameter b")
        #expect(try await client.send("GET", "/a/c").text == "parameter c")
    }

    @Test func parametersEndWithTheRequest() throws {
        let request = try makeRequest("GET / HTTP/1.1", "Host: a")
        #expect(request.parameters.isEmpty)
        request.parameters.append("id", "7")
        #expect(request.parameters["id"] == "7" && request.parameters["x"] == nil)
        request.removeAll()
        #expect(request.parameters.isEmpty && request.parameters["id"] == nil)
    }

    @Test func malformedParameterTraps() async {
        await #expect(processExitsWith: .failure) { _ = Router { $0.get("/users/:id") { _ in .text("") } } }
        await #expect(processExitsWith: .failure) { _ = Router { $0.get("/users/{}") { _ in .text("") } } }
        await #expect(processExitsWith: .failure) { _ = Router { $0.get("/{id}.csv") { _ in .text("") } } }
        await #expect(processExitsWith: .failure) { _ = Router { $0.get("/{a*}") { _ in .text("") } } }
        await #expect(processExitsWith: .failure) { _ = Router { $0.get("/{a}/{a}") { _ in .text("") } } }
        await #expect(processExitsWith: .failure) { _ = Router { $0.mount("/{a}", Echo()) } }
        await #expect(processExitsWith: .failure) {
            _ = Router { $0.group("/{a}") { group in group.on(where: { _ in true }) { _ in .text("") } } }
        }
    }
}
