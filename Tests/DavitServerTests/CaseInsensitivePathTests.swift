import DavitHTTP
import DavitServer
import DavitTesting
import Testing

/// Paths that are compared without regard to case.
struct CaseInsensitivePathTests {
    static let client = TestClient(
        Router { routes in
            routes.ignoresCase = true
            routes.get("/Notes") { _ in .text("notes") }
            routes.get("/Straße/ÄÖ") { _ in .text("umlauts") }
            routes.get("/Users/{Id}/Mail") { request in .text("mail of \(request.parameters["Id"] ?? "")") }
            routes.get(matching: { /\/Exact/ }) { _, _ in .text("pattern") }
            routes.group("/Group") { group in
                group.get(matching: { /\/[A-Z]+/ }) { _, match in .text("upper \(match)") }
                group.get("/Item") { _ in .text("item") }
                group.fallback { _ in .text("fallback") }
            }
            routes.mount("/Files", Router { $0.get("/Inner") { _ in .text("inner") } })
        })

    @Test(arguments: [
        ("/Notes", "notes"), ("/notes", "notes"), ("/NOTES", "notes"), ("/notes/", "404"),
        ("/stra%C3%9Fe/%C3%A4%C3%B6", "umlauts"), ("/STRA%C3%9FE/%C3%84%C3%B6", "umlauts"),
        // The value keeps its case.
        ("/users/Anna/MAIL", "mail of Anna"), ("/USERS/anna/mail", "mail of anna"),
        // Patterns decide themselves.
        ("/Exact", "pattern"), ("/exact", "404"),
        ("/group/ITEM", "item"), ("/GROUP/XY", "upper /XY"), ("/group/xy", "fallback"),
        // The mounted router has its own setting.
        ("/files/Inner", "inner"), ("/FILES/inner", "404"),
        // Not UTF-8: only ASCII letters are folded.
        ("/notes%FF", "404"),
    ]) func requestIsRouted(path: String, text: String) async throws {
        let response = try await Self.client.send("GET", path)
        #expect((response.status == 200 ? response.text : "\(response.status)") == text)
    }

    @Test func methodsOfAPathAreFoundInAnyCase() async throws {
        let response = try await Self.client.send("DELETE", "/NOTES")
        #expect(response.status == 405 && response["Allow"] == "GET, HEAD, OPTIONS")
        #expect(try await Self.client.send("OPTIONS", "/nOTES")["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test func routesAreRemovedInAnyCase() async throws {
        let router = MutableRouter { routes in
            routes.ignoresCase = true
            routes.get("/Notes") { _ in .text("notes") }
            routes.get("/Users/{id}") { _ in .text("user") }
        }
        try router.update { $0.remove(.get, "/users/{ID}") }
        #expect(try await TestClient(router).send("GET", "/users/1").status == 404)
        #expect(try await TestClient(router).send("GET", "/Notes").status == 200)
        try router.update { $0.remove(.get, "/notes") }
        #expect(try await TestClient(router).send("GET", "/notes").status == 404)
    }
}
