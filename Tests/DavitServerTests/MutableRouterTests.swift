import DavitHTTP
import DavitServer
import DavitTesting
import Testing

struct MutableRouterTests {
    private let router = MutableRouter { routes in
        routes.get("/a") { _ in .text("first") }
        routes.get("/a/{id}") { request in .text("item \(request.parameters["id"] ?? "")") }
        routes.any("/any") { _ in .text("any") }
        routes.fallback(.get) { _ in .text("fallback") }
    }

    private func get(_ path: String) async throws -> String {
        let response = try await TestClient(router).send("GET", path)
        return response.status == 200 ? response.text : "\(response.status)"
    }

    /// Returns the number of removed routes.
    private func removing(_ remove: (inout Routes) -> Int) throws -> Int {
        var count = 0
        try router.update { count = remove(&$0) }
        return count
    }

    @Test func addedRoutesTakePrecedence() async throws {
        try router.update { $0.get("/a") { _ in .text("second") } }
        #expect(try await get("/a") == "second")
        // Removing a route removes all routes with its method and path.
        #expect(try removing { $0.remove(.get, "/a") } == 2)
        #expect(try await get("/a") == "fallback")
    }

    @Test func routesAreRemovedByMethodAndPath() async throws {
        #expect(try removing { $0.remove(.post, "/a") } == 0)
        #expect(try removing { $0.remove(.get, "/a/") } == 0)
        #expect(try removing { $0.remove(.get, "/any") } == 0)
        #expect(try removing { $0.remove(.get, "/a/{other}") } == 0)
        #expect(try await get("/a/1") == "item 1")
        #expect(try removing { $0.remove(.get, "/a/{id}") } == 1)
        #expect(try removing { $0.removeAny("/any") } == 1)
        #expect(try await get("/a/1") == "fallback")
        #expect(try await get("/any") == "fallback")
        #expect(try await get("/a") == "first")
        #expect(try await TestClient(router).send("PUT", "/any").status == 501)
    }

    @Test func routesOfGroupsAreRemovedInGroups() async throws {
        try router.update { $0.group("/g") { $0.get("/x") { _ in .text("grouped") } } }
        #expect(try await get("/g/x") == "grouped")
        try router.update { $0.group("/g") { $0.remove(.get, "/x") } }
        #expect(try await get("/g/x") == "fallback")
    }

    @Test func removeAllLeavesNothing() async throws {
        try router.update { routes in
            routes.mount("/mounted", Router { $0.get("/x") { _ in .text("mounted") } })
            routes.removeAll()
            routes.get("/new") { _ in .text("new") }
        }
        for path in ["/a", "/a/1", "/any", "/mounted/x", "/elsewhere"] {
            #expect(try await get(path) == "404", "\(path)")
        }
        #expect(try await get("/new") == "new")
    }

    @Test func mountsAreAddedAndRemoved() async throws {
        try router.update { $0.mount("/m", Router { $0.get("/x") { _ in .text("mounted") } }) }
        #expect(try await get("/m/x") == "mounted")
        #expect(try removing { $0.removeAny("/m") } == 1)
        #expect(try await get("/m/x") == "fallback")
    }

    /// A value that counts how often a handler is created from it.
    private struct Counted: Mountable {
        final class Count: Sendable {
            let value = Exclusive(0)
        }

        let count = Count()

        func handler(in environment: ServerEnvironment) throws -> any Handler {
            count.value.withValue { $0 += 1 }
            return Router { $0.get("/x") { _ in .text("counted") } }
        }
    }

    @Test func updatesKeepTheHandlersOfMounts() async throws {
        let counted = Counted()
        let router = MutableRouter { $0.mount("/m", counted) }
        let attached = try router.handler(in: MountableTests.environment())
        for number in 0..<3 { try router.update { $0.get("/\(number)") { _ in .text("new") } } }
        #expect(counted.count.value.withValue { $0 } == 1)
        func send(_ path: String) async throws -> String {
            func client(_ handler: some Handler) async throws -> String {
                try await TestClient(handler).send("GET", path).text
            }
            return try await client(attached)
        }
        #expect(try await send("/m/x") == "counted")
        #expect(try await send("/2") == "new")
    }

    @Test func updateThatFailsChangesNothing() async throws {
        struct Unusable: Error {}
        struct Refusing: Handler {
            func handler(in environment: ServerEnvironment) throws -> any Handler { throw Unusable() }
            func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { .ready(.text("detached")) }
        }
        _ = try router.handler(in: MountableTests.environment())
        #expect(throws: Unusable.self) {
            try router.update { routes in
                routes.removeAll()
                routes.mount("/m", Refusing())
            }
        }
        #expect(try await get("/a") == "first")
    }
}
