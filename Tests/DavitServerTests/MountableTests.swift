import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Values from which a server creates handlers.
struct MountableTests {
    /// A value that creates an ``Echo``.
    private struct Value: Mountable {
        var lifecycleObserver: Life?
        var error: Problem?

        func handler(in environment: ServerEnvironment) throws -> any Handler {
            if let error { throw error }
            if let lifecycleObserver { environment.addLifecycleObserver(lifecycleObserver) }
            return Echo()
        }
    }

    private enum Problem: Error { case broken }

    /// Records the calls it receives.
    private final class Life: LifecycleObserver {
        let events = Mutex<[String]>([])
        private let name: String

        init(_ name: String) { self.name = name }

        private func note(_ event: String) { events.withLock { $0.append("\(name) \(event)") } }

        func serverDidStart() { note("started") }
        func serverWillStop() { note("ends") }
        func serverDidStop() { note("ended") }
        func performMaintenance() -> Bool {
            note("upkeep")
            return name == "busy"
        }
    }

    struct Work: BlockingWorkRunner {
        func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
    }

    static func environment(
        log: @escaping ServerEnvironment.LogLine = { _, _, _ in }
    ) -> ServerEnvironment {
        ServerEnvironment(work: Work(), background: { _ in false }, log: log)
    }

    @Test func valuesBecomeHandlersInMountedRouters() async throws {
        let router = Router { routes in
            routes.mount("/a", Value())
            routes.mount("/b", Router { $0.mount("/c", Value().applying(CORS(origins: ["http://x"]))) })
            routes.mount("/d", Router { $0.mount("/e", Value()) }.applying(Compression()))
        }
        // No server has created handlers for these values.
        #expect(try await TestClient(router).send("GET", "/a/x").status == 500)
        #expect(try await TestClient(router).send("GET", "/b/c/x").status == 500)

        let handler = try router.handler(in: Self.environment())
        func answer(_ handler: some Handler, _ target: String) async throws -> String {
            try await TestClient(handler).send("GET", target).text
        }
        #expect(try await answer(handler, "/a/x") == "GET /a /x")
        #expect(try await answer(handler, "/b/c/x") == "GET /b/c /x")
        #expect(try await answer(handler, "/d/e/x") == "GET /d/e /x")
    }

    @Test func errorOfAValueIsThrownByTheRouter() {
        let router = Router { $0.mount("/a", Router { $0.mount("/b", Value(error: .broken)) }) }
        #expect(throws: Problem.broken) { try router.handler(in: Self.environment()) }
    }

    /// Records the paths that other mounts handle.
    private final class Neighbor: Mountable {
        let hidden = Mutex<[String]>([])

        func handler(in environment: ServerEnvironment) throws -> any Handler {
            hidden.withLock { $0 = environment.hiddenPaths.map(\.description) }
            return Echo()
        }
    }

    // A mount is hidden only by mounts that are added later.
    @Test func mountsKnowThePathsThatHideThem() throws {
        let (early, late, inner) = (Neighbor(), Neighbor(), Neighbor())
        let router = Router { routes in
            routes.mount("/a/earlier", Echo())
            routes.mount("/a", early)
            routes.mount("/a/x", Echo())
            routes.mount("/a/y", Router { $0.mount("/z", inner) }.applying(CORS(origins: [])))
            routes.mount("/a/y/z/w", Echo())
            routes.mount("/ab", Echo())
            routes.mount("/", late)
        }
        _ = try router.handler(in: Self.environment())
        #expect(early.hidden.withLock { $0 } == ["/y/z/w", "/y", "/x"])
        #expect(inner.hidden.withLock { $0 } == ["/w"])
        #expect(late.hidden.withLock { $0 } == [])
    }

    // The last mount added is tried first. Hidden routes are a configuration error that must be logged.
    @Test func hiddenMountIsLogged() throws {
        let lines = Mutex<[String]>([])
        let environment = Self.environment { _, message, details in
            lines.withLock { $0.append("\(message) \(details.map(\.value))") }
        }
        let router = Router { routes in
            routes.mount("/", Echo())
            routes.mount("/b", Echo())
            routes.get("/a/x") { _ in .text("never") }
            routes.get("/ab") { _ in .text("a") }
            routes.mount("/a", Echo())
            routes.get("/a/y") { _ in .text("a") }
        }
        _ = try router.handler(in: environment)
        #expect(lines.withLock { $0 } == [#"mount hides an earlier route ["/a", "/a/x"]"#])
    }

    @Test func observersReceiveTheLifecycleOfTheServer() throws {
        let (first, busy) = (Life("first"), Life("busy"))
        let environment = Self.environment()
        let router = Router { routes in
            routes.mount("/a", Value(lifecycleObserver: first))
            routes.mount("/b", Value(lifecycleObserver: busy))
        }
        _ = try router.handler(in: environment)
        environment.forEachLifecycleObserver { $0.serverDidStart() }
        #expect(environment.performMaintenance())
        environment.forEachLifecycleObserver { $0.serverWillStop() }
        environment.forEachLifecycleObserver { $0.serverDidStop() }
        #expect(
            first.events.withLock { $0 } == ["first started", "first upkeep", "first ends", "first ended"])
        #expect(busy.events.withLock { $0 } == ["busy started", "busy upkeep", "busy ends", "busy ended"])
    }

    @Test func handlerErrorsAreLogged() async throws {
        let lines = Mutex<[String]>([])
        let environment = Self.environment { severity, message, details in
            lines.withLock { $0.append("\(severity) \(message) \(details.map { "\($0)=\($1)" })") }
        }
        let router = Router { routes in
            routes.get("/a") { _ in throw Problem.broken }
            routes.mount("/b", Router { $0.get("/c") { _ in throw Problem.broken } })
        }
        guard let made = try router.handler(in: environment) as? Router else {
            Issue.record("not a router")
            return
        }
        for path in ["/a", "/b/c"] {
            let response = try await TestClient(made).send("GET", path)
            #expect(response.status == 500)
            let id = try #require(response["X-Request-Id"])
            let line = lines.withLock { $0.last ?? "" }
            #expect(line.hasPrefix("error handler failed"))
            for part in ["request=\(id)", "method=GET", "path=\(path)", "error=broken"] {
                #expect(line.contains(part), "\(line)")
            }
        }
    }
}
