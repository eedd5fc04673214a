import DavitHTTP
import DavitServer
import DavitTesting
import Synchronization
import Testing

/// What is mounted in a router is asked for an answer without a task, as it is without a router.
struct MountedAtOnceTests {
    /// Answers at once only, with the prefix and the path; 404 for the other way.
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
        routes.mount("/outer", Router { $0.mount("/inner", Prompt().behind(CORS(origins: []))) })
        routes.mount("/behind", Prompt().behind(Compression()))
        routes.get("/files/own") { _ in .text("own") }
        routes.on(.put, matching: { /\/files\/.*/ }) { _, _ in .text("pattern") }
    }

    private static let rows: [(method: String, target: String, text: String?)] = [
        ("GET", "/files/a", "/files /a"), ("GET", "/files", "/files "),
        ("GET", "/outer/inner/a", "/outer/inner /a"),
        ("GET", "/behind/a", "/behind /a"), ("GET", "//files/%61", "//files /%61"),
        // Not the handler's, or not at once.
        ("GET", "/files/own", nil), ("GET", "/filesystem", nil), ("GET", "/outer", nil),
        ("PUT", "/files/a", nil), ("DELETE", "/files/a", nil), ("OPTIONS", "/files/a", nil),
        ("OPTIONS", "*", nil),
        ("GET", "/files/../a", nil),
        // Code of the application would have to be asked, and then again.
        ("GET", "/else", nil),
    ]

    @Test(arguments: rows)
    func mountsAnswer(method: String, target: String, text: String?) throws {
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
        // Nothing has been done: another way goes on from here.
        #expect(request.mountPath.isEmpty)
        #expect(request.target.rawPath == before)
        #expect(Self.asked.withLock { $0 } == 0)
    }
}
