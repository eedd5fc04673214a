import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// Verifies that mounted handlers may respond without a task, as they do without a router.
struct MountedAtOnceTests {
    /// Responds only without waiting, with the prefix and the path; otherwise with 404.
    private struct Prompt: Handler {
        func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            HTTPResponse(.notFound)
        }

        func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
            request.method == .get ? .bytes(request.mountPath + [32] + request.target.rawPath) : nil
        }
    }

    private static let asked = Mutex(0)

    private static let router = Router { routes in
        routes.on(where: { _ in
            asked.withLock { $0 += 1 }
            return false
        }) { _ in .text("never") }
        routes.mount("/files", Prompt())
        routes.mount("/outer", Router { $0.mount("/inner", Prompt().applying(CORS(origins: []))) })
        routes.mount("/behind", Prompt().applying(Compression()))
        routes.get("/files/own") { _ in .text("own") }
        routes.on(.put, matching: { /\/files\/.*/ }) { _, _ in .text("pattern") }
    }

    private static let rows: [(method: String, target: String, text: String?)] = [
        ("GET", "/files/a", "/files /a"), ("GET", "/files", "/files "),
        ("GET", "/outer/inner/a", "/outer/inner /a"),
        ("GET", "/behind/a", "/behind /a"), ("GET", "//files/%61", "//files /%61"),
        // Not routed to the handler, or not answered without waiting.
        ("GET", "/files/own", nil), ("GET", "/filesystem", nil), ("GET", "/outer", nil),
        ("PUT", "/files/a", nil), ("DELETE", "/files/a", nil), ("OPTIONS", "/files/a", nil),
        ("OPTIONS", "*", nil),
        ("GET", "/files/../a", nil),
        // Would require running application code twice.
        ("GET", "/else", nil),
    ]

    @Test(arguments: rows)
    func mountsRespondInline(method: String, target: String, text: String?) throws {
        let request = try makeRequest("\(method) \(target) HTTP/1.1", "Host: a")
        let before = request.fullRawPath
        let response = Self.router.respondAtOnce(to: request)
        if let text {
            guard case .bytes(let bytes) = response?.body else {
                Issue.record("no answer at once")
                return
            }
            #expect(String(decoding: bytes, as: UTF8.self) == text)
        } else {
            #expect(response == nil)
        }
        // The request must be unchanged, so that it can be handled again.
        #expect(request.mountPath.isEmpty)
        #expect(request.target.rawPath == before)
        #expect(Self.asked.withLock { $0 } == 0)
    }
}
