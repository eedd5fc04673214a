import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Verifies that mounted handlers may respond without a task, as they do without a router.
struct MountedReplyTests {
    /// Responds to GET immediately, with the prefix and the path, and to other methods later.
    private struct Prompt: Handler {
        func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
            if request.method == .get {
                return .ready(.bytes(request.mountPath + [32] + request.target.rawPath))
            }
            return .pending { () async throws(HTTPError) in .text("later") }
        }
    }

    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    /// - Parameter asked: counts how often the condition of a route is evaluated.
    private static func router(_ asked: Counter) -> Router {
        Router { routes in
            routes.on(where: { _ in
                asked.count.withLock { $0 += 1 }
                return false
            }) { _ in .text("never") }
            routes.mount("/files", Prompt())
            routes.mount("/outer", Router { $0.mount("/inner", Prompt().applying(CORS(origins: []))) })
            routes.mount("/behind", Prompt().applying(Compression()))
            routes.get("/files/own") { _ in .text("own") }
            routes.on(.put, matching: { /\/files\/.*/ }) { _, _ in .text("pattern") }
        }
    }

    private static let rows:
        [(method: String, target: String, text: String, isReady: Bool, isConditionAsked: Bool)] = [
            ("GET", "/files/a", "/files /a", true, false), ("GET", "/files", "/files ", true, false),
            ("GET", "/outer/inner/a", "/outer/inner /a", true, false),
            ("GET", "/behind/a", "/behind /a", true, false),
            ("GET", "//files/%61", "//files /%61", true, false),
            // These requests are not routed to the handler.
            ("GET", "/files/own", "own", false, false), ("PUT", "/files/a", "pattern", false, false),
            ("GET", "/filesystem", "Not found.\n", true, true),
            ("GET", "/outer", "Not found.\n", true, false),
            ("GET", "/else", "Not found.\n", true, true),
            // These requests need a task.
            ("DELETE", "/files/a", "later", false, false), ("OPTIONS", "/files/a", "later", false, false),
        ]

    @Test(arguments: rows)
    func mountedHandlersRespondAsWithoutARouter(
        method: String, target: String, text: String, isReady: Bool, isConditionAsked: Bool
    ) async throws {
        let request = try makeRequest("\(method) \(target) HTTP/1.1", "Host: a")
        let before = request.fullRawPath
        let asked = Counter()
        let reply = try Self.router(asked).respond(to: request)
        #expect((reply.readyResponse != nil) == isReady)
        guard case .bytes(let bytes) = try await reply.response().body else {
            Issue.record("the body of the response is not a byte array")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        // The request must be unchanged for the access log, and routes are evaluated once.
        #expect(request.mountPath.isEmpty)
        #expect(request.target.rawPath == before)
        #expect(asked.count.withLock { $0 } == (isConditionAsked ? 1 : 0))
    }

    @Test func pathsAboveTheRootAreRefused() throws {
        let request = try makeRequest("GET /files/../a HTTP/1.1", "Host: a")
        let error = #expect(throws: HTTPError.self) { _ = try Self.router(Counter()).respond(to: request) }
        #expect(error?.status == .badRequest)
    }
}
