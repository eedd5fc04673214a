import Davit
import DavitTesting
import Testing

/// Handlers of GCDWebServer, against a server on a real socket.
struct HandlerRowTests {
    private struct Broken: Error {}

    @Test("W025 a condition on the head selects the handler, last added first")
    func w025() throws {
        try Served.run { routes in
            routes.on(where: { $0.method == .get }) { _ in .text("first") }
            routes.on(where: { $0.fields["X-Key"] == "open" }) { _ in .text("second") }
        } asking: { client throws in
            #expect(try client.send("GET /a").content == "first")
            #expect(try client.send("GET /a", ["X-Key: open"]).content == "second")
            #expect(try client.send("PUT /a", ["X-Key: open"]).content == "second")
        }
    }

    @Test("W027 a default handler for each method") func w027() throws {
        try Served.run { routes in
            routes.fallback(.get) { _ in .text("any GET") }
            routes.get("/here") { _ in .text("here") }
        } asking: { client throws in
            #expect(try client.send("GET /here").content == "here")
            #expect(try client.send("GET /there").content == "any GET")
            #expect(try client.send("DELETE /there").status != 200)
        }
    }

    @Test("W026 handlers are removed and added while the server runs") func w026() throws {
        let router = MutableRouter { $0.get("/old") { _ in .text("old") } }
        try Served.run(try WebServer(router, configuration: Served.configuration())) { client throws in
            #expect(try client.send("GET /old").content == "old")
            try router.update { routes in
                routes.removeAll()
                routes.get("/new") { _ in .text("new") }
            }
            #expect(try client.send("GET /old").status == 404)
            #expect(try client.send("GET /new").content == "new")
        }
    }

    @Test("W028 a handler for a method and an exact, case-sensitive path") func w028() throws {
        try Served.run { routes in
            routes.put("/Notes") { _ in .text("put") }
        } asking: { client throws in
            #expect(try client.send("PUT /Notes").content == "put")
            #expect(try client.send("PUT /notes").status == 404)
            #expect(try client.send("GET /Notes").status == 405)
        }
    }

    @Test("W029 a handler for a pattern with captures; groups that did not match are nil")
    func w029() throws {
        try Served.run { routes in
            routes.get(matching: { /\/(?i:users)\/([a-z]+)(?:\.(json))?/ }) { _, match in
                .text("\(match.1) \(match.2.map(String.init) ?? "none")")
            }
        } asking: { client throws in
            #expect(try client.send("GET /users/anna").content == "anna none")
            #expect(try client.send("GET /USERS/anna.json").content == "anna json")
            #expect(try client.send("GET /users/anna/more").status == 404)
        }
    }

    @Test("W030 content in memory, with type and max-age") func w030() throws {
        try Served.run { routes in
            routes.get("/old") { _ in .bytes([1, 2], type: "image/x-test").cacheAge(3600) }
            routes.get("/new") { _ in .text("x").cacheAge(0) }
        } asking: { client throws in
            let old = try client.send("GET /old")
            #expect(old["Content-Type"] == "image/x-test" && old["Cache-Control"] == "max-age=3600")
            #expect(try client.send("GET /new")["Cache-Control"] == "no-cache")
        }
    }

    @Test("W033 the route selects how content is read before it is read") func w033() throws {
        try Served.run { routes in
            routes.post("/text", body: .text(limitBytes: 4)) { _, text in .text(text) }
            routes.post("/form", body: .form()) { _, form in .text(form["a"] ?? "") }
            routes.post("/none") { _ in .text("unread") }
        } asking: { client throws in
            #expect(try client.send("POST /text", content: "abcd").content == "abcd")
            #expect(try client.send("POST /text", content: "abcde").status == 413)
            #expect(try client.send("POST /form", ["Content-Type: text/plain"], content: "a=1").status == 415)
            #expect(try client.send("POST /none", content: "abcde").content == "unread")
        }
    }

    @Test("W034 unmatched, malformed and failing requests") func w034() throws {
        try Served.run { routes in
            routes.get("/fails") { _ in throw Broken() }
            routes.post("/elsewhere") { _ in .text("x") }
            routes.get("/says") { _ in throw HTTPError(.conflict, "Not now.") }
        } asking: { client throws in
            #expect(try client.send("GET /unknown").status == 404)
            #expect(try client.send("POST /fails").status == 405)
            #expect(try client.send("BREW /fails").status == 501)
            #expect(try client.send("GET  /fails").status == 400)
            let failed = try client.send("GET /fails")
            #expect(failed.status == 500 && !failed.text.contains("Broken"))
            #expect(failed["X-Request-Id"] != nil)
            let said = try client.send("GET /says")
            #expect(said.status == 409 && said.content.contains("Not now."))
        }
    }
}
